// Owns: the page of a table that has not started: who sits where, inviting others, starting.
// Must not know: any game's rules or looks.
//
// Hooks for tests, in the page:
//   [data-role="waiting-room"]   data-seated = own seat, absent for who only looks on
//   [data-chair="0" …]           data-status = open | here | lost; with a button [data-role="sit"] where one may sit
//   [data-role="start"], invite-copy, invite-share, starts-in

import { emblem } from '../ui/card.js';
import { h, nameTag, set } from '../ui/dom.js';
import { Frame } from '../ui/frame.js';
import { icon } from '../ui/icons.js';
import { nameOf } from '../ui/people.js';
import { renew } from '../ui/renew.js';
import { initial } from '../ui/seat.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../games.js').Game} Game */
/** @typedef {import('../wire.js').Table} Table */

const TICK_MS = 250;

/**
 * How a table is played, whatever the game.
 * @param {import('../i18n.js').I18n} i18n
 * @param {import('../wire.js').TableSettings} settings
 */
export function factsOf({ t }, { pace, level, open }) {
  return [
    pace ? t('table.paceIs', { n: pace }) : t('table.noPace'),
    ...(level ? [t('table.levelIs', { level: t(`level.${level}`) })] : []),
    t(open ? 'table.isOpen' : 'table.byLink'),
  ];
}

export class WaitingRoom {
  #app;
  #game;
  /** @type {Table} */
  #table;
  #frame;
  #root;
  #facts = h('ul', { class: 'table-facts' });
  #chairs = h('ol', { class: 'chairs' });
  #countdown = h('p', { class: 'countdown', 'data-role': 'starts-in', role: 'timer' });
  #timer;

  /** @param {App} app @param {Game} game @param {Table} table */
  constructor(app, game, table) {
    const { t } = app.i18n;
    this.#app = app;
    this.#game = game;
    this.#table = table;
    const seated = table.seat !== null;
    this.#frame = new Frame({ title: t(game.title), homeLabel: t('nav.home'), toolsLabel: t('tool.all') });
    this.#root = h(
      'section',
      { class: 'waiting-room', 'data-role': 'waiting-room', 'data-seated': table.seat },
      h('h2', null, t('table.waiting')),
      this.#facts,
      this.#chairs,
      this.#countdown,
      h(
        'div',
        { class: 'choices' },
        seated && h('button', { type: 'button', class: 'button main', 'data-role': 'start', onclick: () => void app.tell(app.wire.start()) }, t('table.start')),
        h('button', { type: 'button', class: 'button plain', 'data-role': 'invite-copy', onclick: () => void this.#copy() }, icon('link'), t('table.copyLink')),
        'share' in navigator && h('button', { type: 'button', class: 'button plain', 'data-role': 'invite-share', onclick: () => this.#share() }, icon('share'), t('share.native')),
      ),
      h('p', { class: 'share-link', 'data-role': 'invite-link' }, this.#link),
      h('p', { class: 'hint' }, t('table.botsFill')),
    );
    this.#frame.board.classList.add('scrolls');
    this.#frame.board.append(this.#root);
    this.#addTools(seated);
    app.put(this.#frame.element);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** @param {Table} table */
  update(table) {
    this.#table = table;
    this.people(table);
  }

  /** @param {Table} table */
  people(table) {
    this.#table = table;
    const { i18n } = this.#app;
    const { t } = i18n;
    const { settings, chairs, view, viewers } = table;
    const facts = [...(this.#game.party?.facts(i18n, view) ?? []), ...factsOf(i18n, settings)];
    renew(this.#facts, facts.map((fact) => h('li', null, fact)));
    this.#keepFocus(() => renew(this.#chairs, (chairs ?? []).map((_, seat) => this.#chair(seat))));
    this.#frame.setViewers(viewers, t('play.viewers', { n: viewers }));
    this.#tick();
  }

  refused() {
    return false;
  }

  destroy() {
    clearInterval(this.#timer);
  }

  get #link() {
    return `${location.origin}/g/${encodeURIComponent(this.#table.session)}`;
  }

  /** @param {number} seat */
  #chair(seat) {
    const { i18n, wire } = this.#app;
    const { t } = i18n;
    const { chairs, seat: own } = this.#table;
    const status = chairs?.[seat] ?? 'open';
    const name = nameOf(i18n, { names: this.#table.names, chairs: chairs ?? [], own }, seat);
    const open = status === 'open';
    return h(
      'li',
      { class: 'chair', 'data-chair': seat, 'data-status': status, 'data-own': seat === own },
      h('span', { class: 'avatar', 'aria-hidden': 'true' }, open ? emblem('hearts') : initial(name)),
      h(
        'span',
        { class: 'chair-text' },
        open ? h('span', { class: 'chair-open' }, t('table.openSeat')) : nameTag(name),
        seat === own && this.#table.names[seat] && h('small', null, t('people.you')),
        status === 'lost' && h('small', null, t('status.lost')),
      ),
      open && own === null && h('button', { type: 'button', class: 'button plain', 'data-role': 'sit', onclick: () => void this.#app.tell(wire.sit(seat)) }, t('table.sit')),
    );
  }

  /** @param {boolean} seated */
  #addTools(seated) {
    const app = this.#app;
    const { t } = app.i18n;
    this.#frame.addTool({ role: 'name', icon: 'person', label: t('tool.name'), run: () => app.askName() });
    this.#frame.addTool({ role: 'help', icon: 'help', label: t('tool.help'), run: () => app.showHelp(this.#game) });
    this.#frame.addTool({ role: 'settings', icon: 'settings', label: t('tool.settings'), run: () => app.showSettings() });
    if (seated) this.#frame.addTool({ role: 'leave', icon: 'leave', label: t('tool.leave'), run: () => void this.#leave() });
  }

  async #leave() {
    if (await this.#app.tell(this.#app.wire.stand())) this.#app.go('/');
  }

  async #copy() {
    const { notices, i18n } = this.#app;
    try {
      await navigator.clipboard.writeText(this.#link);
      notices.toast(i18n.t('share.copied'), 'copied');
    } catch {
      notices.toast(i18n.t('share.notCopied'), 'not-copied');
    }
  }

  #share() {
    navigator.share({ title: document.title, url: this.#link }).catch(() => {});
  }

  #tick() {
    const { startsAt } = this.#table.settings;
    const { t } = this.#app.i18n;
    set(this.#countdown, { hidden: startsAt === null });
    if (startsAt === null) return;
    const n = Math.max(0, Math.ceil((startsAt - performance.now()) / 1000));
    const text = n ? t('table.startsIn', { n }) : t('table.startsNow');
    if (this.#countdown.textContent !== text) this.#countdown.textContent = text;
  }

  /** Does `change`; a button that is still there afterwards keeps the focus, or gives it to one like it. @param {() => void} change */
  #keepFocus(change) {
    const at = document.activeElement?.closest('[data-chair]')?.getAttribute('data-chair');
    change();
    const button = at && (this.#chairs.querySelector(`[data-chair="${at}"] button`) ?? this.#chairs.querySelector('button'));
    if (button instanceof HTMLElement) button.focus();
  }
}
