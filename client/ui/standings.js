// Owns: tables of players with their ranks. Must not know: what they are ranked by.

import { h, nameTag } from './dom.js';

/** @typedef {import('../i18n.js').I18n} I18n */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} name its class
 * @property {string} label
 * @property {(row: Row) => import('./dom.js').Child} cell
 * @property {boolean} [main] what it is ranked by
 * @property {boolean} [quiet] its label is only said
 */

/**
 * @template {import('../api.js').Standing} Row
 * @param {I18n} i18n
 * @param {object} what
 * @param {string} what.caption
 * @param {Row[]} what.rows
 * @param {Column<Row>[]} what.columns besides rank and player
 */
export function standings({ t, number }, { caption, rows, columns }) {
  const head = (/** @type {string} */ name, /** @type {string} */ label, quiet = false) => h('th', { scope: 'col', class: name }, quiet ? h('span', { class: 'visually-hidden' }, label) : label);
  return h(
    'table',
    { class: 'standings', 'data-role': 'standings', tabindex: -1 },
    h('caption', null, caption),
    h('thead', null, h('tr', null, head('rank', t('board.rank')), head('player', t('board.player')), columns.map(({ name, label, main, quiet }) => head(main ? `${name} by` : name, label, quiet)))),
    h(
      'tbody',
      null,
      rows.map((row) =>
        h(
          'tr',
          { 'data-player': row.player, 'data-me': row.me },
          h('td', { class: 'rank' }, number(row.rank)),
          h('th', { scope: 'row', class: 'player' }, nameTag(row.name || t('board.nameless')), row.me && h('span', { class: 'you' }, ` ${t('board.you')}`)),
          columns.map(({ name, cell, main }) => h('td', { class: main ? `${name} by` : name }, cell(row))),
        ),
      ),
    ),
  );
}
