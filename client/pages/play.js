// Owns: the page of a session: joins it, puts the game's table into a frame, passes on what happens.
// Must not know: any game's rules or looks.

import { games } from '../games.js';
import { closeDialog, dialogOpen } from '../ui/dialog.js';
import { h, nameTag } from '../ui/dom.js';
import { Frame } from '../ui/frame.js';
import { message } from './message.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../games.js').Game} Game */
/** @typedef {import('../wire.js').Table} Table */

const TICK_MS = 250;

/** @param {App} app @param {string} session @returns {import('../router.js').Shown} */
export function play(app, session) {
  const { wire, i18n } = app;
  /** @type {Seated | null} */
  let seated = null;
  const show = (/** @type {Table} */ table) => {
    const game = games.get(table.game);
    if (!game) return message(app, i18n.t('code.unknown_game'));
    if (game.over?.(table.view)) wire.ended(table.session);
    if (seated?.seat !== table.seat) {
      seated?.destroy();
      seated = new Seated(app, game, table);
    }
    seated.update(table);
  };
  const offs = [
    wire.on('table', ({ table }) => show(table)),
    wire.on('pending', () => wire.table && seated?.update(wire.table)),
    wire.on('people', (table) => seated?.people(table)),
    wire.on('error', (code) => {
      if (!wire.table) message(app, app.codeText(code));
      else app.notices.toast(app.codeText(code), code);
    }),
    wire.on('reject', ({ code }) => app.notices.toast(app.codeText(code), code)),
  ];
  app.root.replaceChildren(h('main', { class: 'waiting', id: 'main', tabindex: -1 }, h('p', null, i18n.t('play.waiting'))));
  wire.join(session);
  if (wire.table) show(wire.table);
  return {
    title: i18n.t([...games.values()][0].title),
    destroy() {
      for (const off of offs) off();
      seated?.destroy();
      closeDialog();
    },
  };
}

/** A game's table in its frame, for who looks on or for who plays. */
class Seated {
  #app;
  #game;
  #frame;
  #table;
  #timer;
  #onKey = (/** @type {KeyboardEvent} */ event) => this.#key(event);

  /** @param {App} app @param {Game} game @param {Table} table */
  constructor(app, game, { session, seat }) {
    const { i18n } = app;
    this.seat = seat;
    this.#app = app;
    this.#game = game;
    this.#frame = new Frame({ title: i18n.t(game.title), homeLabel: i18n.t('nav.home'), toolsLabel: i18n.t('tool.all') });
    this.#frame.addInfo('time', i18n.t('info.time'));
    app.root.replaceChildren(this.#frame.element);
    this.#table = game.createTable({
      frame: this.#frame,
      i18n,
      settings: app.settings,
      notices: app.notices,
      interactive: seat !== null,
      pace: app.pace,
      sound: app.sound,
      act: (action) => app.wire.act(action),
      elapsedMs: () => this.#elapsedMs(),
      newGame: () => this.#newGame(),
      share: (code) => app.share(code, session),
      replay: `/r/${encodeURIComponent(session)}`,
      go: (path) => app.go(path),
    });
    this.#addTools(session);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    addEventListener('keydown', this.#onKey);
  }

  /** @param {Table} table */
  update({ view, version }) {
    this.#table.update({ view, version, pending: this.#app.wire.underWay });
    this.#tick();
  }

  /** @param {Table} table */
  people({ names, viewers }) {
    const { t, nodes } = this.#app.i18n;
    if (this.seat === null) {
      const name = names.find(Boolean);
      this.#frame.setRibbon(...(name ? nodes('play.watchingName', { name: nameTag(name) }) : [t('play.watching')]));
    } else {
      this.#frame.setViewers(viewers, t('play.viewers', { n: viewers }));
    }
  }

  destroy() {
    clearInterval(this.#timer);
    removeEventListener('keydown', this.#onKey);
    this.#table.destroy();
  }

  /** @param {string} session */
  #addTools(session) {
    const { t } = this.#app.i18n;
    const app = this.#app;
    const frame = this.#frame;
    const share = () => app.wire.table && app.share(this.#game.code(app.wire.table.view), session);
    if (this.seat !== null) frame.addTool({ role: 'new', icon: 'new', label: t('tool.newShort'), shortcut: 'N', run: () => this.#newGame() });
    frame.addTool({ role: 'share', icon: 'share', label: t('tool.share'), run: share });
    frame.addTool({ role: 'help', icon: 'help', label: t('tool.help'), shortcut: 'H', run: () => app.showHelp(this.#game) });
    frame.addTool({ role: 'settings', icon: 'settings', label: t('tool.settings'), run: () => app.showSettings() });
  }

  #newGame() {
    const table = this.#app.wire.table;
    if (table && this.#table.underWay()) this.#app.askNewGame(this.#game, this.#game.code(table.view));
    else void this.#app.beginOrTell(this.#game.name);
  }

  #elapsedMs() {
    const clock = this.#app.wire.table?.clock;
    if (!clock) return 0;
    return clock.elapsedMs + (clock.running ? performance.now() - clock.at : 0);
  }

  #tick() {
    this.#frame.setInfo('time', this.#app.i18n.time(this.#elapsedMs()));
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
    else if (key.toLowerCase() === 'n' && this.seat !== null) this.#newGame();
    else return false;
    return true;
  }
}
