// Owns: how the table of Hearts moves: cards from hands to the trick, from the trick to who takes it, and
// from hand to hand when they are passed. Must not know: when.

import { cardBack } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { faceOf } from './cards.js';

/** @typedef {import('../../ui/flight.js').Flights} Flights */
/** @typedef {import('./view.js').Card} Card */

const PLAY_MS = 260;
const SWEEP_MS = 300;
const PASS_MS = 460;
const POINTS_MS = 1300;
const RATIO = 1.4;

/** @typedef {{ x: number, y: number, width: number, rotate?: number }} Lying the middle of a card, and how wide it is */

/**
 * @typedef {object} Stage what the movements need of the table
 * @property {Flights} flights
 * @property {() => number} card the width of cards in the air
 * @property {(card: Card, held: boolean) => void} hold hides a card where it is going while it is in the air
 */

/** How long cards go to who takes them. */
export const SWEPT_MS = SWEEP_MS;

/**
 * @param {Stage} stage
 * @param {{ card: Card, from: Lying, to: Lying, open: boolean }} move `open`: seen already where it comes from
 */
export function play({ flights, card: width, hold }, { card, from, to, open }) {
  hold(card, true);
  flights.start({
    card: open ? faceOf(card) : cardBack(),
    turned: open ? undefined : faceOf(card),
    ms: PLAY_MS,
    over: `card ${card}`,
    path: [at(from, width()), at(to, width())],
    landed: () => hold(card, false),
  });
}

/**
 * The cards of a trick go to who takes them.
 * @param {Stage} stage
 * @param {{ cards: { card: Card, from: Lying }[], to: Lying, points: string }} move
 */
export function sweep({ flights, card: width }, { cards, to, points }) {
  for (const { card, from } of cards) {
    flights.end(`card ${card}`);
    flights.start({
      card: faceOf(card),
      ms: SWEEP_MS,
      path: [at(from, width()), { ...at(to, width()), opacity: 0.9, offset: 0.85 }, { ...at(to, width()), opacity: 0 }],
    });
  }
  if (!points) return;
  const over = { ...to, width: width() };
  const rise = (/** @type {number} */ by) => ({ ...over, y: over.y - by });
  flights.start({
    card: h('span', { class: 'points-taken' }, points),
    ms: POINTS_MS,
    path: [{ ...at(over, width()), opacity: 0 }, { ...at(rise(14), width()), opacity: 1, offset: 0.25 }, { ...at(rise(20), width()), opacity: 1, offset: 0.7 }, { ...at(rise(38), width()), opacity: 0 }],
  });
}

/**
 * A card goes from hand to hand.
 * @param {Stage} stage
 * @param {{ card: Card | null, from: Lying, to: Lying, delay: number }} move null: face down
 */
export function pass({ flights, card: width, hold }, { card, from, to, delay }) {
  if (card !== null) hold(card, true);
  flights.start({
    card: card === null ? cardBack() : faceOf(card),
    ms: PASS_MS,
    delay,
    path: [at(from, width()), at(to, width())],
    landed: () => card !== null && hold(card, false),
  });
}

/** @param {Lying} lying @param {number} width @returns {import('../../ui/flight.js').Waypoint} */
function at({ x, y, width: its, rotate = 0 }, width) {
  return { x: x - width / 2, y: y - (width * RATIO) / 2, scale: its / width, rotate };
}
