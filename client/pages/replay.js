// Owns: looking at a recorded game: fetching it, stepping through it, playing it by itself, links to its moves
// (`/r/…#41` opens after the 41st) and the file of it.
// Must not know: any game's rules or looks.

import { decode } from '@msgpack/msgpack';
import { games } from '../games.js';
import { h, nameTag } from '../ui/dom.js';
import { closeDialog, dialogOpen, showDialog } from '../ui/dialog.js';
import { Frame } from '../ui/frame.js';
import { icon } from '../ui/icons.js';
import { copy } from '../ui/shell.js';
import { patched } from '../wire.js';
import { message, missing, refusal } from './message.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../games.js').Game} Game */
/** @typedef {import('../wire.js').View} View */
/** @typedef {{ game: Game, names: string[], views: View[], times: number[], bots: boolean[], seat: number | null }} Recording one view and one time (ms) a position */
/** @typedef {{ recording: Recording, at: number, playing: boolean, speed: string, table: unknown }} Kept when the page is drawn anew */

/** A recording is larger than what is asked for elsewhere. */
const PATIENCE_MS = 60_000;
/** How long a position stands, by the value of the choice. */
const SPEEDS = /** @type {Record<string, number>} */ ({ slow: 2200, normal: 1200, fast: 500 });

/**
 * @param {App} app
 * @param {string} address of the recording
 * @param {string} title
 * @param {string | null} file the address of the file of it, if there is one
 * @param {unknown} handed what `kept` said
 * @returns {import('../router.js').Shown}
 */
function viewer(app, address, title, file, handed) {
  const { t } = app.i18n;
  app.wire.leave();
  const kept = /** @type {Kept | undefined} */ (handed);
  if (kept) {
    const again = new Viewer(app, kept.recording, title, file, kept);
    return { title, kept: () => again.kept(), destroy: () => again.destroy() };
  }
  app.put(h('main', { class: 'waiting', id: 'main', tabindex: -1 }, h('p', null, t('replay.loading'))));
  const asked = new AbortController();
  /** @type {Viewer | null} */
  let shown = null;
  fetchRecording(address, asked.signal).then(
    (recording) => {
      if (typeof recording === 'string') refusal(app, recording);
      else shown = new Viewer(app, recording, title, file);
    },
    () => {
      if (asked.signal.aborted) return;
      const again = () => app.go(location.pathname + location.search);
      message(app, t('replay.failed'), h('button', { type: 'button', class: 'button main', 'data-role': 'retry', onclick: again }, t('retry')));
    },
  );
  return {
    title,
    kept: () => shown?.kept(),
    destroy() {
      asked.abort();
      shown?.destroy();
    },
  };
}

/** @param {App} app @param {string} session @param {unknown} [kept] @returns {import('../router.js').Shown} */
export function replay(app, session, kept) {
  const its = encodeURIComponent(session);
  return viewer(app, `/api/replays/${its}`, app.i18n.t('replay.title'), `/api/sessions/${its}/log`, kept);
}

/** @param {App} app @param {string} name of the game @param {unknown} [kept] @returns {import('../router.js').Shown} */
export function example(app, name, kept) {
  const game = games.get(name);
  if (!game?.example) return missing(app);
  return viewer(app, `/api/replays/example/${name}`, app.i18n.t('example.title', { game: app.i18n.t(game.title) }), null, kept);
}

/**
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<Recording | string>} or the code of why there is none
 */
async function fetchRecording(address, signal) {
  const response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });
  if (!response.ok) {
    const answer = await response.json().catch(() => null); // of a proxy, maybe
    return answer?.code ?? 'unavailable';
  }
  const [name, names, first, steps, bots = [], seat = null] = /** @type {any[]} */ (decode(await response.arrayBuffer()));
  const game = games.get(name);
  if (!game) return 'unknown_game';
  /** @type {View[]} */
  const views = [first];
  const times = [0];
  for (const [, atMs, ...changes] of steps) {
    const view = patched(views[views.length - 1], changes);
    if (!view) throw new Error('a step that does not fit');
    views.push(view);
    times.push(atMs);
  }
  return { game, names, views, times, bots, seat };
}

class Viewer {
  #app;
  #recording;
  /** @type {import('../games.js').People} */
  #people;
  #at = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} set while it plays by itself */
  #timer;
  #frame;
  #table;
  #caption = h('p', { class: 'caption', 'aria-live': 'polite', 'data-role': 'caption' });
  #count = h('span', { class: 'step-count', 'data-role': 'step' });
  #scrubber;
  #playButton;
  #speed;
  #file;
  #onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);

  /** @param {App} app @param {Recording} recording @param {string} title @param {string | null} file @param {Kept} [kept] */
  constructor(app, recording, title, file, kept) {
    const { i18n } = app;
    const { t } = i18n;
    const { game, names, views, bots, seat } = recording;
    this.#app = app;
    this.#recording = recording;
    this.#file = file;
    this.#people = { names, chairs: names.map((_, its) => (bots[its] ? 'bot' : 'here')), own: seat };
    this.#frame = new Frame({ title, homeLabel: t('nav.home'), toolsLabel: t('replay.controls') });
    this.#frame.addInfo('time', t('info.time'));
    app.put(this.#frame.element);
    this.#table = game.createTable({
      frame: this.#frame,
      i18n,
      settings: app.settings,
      // The caption says it.
      notices: /** @type {any} */ ({ announce() {}, toast() {} }),
      interactive: false,
      seat,
      people: () => this.#people,
      timeLeft: () => null,
      codeText: (code) => app.codeText(code),
      pace: app.pace,
      sound: app.sound,
      act: () => {},
      elapsedMs: () => recording.times[this.#at],
      newGame: () => {},
      share: (code) => app.share(code, null),
      replay: null,
      go: () => {},
      kept: kept?.table,
    });
    this.#scrubber = h('input', { type: 'range', class: 'scrubber', min: 0, max: views.length - 1, value: 0, step: 1, 'data-role': 'scrubber', 'aria-label': t('replay.position'), oninput: () => this.#seek(Number(this.#scrubber.value)) });
    this.#playButton = this.#button('play', 'replay.play', 'play', () => this.#togglePlaying());
    this.#speed = h('select', { 'data-role': 'speed', 'aria-label': t('replay.speed') }, Object.keys(SPEEDS).map((speed) => h('option', { value: speed, selected: speed === (kept?.speed ?? 'normal') }, t(`replay.speed.${speed}`))));
    this.#frame.replaceTools(
      this.#caption,
      h('div', { class: 'scrub-row' }, this.#scrubber, this.#count, this.#button('replay-share', 'replay.share', 'share', () => this.#share())),
      h(
        'div',
        { class: 'replay-buttons' },
        this.#button('previous-pair', game.landmarkLabels.previous, 'previousPair', () => this.#toLandmark(-1)),
        this.#button('step-back', 'replay.back', 'back', () => this.#step(-1)),
        this.#playButton,
        this.#button('step-forward', 'replay.forward', 'forward', () => this.#step(1)),
        this.#button('next-pair', game.landmarkLabels.next, 'nextPair', () => this.#toLandmark(1)),
        this.#speed,
      ),
    );
    const name = names.find(Boolean);
    if (name && !game.party) this.#frame.setRibbon(...i18n.nodes('replay.by', { name: nameTag(name) }));
    addEventListener('keydown', this.#onKey);
    const [, linked] = /^#(\d+)$/.exec(location.hash) ?? [];
    this.#show(kept?.at ?? Math.min(Number(linked ?? 0), this.#last), false);
    if (kept?.playing) this.#play();
  }

  /** Where the reader is in it, and what was fetched. @returns {Kept} */
  kept() {
    return { recording: this.#recording, at: this.#at, playing: this.#timer !== undefined, speed: this.#speed.value, table: this.#table.kept?.() };
  }

  destroy() {
    this.#pause();
    removeEventListener('keydown', this.#onKey);
    this.#table.destroy();
  }

  /** @param {string} role @param {string} label @param {import('../ui/icons.js').Icon} name @param {() => void} run */
  #button(role, label, name, run) {
    return h('button', { type: 'button', class: 'replay-button', 'data-role': role, 'aria-label': this.#app.i18n.t(label), title: this.#app.i18n.t(label), onclick: run }, icon(name));
  }

  get #last() {
    return this.#recording.views.length - 1;
  }

  /** @param {number} at @param {boolean} jump */
  #show(at, jump) {
    const { views, times, game } = this.#recording;
    const { i18n } = this.#app;
    this.#at = at;
    this.#table.update({ view: views[at], version: at, pending: [], jump });
    this.#frame.setInfo('time', i18n.time(times[at]));
    this.#scrubber.value = String(at);
    this.#scrubber.setAttribute('aria-valuetext', i18n.t('replay.step', { n: at, of: this.#last }));
    this.#count.textContent = i18n.t('replay.step', { n: at, of: this.#last });
    this.#caption.textContent = at ? game.caption(i18n, views[at - 1], views[at], this.#people) : i18n.t('replay.beginning');
    if (at === this.#last) this.#pause();
  }

  /** @param {number} at */
  #seek(at) {
    this.#pause();
    this.#show(at, Math.abs(at - this.#at) !== 1);
  }

  /** @param {number} by */
  #step(by) {
    const at = this.#at + by;
    if (at < 0 || at > this.#last) return;
    this.#seek(at);
  }

  /** @param {-1 | 1} direction */
  #toLandmark(direction) {
    const { views, game } = this.#recording;
    let at = this.#at + direction;
    while (at > 0 && at < this.#last && !game.landmark(views[at - 1], views[at])) at += direction;
    if (at < 0 || at > this.#last) return;
    this.#pause();
    // The step before is shown first, so that the pair is seen to go.
    if (direction === 1 && at - this.#at > 1) this.#show(at - 1, true);
    this.#show(at, direction === -1);
  }

  /** What can be taken along: links, and the file of the game. */
  #share() {
    const { t } = this.#app.i18n;
    this.#pause();
    const game = location.origin + location.pathname;
    const button = (/** @type {string} */ role, /** @type {string} */ label, /** @type {string} */ link, kind = 'plain') => {
      const take = () => {
        closeDialog();
        void copy(this.#app, link);
      };
      return h('button', { type: 'button', class: `button ${kind}`, 'data-role': role, onclick: take }, t(label));
    };
    showDialog({
      role: 'replay-share',
      title: t('replay.share'),
      closeLabel: t('close'),
      body: [
        h(
          'div',
          { class: 'choices' },
          button('copy-move', 'replay.linkMove', `${game}#${this.#at}`, 'main'),
          button('copy-game', 'replay.linkGame', game),
          this.#file && h('a', { class: 'button plain', href: this.#file, download: '', 'data-role': 'replay-file' }, t('replay.file')),
        ),
        h('p', { class: 'share-link' }, `${game}#${this.#at}`),
        this.#file && h('p', { class: 'hint' }, t('replay.fileMore')),
      ],
    });
  }

  #togglePlaying() {
    if (this.#timer !== undefined) return this.#pause();
    if (this.#at === this.#last) this.#show(0, true);
    this.#play();
  }

  #play() {
    this.#setPlayButton(true);
    this.#playOn();
  }

  #playOn() {
    const next = () => {
      this.#show(this.#at + 1, false);
      if (this.#at < this.#last) this.#playOn();
    };
    this.#timer = setTimeout(next, SPEEDS[this.#speed.value]);
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#setPlayButton(false);
  }

  /** @param {boolean} playing */
  #setPlayButton(playing) {
    const label = this.#app.i18n.t(playing ? 'replay.pause' : 'replay.play');
    this.#playButton.replaceChildren(icon(playing ? 'pause' : 'play'));
    this.#playButton.setAttribute('aria-label', label);
    this.#playButton.title = label;
  }

  /** @param {KeyboardEvent} event */
  #key({ key, target, ctrlKey, metaKey, altKey }) {
    if (dialogOpen() || ctrlKey || metaKey || altKey) return;
    const element = target instanceof Element ? target : null;
    if (element?.closest('input, select') && !(key === ' ' && element === this.#scrubber)) return;
    if (key === 'ArrowLeft') this.#step(-1);
    if (key === 'ArrowRight') this.#step(1);
    if (key === 'PageUp') this.#toLandmark(-1);
    if (key === 'PageDown') this.#toLandmark(1);
    if (key === 'Home') this.#seek(0);
    if (key === 'End') this.#seek(this.#last);
    if (key === ' ' && !element?.closest('button, a')) this.#togglePlaying();
  }
}
