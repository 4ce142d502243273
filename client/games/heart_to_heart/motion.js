// Owns: how the table of Heart to Heart moves: which cards fly from where to where for each change.
// Must not know: taps, actions, or the connection.

import { cardBack, cardFace, emblem } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { CARD_RATIO } from './layout.js';
import { DISCARD, PLACES, STOCK } from './view.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./layout.js').Point} Point */
/** @typedef {import('../../ui/flight.js').Flights} Flights */

const TURN_MS = 260;
const PAIR_MS = 560;
const RETURN_MS = 280;
const DEAL_MS = 300;
const DEAL_STAGGER_MS = 24;

/**
 * @typedef {object} Stage what the movements need of the table
 * @property {Flights} flights
 * @property {() => Layout} layout
 * @property {(place: number, held: boolean) => void} hold hides what lies at a place while its card is
 *   still in the air (`true`), and shows it again
 */

/** @param {Layout} layout @param {number} place @returns {Point} */
export function pointOf(layout, place) {
  if (place === STOCK) return layout.stock;
  return place === DISCARD ? layout.discard : layout.heart[place - 1];
}

/**
 * A card goes from one place to another, and turns over where `turned` is given.
 * @param {Stage} stage
 * @param {{ from: number, to: number, card: Element, turned?: Element, ms?: number, delay?: number, spin?: number }} move
 */
function travel({ flights, layout, hold }, { from, to, card, turned, ms = TURN_MS, delay, spin = 0 }) {
  const [a, b] = [pointOf(layout(), from), pointOf(layout(), to)];
  const over = `to ${to}`;
  flights.end(over);
  hold(to, true);
  flights.start({ card, turned, ms, delay, over, path: [{ ...a, rotate: spin }, { ...b }], landed: () => hold(to, false) });
}

/** @param {Stage} stage @param {number} rank */
export function draw(stage, rank) {
  travel(stage, { from: STOCK, to: DISCARD, card: cardBack(), turned: cardFace(rank) });
}

/** @param {Stage} stage @param {number} rank */
export function undraw(stage, rank) {
  travel(stage, { from: DISCARD, to: STOCK, card: cardFace(rank), turned: cardBack() });
}

/** @param {Stage} stage @param {number} rank of the top of the discard */
export function recycle(stage, rank) {
  travel(stage, { from: DISCARD, to: STOCK, card: cardFace(rank), turned: cardBack(), ms: 340 });
}

/** @param {Stage} stage @param {number} rank of the top of the discard */
export function unrecycle(stage, rank) {
  travel(stage, { from: STOCK, to: DISCARD, card: cardBack(), turned: cardFace(rank), ms: 340 });
}

/**
 * The two cards of a pair meet, and are gone.
 * @param {Stage} stage
 * @param {number[]} cards
 * @param {number} rank
 * @param {number} points
 */
export function pair({ flights, layout, hold }, cards, rank, points) {
  const { cardWidth } = layout();
  const cardHeight = cardWidth * CARD_RATIO;
  const ends = cards.map((place) => pointOf(layout(), place)).sort((a, b) => a.x - b.x);
  const meet = meeting(layout(), cards);
  for (const place of cards) {
    flights.end(`to ${place}`);
    hold(place, false);
  }
  ends.forEach((end, i) => {
    const side = i === 0 ? -1 : 1;
    const met = { x: meet.x + side * cardWidth * 0.3, y: meet.y, rotate: side * 9 };
    flights.start({
      card: cardFace(rank),
      ms: PAIR_MS,
      path: [
        { ...end, easing: 'cubic-bezier(.35,.1,.2,1)' },
        { ...met, scale: 1.08, offset: 0.5, easing: 'ease-in' },
        { ...met, scale: 1.08, offset: 0.62, easing: 'ease-in' },
        { ...met, y: meet.y - cardHeight * 0.45, scale: 0.7, opacity: 0 },
      ],
    });
  });
  const center = { x: meet.x, y: meet.y + (cardHeight - cardWidth) / 2 };
  flights.start({
    card: h('span', { class: 'hh-spark' }, emblem('hearts')),
    ms: PAIR_MS * 1.1,
    path: [
      { ...center, scale: 0.2, opacity: 0 },
      { ...center, scale: 0.4, opacity: 0, offset: 0.42 },
      { ...center, scale: 1.25, opacity: 0.95, offset: 0.7 },
      { ...center, scale: 1.9, opacity: 0 },
    ],
  });
  flights.start({
    card: h('span', { class: 'hh-points' }, `+${points}`),
    ms: PAIR_MS * 1.7,
    path: [
      { ...center, opacity: 0, scale: 0.7 },
      { ...center, opacity: 0, scale: 0.7, offset: 0.35 },
      { ...center, y: center.y - cardHeight * 0.2, opacity: 1, offset: 0.5 },
      { ...center, y: center.y - cardHeight * 0.75, opacity: 0 },
    ],
  });
}

/**
 * The two cards of a pair come back to where they lay.
 * @param {Stage} stage
 * @param {number[]} cards
 * @param {number} rank
 */
export function unpair({ flights, layout, hold }, cards, rank) {
  const meet = meeting(layout(), cards);
  for (const place of cards) {
    const over = `to ${place}`;
    flights.end(over);
    hold(place, true);
    flights.start({
      card: cardFace(rank),
      ms: RETURN_MS,
      over,
      path: [{ ...meet, scale: 0.8, opacity: 0 }, { ...pointOf(layout(), place) }],
      landed: () => hold(place, false),
    });
  }
}

/**
 * The heart is dealt from the stock.
 * @param {Stage} stage
 * @param {(place: number) => number} rank
 */
export function deal(stage, rank) {
  for (let place = 1; place <= PLACES; place++) {
    travel(stage, {
      from: STOCK,
      to: place,
      card: cardBack(),
      turned: cardFace(rank(place)),
      ms: DEAL_MS,
      delay: place * DEAL_STAGGER_MS,
      spin: -18,
    });
  }
}

/** @param {Layout} layout @param {number[]} cards @returns {Point} */
function meeting(layout, cards) {
  const points = cards.map((place) => pointOf(layout, place));
  return {
    x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
    y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
  };
}
