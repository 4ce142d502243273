// Owns: the page of a session: joins it, puts the game's table into a frame, passes on what happens.
// Must not know: any game's rules or looks.
//
// Hooks for tests, of a game with several seats:
//   [data-role="leave"]          the tool; its dialog [data-dialog="leave"] has leave-for-good, leave-for-now, leave-cancel
//   [data-role="back"]           "I am back", while a bot plays for the player
//   [data-role="viewers"]        how many are watching
// of a game that those who run the card room have ended:
//   [data-dialog="ended"]        with ended-new, ended-replay, ended-home
// and of the ranked attempt of a day:
//   [data-role="ranked-mark"]

import { ApiError, get } from '../api.js';
import { games } from '../games.js';
import { pageTitle } from '../router.js';
import { Turns } from '../turns.js';
import { closeDialog, dialogOpen, showDialog } from '../ui/dialog.js';
import { h, nameTag } from '../ui/dom.js';
import { Frame } from '../ui/frame.js';
import { dealing, message, refusal } from './message.js';
import { WaitingRoom, factsOf } from './waiting.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../games.js').Game} Game */
/** @typedef {import('../wire.js').Table} Table */

/** @typedef {{ place: string, ended: boolean, table: unknown }} Kept when the page is drawn anew */

const TICK_MS = 250;

/** @param {App} app @param {string} session @param {unknown} [handed] what `kept` said @returns {import('../router.js').Shown} */
export function play(app, session, handed) {
  const { wire, i18n } = app;
  /** @type {Seated | WaitingRoom | null} */
  let shown = null;
  let place = '';
  let title = '';
  let kept = /** @type {Kept | undefined} */ (handed);
  const show = (/** @type {Table} */ table) => {
    const game = games.get(table.game);
    if (!game) {
      dealt();
      return message(app, i18n.t('code.unknown_game'));
    }
    if (game.over?.(table.view)) wire.ended(table.session);
    if (game.party && !table.chairs) return; // who sits there is told next
    const its = `${table.session} ${table.seat} ${table.started}`;
    if (place !== its) {
      dealt();
      shown?.destroy();
      place = its;
      shown = table.started ? new Seated(app, game, table, kept?.place === its ? kept : undefined) : new WaitingRoom(app, game, table);
      kept = undefined;
      title = i18n.t(game.title);
      document.title = pageTitle(title);
    }
    shown?.update(table);
  };
  const showPeople = (/** @type {Table} */ table) => {
    show(table);
    shown?.people(table);
  };
  /** The table is gone from the screen; it is set again if the session is told after all. */
  const turnAway = (/** @type {string} */ code) => {
    dealt();
    shown?.destroy();
    shown = null;
    place = '';
    closeDialog();
    refusal(app, code);
  };
  /** @param {Table} table */
  const end = ({ session }) => {
    wire.ended(session);
    if (shown instanceof Seated) shown.ended();
    else turnAway('ended');
  };
  const offs = [
    wire.on('table', ({ table }) => show(table)),
    wire.on('pending', () => wire.table && shown?.update(wire.table)),
    wire.on('people', showPeople),
    wire.on('error', (code) => {
      if (!wire.table) turnAway(code);
      else if (code === 'ended') end(wire.table);
      else app.notices.toast(app.codeText(code), code);
    }),
    wire.on('reject', ({ code, action }) => {
      if (!shown?.refused(action, code)) app.notices.toast(app.codeText(code), code);
    }),
  ];
  const dealt = dealing(app);
  wire.join(session);
  if (wire.table) showPeople(wire.table);
  return {
    title, // that of a table which is known already is on the screen
    kept: () => (shown instanceof Seated ? { place, ...shown.kept() } : undefined),
    destroy() {
      for (const off of offs) off();
      dealt();
      shown?.destroy();
    },
  };
}

/** A game's table in its frame, for who looks on or for who plays. */
class Seated {
  #app;
  #game;
  #session;
  #frame;
  #table;
  #turns = new Turns();
  /** The last clock that the server has told. @type {import('../wire.js').Clock | null} */
  #clock = null;
  #ribbon = '';
  /** Whether those who run the card room have ended the game. */
  #ended = false;
  /** The date whose deal this is. @type {string | null} */
  #date;
  /** Whether it is the ranked attempt of that; null: not known yet. @type {boolean | null} */
  #ranked = null;
  #asked = new AbortController();
  #timer;
  #onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);

  /** @param {App} app @param {Game} game @param {Table} table @param {Kept} [kept] */
  constructor(app, game, { session, seat, view }, kept) {
    const { i18n } = app;
    const date = game.day?.(game.code(view)) ?? null;
    this.seat = seat;
    this.#session = session;
    this.#date = date;
    this.#app = app;
    this.#game = game;
    this.#frame = new Frame({ title: i18n.t(game.title), homeLabel: i18n.t('nav.home'), toolsLabel: i18n.t('tool.all') });
    if (!game.party) this.#frame.addInfo('time', i18n.t('info.time'));
    app.put(this.#frame.element);
    this.#table = game.createTable({
      frame: this.#frame,
      i18n,
      settings: app.settings,
      notices: app.notices,
      interactive: seat !== null,
      seat,
      people: () => ({ names: app.wire.table?.names ?? [], chairs: app.wire.table?.chairs ?? [], own: seat }),
      back: () => this.#back(),
      facts: () => (app.wire.table ? factsOf(i18n, app.wire.table.settings) : []),
      timeLeft: (which) => this.#turns.left(which, performance.now()),
      pace: app.pace,
      sound: app.sound,
      act: (action, how) => app.wire.act(action, how),
      codeText: (code) => app.codeText(code),
      elapsedMs: () => this.#elapsedMs(),
      newGame: (sure) => this.#newGame(sure),
      share: (code) => this.#share(code, session),
      result: date && seat !== null ? () => app.go(`/daily/${date}`) : undefined,
      ranked: () => this.#mayBeRanked,
      replay: `/r/${encodeURIComponent(session)}`,
      go: (path) => app.go(path),
      kept: kept?.table,
    });
    if (kept?.ended) this.#showEnded();
    // Who only looks on and reaches for a card is told why nothing happens.
    if (seat === null) this.#frame.board.addEventListener('click', () => this.#frame.heedRibbon());
    this.#addTools(session);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    addEventListener('keydown', this.#onKey);
    if (date && seat !== null) void this.#learnRanked(date, session);
  }

  /** @param {Table} table */
  update(table) {
    this.#keepTurns(table);
    this.#table.update({ view: table.view, version: table.version, pending: this.#app.wire.underWay });
    this.#tick();
  }

  /** @param {Table} table */
  people(table) {
    const { t, nodes } = this.#app.i18n;
    const { names, viewers } = table;
    this.#keepTurns(table);
    this.#table.peopleChanged?.();
    if (this.#ended) return;
    if (this.seat !== null || this.#game.party) this.#frame.setViewers(viewers, t('play.viewers', { n: viewers }));
    if (this.#game.party) return this.#sayPlace(table);
    if (this.seat !== null) return;
    const name = names.find(Boolean);
    this.#frame.setRibbon(...(name ? nodes('play.watchingName', { name: nameTag(name) }) : [t('play.watching')]));
  }

  /** @param {import('../wire.js').Action} action @param {string} code */
  refused(action, code) {
    return this.#table.refused?.(action, code) ?? false;
  }

  /** What the player has at hand. @returns {Omit<Kept, 'place'>} */
  kept() {
    return { ended: this.#ended, table: this.#table.kept?.() };
  }

  #showEnded() {
    this.#ended = true;
    this.#frame.setLastRibbon(this.#app.i18n.t('code.ended'));
  }

  /** It goes no further. */
  ended() {
    const app = this.#app;
    const { t } = app.i18n;
    this.#showEnded();
    const again = this.seat !== null && !this.#mayBeRanked;
    showDialog({
      role: 'ended',
      title: t('ended.title'),
      closeLabel: t('close'),
      body: [h('p', null, t('code.ended')), h('p', null, t('ended.more'))],
      choices: [
        ...(again ? [{ role: 'ended-new', kind: /** @type {const} */ ('main'), label: t('tool.new'), run: () => this.#begin() }] : []),
        { role: 'ended-replay', label: t('ended.replay'), run: () => app.go(`/r/${encodeURIComponent(this.#session)}`) },
        { role: 'ended-home', label: t('nav.home'), run: () => app.go('/') },
      ],
    });
  }

  destroy() {
    this.#asked.abort();
    clearInterval(this.#timer);
    removeEventListener('keydown', this.#onKey);
    this.#table.destroy();
  }

  /** @param {Table} table */
  #keepTurns({ view, chairs, settings, clock }) {
    if (!this.#game.party) return;
    this.#turns.see(this.#game.party.waits(view), chairs ?? [], settings.pace, performance.now());
    if (clock === this.#clock) return;
    this.#clock = clock;
    this.#turns.told(clock.waitingMs, clock.at);
  }

  /** Whether the player only looks on, or has a bot in their place. @param {Table} table */
  #sayPlace({ seat, chairs }) {
    const { t } = this.#app.i18n;
    const place = seat === null ? 'watching' : chairs?.[seat] === 'away' ? 'away' : '';
    if (place === this.#ribbon) return;
    this.#ribbon = place;
    if (!place) return this.#frame.setRibbon();
    if (place === 'watching') return this.#frame.setRibbon(t('play.watching'));
    this.#frame.setRibbon(t('table.away'), ' ', h('button', { type: 'button', class: 'button main small', 'data-role': 'back', onclick: () => this.#back() }, t('table.back')));
  }

  #back() {
    void this.#app.tell(this.#app.wire.sit(null));
  }

  /** @param {string} session */
  #addTools(session) {
    const { t } = this.#app.i18n;
    const app = this.#app;
    const frame = this.#frame;
    const party = this.#game.party;
    const share = () => {
      if (party) app.shareTable(session);
      else if (app.wire.table) this.#share(this.#game.code(app.wire.table.view), session);
    };
    if (this.seat !== null && !party) frame.addTool({ role: 'new', icon: 'new', label: t('tool.newShort'), shortcut: 'N', run: () => this.#newGame() });
    frame.addTool({ role: 'share', icon: 'share', label: t('tool.share'), run: share });
    frame.addTool({ role: 'help', icon: 'help', label: t('tool.help'), shortcut: 'H', run: () => app.showHelp(this.#game) });
    frame.addTool({ role: 'settings', icon: 'settings', label: t('tool.settings'), run: () => app.showSettings() });
    if (this.seat !== null && party) frame.addTool({ role: 'leave', icon: 'leave', label: t('tool.leave'), run: () => this.#askLeave() });
  }

  /** There is no other game in place of one that cannot be begun again. */
  get #mayBeRanked() {
    return this.#date !== null && this.#ranked !== false;
  }

  /** @param {string} date @param {string} session */
  async #learnRanked(date, session) {
    this.#frame.setMark('');
    try {
      const day = /** @type {import('../api.js').Day} */ (await get(`/api/daily/${date}`, this.#asked.signal));
      this.#ranked = day.session === session;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    if (this.#asked.signal.aborted) return;
    const { t } = this.#app.i18n;
    this.#frame.setMark(this.#ranked === false ? null : this.#ranked ? t('ranked') : '', t('ranked.more'));
  }

  /** @param {string} code @param {string} session */
  #share(code, session) {
    if (this.#mayBeRanked && this.#date) this.#app.shareDay(this.#date, session);
    else this.#app.share(code, session);
  }

  /** @param {boolean} [sure] */
  #newGame(sure = false) {
    if (this.#mayBeRanked) return;
    const app = this.#app;
    const table = app.wire.table;
    const askFirst = !sure && !this.#game.party && !this.#ended && this.#table.underWay();
    if (table && askFirst) app.askNewGame(this.#game, this.#game.code(table.view));
    else this.#begin();
  }

  #begin() {
    const app = this.#app;
    if (this.#game.party) void app.quick(this.#game.name);
    else void app.beginOrTell(this.#game.name);
  }

  #askLeave() {
    const app = this.#app;
    const { t } = app.i18n;
    if (this.#ended || !this.#table.underWay()) return app.go('/');
    const leave = async () => {
      if (await app.tell(app.wire.stand())) app.go('/');
    };
    showDialog({
      role: 'leave',
      title: t('leave.title'),
      closeLabel: t('close'),
      body: [h('p', null, t('leave.more'))],
      choices: [
        { role: 'leave-cancel', kind: 'main', label: t('leave.stay') },
        { role: 'leave-for-now', label: t('leave.forNow'), run: () => app.go('/') },
        { role: 'leave-for-good', label: t('leave.forGood'), run: () => void leave() },
      ],
    });
  }

  #elapsedMs() {
    const clock = this.#app.wire.table?.clock;
    if (!clock) return 0;
    return clock.elapsedMs + (clock.running ? performance.now() - clock.at : 0);
  }

  #tick() {
    this.#frame.setInfo('time', this.#app.i18n.time(this.#elapsedMs()));
    this.#table.tick?.();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
    if (dialogOpen() || typing || event.defaultPrevented) return;
    if (this.#table.onKey(event) || this.#ownKey(event)) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #ownKey({ key, ctrlKey, metaKey, altKey }) {
    if (ctrlKey || metaKey || altKey || !this.#app.settings.get('shortcuts')) return false;
    if (key === '?' || key.toLowerCase() === 'h') this.#app.showHelp(this.#game);
    else if (key.toLowerCase() === 'n' && this.seat !== null && !this.#game.party) this.#newGame();
    else return false;
    return true;
  }
}
