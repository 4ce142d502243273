// Owns: boards on the screen: tabs for what they are ranked by, a choice of the group, the first of all
// and those around the player, all of it up to date while it is looked at. Must not know: what of.

import { boardPath, get } from '../api.js';
import { Fresh } from '../fresh.js';
import { h, set } from './dom.js';
import { keepFocus } from './keep.js';
import { renew } from './renew.js';
import { failure, loading } from './shell.js';
import { standings } from './standings.js';
import { tabPanel, tabs } from './tabs.js';

/** @typedef {import('../app.js').App} App */

/** So many are shown at first, and whoever is among them needs no table of those around. */
const AT_FIRST = 15;
const PANEL = 'board-panel';

/**
 * @template {import('../api.js').Standing} Row
 * @typedef {object} Boards
 * @property {string} path of the API
 * @property {string} topic
 * @property {[by: string, label: string][]} by what they can be ranked by, each with the key of its text
 * @property {string} label key of the text that says what the tabs choose
 * @property {(by: string, board: import('../api.js').Board<Row>) => import('./standings.js').Column<Row>[]} columns
 * @property {(board: import('../api.js').Board<Row>) => string} empty key of the text where nobody is on it
 */

/** @template {import('../api.js').Standing} Row */
export class BoardView {
  #app;
  /** @type {Boards<Row>} */
  #what;
  #by;
  #group;
  #all = false;
  /** @type {import('../api.js').Board<Row> | null} */
  #board = null;
  #fresh;
  #groups = h('label', { class: 'group-choice', hidden: true });
  #count = h('p', { class: 'board-count', 'data-role': 'board-count' });
  #trouble = h('div');
  #content;
  #asked = new AbortController();

  /** @param {App} app @param {Boards<Row>} what @param {string} [group] the one to begin with, '' for all players */
  constructor(app, what, group = '') {
    const { t } = app.i18n;
    this.#app = app;
    this.#what = what;
    this.#by = what.by[0][0];
    this.#group = group;
    this.#content = tabPanel(PANEL, this.#by, loading(app));
    this.element = h(
      'section',
      { class: 'boards', 'data-role': 'boards', 'aria-label': t(what.label) },
      h(
        'div',
        { class: 'boards-bar' },
        tabs({ label: t(what.label), panel: PANEL, choices: what.by.map(([by, label]) => [by, t(label)]), chosen: this.#by, pick: (by) => this.#pick(by, this.#group) }),
        this.#groups,
      ),
      this.#count,
      this.#trouble,
      this.#content,
    );
    this.#fresh = new Fresh(app.wire, {
      topic: what.topic,
      load: (signal) => get(boardPath(what.path, this.#by, this.#group), signal),
      show: (board) => this.#show(board),
      fail: (code) => this.#fail(code),
    });
    void this.#loadGroups();
  }

  destroy() {
    this.#asked.abort();
    this.#fresh.destroy();
  }

  /** What one may see of it has changed. */
  reload() {
    void this.#fresh.reload();
  }

  /** @param {string} by @param {string} group */
  #pick(by, group) {
    if (by === this.#by && group === this.#group) return;
    this.#by = by;
    this.#group = group;
    set(this.#content, { 'aria-busy': 'true' });
    this.#fresh.renew();
  }

  /** Groups are an addition: a board without them is still one. */
  async #loadGroups() {
    const me = /** @type {import('../api.js').Me | null} */ (await get('/api/me', this.#asked.signal).catch(() => null));
    if (!me || this.#asked.signal.aborted) return;
    if (!me.groups.some(({ id }) => id === this.#group)) this.#pick(this.#by, '');
    if (!me.groups.length) return;
    const { t } = this.#app.i18n;
    const option = (/** @type {string} */ id, /** @type {string} */ name) => h('option', { value: id, selected: id === this.#group }, name);
    const select = h('select', { 'data-role': 'board-group' }, option('', t('board.everybody')), me.groups.map(({ id, name }) => option(id, name)));
    select.addEventListener('change', () => this.#pick(this.#by, select.value));
    this.#groups.append(h('span', { class: 'visually-hidden' }, t('board.among')), select);
    this.#groups.hidden = false;
  }

  /** @param {import('../api.js').Board<Row>} board */
  #show(board) {
    this.#board = board;
    this.#trouble.replaceChildren();
    set(this.#content, { 'aria-busy': null });
    this.#draw();
  }

  #draw() {
    const board = this.#board;
    if (!board) return;
    const { t } = this.#app.i18n;
    const mine = board.me ? t('board.youAre', { rank: board.me.rank }) : '';
    const nobody = !board.group && !board.players; // which the board itself says
    this.#count.hidden = nobody;
    this.#count.textContent = nobody ? '' : [board.group ? t('board.inGroup', { n: board.rows.length, of: board.group.members }) : t('board.players', { n: board.players }), mine].filter(Boolean).join(' · ');
    keepFocus(this.#content, () => renew(this.#content, this.#tables(board)));
  }

  /** @param {import('../api.js').Board<Row>} board */
  #tables(board) {
    const { rows, around, by } = board;
    const { i18n } = this.#app;
    const { t } = i18n;
    if (!rows.length) return [h('p', { class: 'nobody', 'data-role': 'board-empty' }, t(this.#what.empty(board)))];
    const columns = this.#what.columns(by, board);
    const few = !this.#all && rows.length > AT_FIRST;
    const shown = few ? rows.slice(0, AT_FIRST) : rows;
    const isAway = around.length > 0 && !shown.some((row) => row.me);
    return [
      standings(i18n, { caption: this.#caption(board, shown.length), rows: shown, columns }),
      ...(few ? [this.#more(rows.length)] : []),
      ...(isAway ? [standings(i18n, { caption: t('board.around'), rows: around, columns })] : []),
    ];
  }

  /** @param {import('../api.js').Board<Row>} board @param {number} shown how many of it */
  #caption({ by, group, players }, shown) {
    const { t } = this.#app.i18n;
    const name = t(this.#what.by.find(([its]) => its === by)?.[1] ?? '');
    if (group) return t('board.captionGroup', { by: name, group: group.name });
    return shown < players ? t('board.caption', { by: name, n: shown }) : name;
  }

  /** @param {number} n */
  #more(n) {
    const more = () => {
      this.#all = true;
      this.#draw();
      this.#content.querySelector('table')?.focus({ preventScroll: true });
    };
    return h('button', { type: 'button', class: 'link', 'data-role': 'board-more', onclick: more }, this.#app.i18n.t('board.more', { n }));
  }

  /** @param {string} code */
  #fail(code) {
    set(this.#content, { 'aria-busy': null });
    if (!this.#board || this.#board.by !== this.#by) this.#content.replaceChildren();
    this.#trouble.replaceChildren(failure(this.#app, code, () => void this.#fresh.reload()));
  }
}
