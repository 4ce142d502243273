// Owns: saying in words what happened from one view to another: for screen readers, and for a replay's caption.
// Must not know: the page.

import { isolatedName } from '../../ui/people.js';
import { nameOfCard } from './cards.js';
import { SEATS, plays, spread } from './view.js';

/** @typedef {import('../../i18n.js').I18n} I18n */
/** @typedef {import('../../games.js').People} People */
/** @typedef {import('../../wire.js').View} View */

/** Which way cards are passed, by the offset. */
export const WAYS = /** @type {const} */ (['none', 'left', 'across', 'right']);

/**
 * @param {I18n} i18n
 * @param {People} people
 * @param {number | null} own the seat of who is told
 * @param {View} before
 * @param {View} after
 * @returns {string[]} sentences
 */
export function happened(i18n, people, own, before, after) {
  const { t, capitalized } = i18n;
  const [a, b] = [spread(before), spread(after)];
  const name = (/** @type {number} */ seat) => (seat === own ? t('hearts.said.you') : isolatedName(i18n, people, seat));
  if (b.handNumber !== a.handNumber) return [dealt(i18n, after)];
  const said = [];
  const passing = SEATS.filter((seat) => !a.passed(seat) && b.passed(seat));
  for (const seat of passing) said.push(t('hearts.said.passed', { name: name(seat) }));
  if (a.phase === 'passing' && b.phase === 'playing') said.push(t('hearts.said.exchanged'));
  for (const { seat, card, led } of plays(before, after)) said.push(t(led ? 'hearts.said.led' : 'hearts.said.played', { name: name(seat), card: nameOfCard(i18n, card) }));
  if (b.broken && !a.broken) said.push(t('hearts.said.broken'));
  if (b.claimed && !a.claimed) said.push(t('hearts.said.claimed', { name: name(b.claimed.seat) }));
  else for (const seat of SEATS) if (b.took[seat] > a.took[seat]) said.push(taken(i18n, name(seat), b.points[seat] - a.points[seat]));
  if (b.sheet.length > a.sheet.length) said.push(...scored(i18n, name, b));
  if (b.phase === 'over' && a.phase !== 'over') said.push(t('hearts.said.won', { n: b.winners.length, names: i18n.list(b.winners.map(name)) }));
  return said.map(capitalized);
}

/** A new hand. @param {I18n} i18n @param {View} view */
export function dealt({ t }, view) {
  const { handNumber, passOffset } = spread(view);
  return t('hearts.said.hand', { n: handNumber, way: t(`hearts.way.${WAYS[passOffset]}`) });
}

/** @param {I18n} i18n @param {string} name @param {number} points */
function taken({ t }, name, points) {
  return points ? t('hearts.said.takenPoints', { name, n: points }) : t('hearts.said.taken', { name });
}

/** @param {I18n} i18n @param {(seat: number) => string} name @param {import('./view.js').Spread} now */
function scored({ t, number }, name, { sheet, totals }) {
  const { points, shooter } = sheet[sheet.length - 1];
  const moon = shooter === null ? [] : [t('hearts.said.moon', { name: name(shooter) })];
  return [...moon, t('hearts.said.scored', { scores: SEATS.map((seat) => `${name(seat)} ${number(points[seat])} (${number(totals[seat])})`).join(', ') })];
}
