// Owns: what the people at a table are called, and how it is said what has become of them.
// Must not know: any game.

/** @typedef {import('../i18n.js').I18n} I18n */
/** @typedef {import('../games.js').People} People */

/** What bots are called, by seat. */
const BOTS = ['Alma', 'Bo', 'Cleo', 'Dag'];

/**
 * The name of whoever has a seat; '' for an open one.
 * @param {I18n} i18n
 * @param {People} people
 * @param {number} seat
 */
export function nameOf({ t }, { names, chairs, own }, seat) {
  if (names[seat]) return names[seat];
  if (seat === own) return t('people.self');
  if (chairs[seat] === 'bot') return BOTS[seat] ?? t('people.bot');
  return chairs[seat] === 'open' ? '' : t('people.guest', { n: seat + 1 });
}

/**
 * The same, to be put into a line of text, whatever direction it is written in.
 * @param {I18n} i18n
 * @param {People} people
 * @param {number} seat
 */
export function isolatedName(i18n, people, seat) {
  return `\u2068${nameOf(i18n, people, seat)}\u2069`;
}
