// Owns: what the reader of the tutorial sees after passing any three cards: there are too many choices to
// write all of them down. Must not know: anything else of the game.

import { asHeld } from '../cards.js';
import { FIELD, SEATS } from '../view.js';

/** @typedef {import('../../../wire.js').View} View */
/** @typedef {import('../view.js').Card} Card */

/**
 * @param {View} view before the pass
 * @param {number} seat the reader's
 * @param {Card[]} given
 * @param {Card[]} received
 * @param {number} leader who then has the two of clubs
 * @returns {View}
 */
export function passed(view, seat, given, received, leader) {
  const next = [...view];
  const giver = (seat - view[FIELD.pass_offset] + 4) % 4;
  next[seat] = asHeld([...view[seat].filter((/** @type {Card} */ card) => !given.includes(card)), ...received]);
  for (const other of SEATS) next[FIELD[`pass${other}`]] = other === seat ? asHeld(given) : other === giver ? received : given.length;
  next[FIELD.phase] = 1;
  next[FIELD.to_act] = [leader];
  next[FIELD.trick_number] = 1;
  return next;
}
