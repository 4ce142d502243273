// Owns: how the score sheet looks: a line a hand, who shot the moon, the totals.
// Must not know: where it is shown.
//
// Hooks for tests: [data-role="sheet"]; its rows tr[data-hand="1" …] with data-shooter, cells td[data-seat];
// tfoot td[data-seat] are the totals; data-winner where somebody has won

import { h, nameTag } from '../../ui/dom.js';
import { nameOf } from '../../ui/people.js';

/** @typedef {import('./view.js').Spread} Spread */

/**
 * @param {import('../../i18n.js').I18n} i18n
 * @param {import('../../games.js').People} people
 * @param {Spread} now
 * @param {number[]} order of the seats
 */
export function sheet(i18n, people, now, order) {
  const { t, number } = i18n;
  const running = order.map(() => 0);
  const rows = now.sheet.map(({ points, shooter }, i) =>
    h(
      'tr',
      { 'data-hand': i + 1, 'data-shooter': shooter, 'data-latest': i === now.sheet.length - 1 },
      h('th', { scope: 'row' }, number(i + 1)),
      order.map((seat, k) => {
        running[k] += points[seat];
        return h('td', { 'data-seat': seat, 'data-moon': seat === shooter }, moonOr(i18n, seat === shooter, points[seat]), h('small', null, h('span', { class: 'visually-hidden' }, `${t('hearts.sheet.total')} `), number(running[k])));
      }),
    ),
  );
  return h(
    'table',
    { class: 'score-sheet', 'data-role': 'sheet' },
    h('caption', { class: 'visually-hidden' }, t('hearts.sheet')),
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, t('hearts.sheet.hand')), order.map((seat) => h('th', { scope: 'col', 'data-winner': now.winners.includes(seat) }, nameTag(nameOf(i18n, people, seat)))))),
    h('tbody', null, rows),
    h('tfoot', null, h('tr', null, h('th', { scope: 'row' }, t('hearts.sheet.total')), order.map((seat) => h('td', { 'data-seat': seat, 'data-winner': now.winners.includes(seat) }, number(now.totals[seat]))))),
  );
}

/** @param {import('../../i18n.js').I18n} i18n @param {boolean} shot @param {number} points */
function moonOr({ t, number }, shot, points) {
  return h('span', { class: shot ? 'hand-points moon' : 'hand-points' }, shot && h('span', { class: 'moon-mark', title: t('hearts.sheet.moon') }, '☾', h('span', { class: 'visually-hidden' }, ` ${t('hearts.sheet.moon')} `)), points > 0 ? `+${number(points)}` : number(points));
}
