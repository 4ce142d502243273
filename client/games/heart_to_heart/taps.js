// Owns: what a tap means: selecting, pairing, drawing; with actions still under way taken into
// account. Knows no rule but that the two cards of a pair are equal, and that a tap on an empty stock
// recycles. Must not know: the page.

import { DISCARD, STOCK, places, spread } from './view.js';

/** @typedef {import('../../wire.js').View} View */
/** @typedef {import('../../wire.js').Action} Action */
/** @typedef {import('../../wire.js').Pending} Pending */

/**
 * @typedef {object} Outlook a view, and what the actions under way will do to it
 * @property {(place: number) => boolean} playable a free card that is not going
 * @property {(place: number) => boolean} going it is part of a pair under way
 * @property {number} stock
 * @property {number} discard
 * @property {boolean} canUndo
 */

/**
 * @param {View} view
 * @param {readonly Pending[]} pending
 * @returns {Outlook}
 */
export function outlook(view, pending) {
  const now = spread(view);
  /** @type {Set<number>} */
  const going = new Set();
  let { stock, discard, moves } = now;
  let canUndo = now.canUndo;
  let topUnknown = false;
  for (const { action, doomed } of pending) {
    if (doomed) continue;
    const [verb, ...cards] = action;
    if (verb === 'draw') [stock, discard] = [stock - 1, discard + 1];
    if (verb === 'recycle') [stock, discard] = [discard, 0];
    if (verb === 'pair') for (const card of cards) going.add(Number(card));
    if (verb === 'pair' && cards.includes(DISCARD)) discard -= 1;
    topUnknown ||= verb !== 'pair';
    moves += verb === 'undo' ? -1 : 1;
    canUndo = moves > 0;
  }
  return {
    // What will be on top of the discard is not known while it changes.
    playable: (place) => now.free(place) && !going.has(place) && !(place === DISCARD && topUnknown),
    going: (place) => going.has(place),
    stock,
    discard,
    canUndo,
  };
}

/**
 * @typedef {object} Tapped
 * @property {number | null} selected the place that is selected now
 * @property {Action} [action] to be sent
 * @property {boolean} [mismatch] two cards of different rank were tapped
 */

/**
 * @param {View} view
 * @param {Outlook} ahead
 * @param {number | null} selected
 * @param {number} place 1 … 25, DISCARD or STOCK
 * @returns {Tapped}
 */
export function tap(view, ahead, selected, place) {
  const { rank } = spread(view);
  if (place === STOCK) {
    const kept = selected === DISCARD ? null : selected;
    if (ahead.stock > 0) return { selected: kept, action: ['draw'] };
    return ahead.discard > 0 ? { selected: kept, action: ['recycle'] } : { selected };
  }
  if (!ahead.playable(place)) return { selected };
  if (selected === place) return { selected: null };
  if (selected === null) return { selected: place };
  if (rank(selected) !== rank(place)) return { selected: place, mismatch: true };
  return { selected: null, action: ['pair', selected, place] };
}

/**
 * The selection after the table has changed: gone with its card.
 * @param {View} before
 * @param {View} view
 * @param {Outlook} ahead
 * @param {number | null} selected
 */
export function keptSelection(before, view, ahead, selected) {
  if (selected === null || !ahead.playable(selected)) return null;
  const [a, b] = [spread(before), spread(view)];
  const same = a.rank(selected) === b.rank(selected) && (selected !== DISCARD || a.discard === b.discard);
  return same ? selected : null;
}

/**
 * Cards to ring: those that have an equal among the others.
 * @param {View} view
 * @param {(place: number) => boolean} among whether the card of a place is one of those
 * @returns {Set<number>}
 */
export function partnered(view, among) {
  const { rank } = spread(view);
  const cards = [DISCARD, ...places].filter(among);
  return new Set(cards.filter((a) => cards.some((b) => a !== b && rank(a) === rank(b))));
}
