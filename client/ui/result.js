// Owns: how the result of a ranked attempt is shown and told to others. Must not know: where.

import { exactTime, dateText, percent, signed } from '../figures.js';
import { h } from './dom.js';

/** @typedef {import('../i18n.js').I18n} I18n */
/** @typedef {import('../api.js').Result} Result */
/** @typedef {import('../api.js').Place} Place */

/** @param {I18n} i18n @param {Result} result */
export function resultFacts(i18n, { time_ms, moves, par, streak, places }) {
  const { t, number } = i18n;
  return h(
    'dl',
    { class: 'facts result-facts' },
    fact(t('info.time'), exactTime(i18n, time_ms), 'time', placeText(i18n, places.time)),
    fact(t('info.moves'), number(moves), 'moves', placeText(i18n, places.moves)),
    fact(t('daily.againstPar'), signed(i18n, moves - par), 'over', t('daily.par', { n: par })),
    fact(t('daily.streak'), number(streak), 'streak', t('daily.daysInARow', { n: streak })),
  );
}

/** @param {string} label @param {string} value @param {string} role @param {string} more */
function fact(label, value, role, more) {
  return h('div', null, h('dt', null, label), h('dd', { 'data-role': `result-${role}` }, value), more && h('dd', { class: 'more', 'data-role': `result-${role}-more` }, more));
}

/** @param {I18n} i18n @param {Place | null} place */
function placeText(i18n, place) {
  if (!place) return '';
  const { rank, players, top_percent } = place;
  const { t } = i18n;
  return players < 10 ? t('daily.place', { rank, players }) : t('daily.placeTop', { rank, players, top: percent(i18n, top_percent) });
}

/**
 * What a player tells others: nothing of the deal.
 * @param {I18n} i18n
 * @param {Result} result
 * @param {string} game what it is called
 */
export function shareText(i18n, { date, time_ms, moves, par, streak }, game) {
  const { t } = i18n;
  const over = moves === par ? t('daily.share.par') : t('daily.share.over', { over: signed(i18n, moves - par) });
  return [
    t('daily.share.title', { game, date: dateText(i18n, date) }),
    t('daily.share.result', { time: exactTime(i18n, time_ms), moves: t('daily.moves', { n: moves }), over }),
    t('daily.share.streak', { n: streak }),
    `${location.origin}/daily/${date}`,
  ].join('\n');
}
