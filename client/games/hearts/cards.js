// Owns: what the numbers of cards mean: ranks, suits, names, faces.
// Must not know: any position of a game.

import { cardFace, fanFace } from '../../ui/card.js';

/** @typedef {import('./view.js').Card} Card */
/** @typedef {import('../../ui/card.js').Suit} Suit */

const SUITS = /** @type {Suit[]} */ (['clubs', 'diamonds', 'hearts', 'spades']);
/** As a hand is held: ♣ ♦ ♠ ♥. */
const HELD = /** @type {Suit[]} */ (['clubs', 'diamonds', 'spades', 'hearts']);

/** @param {Card} card @returns {Suit} */
export function suitOf(card) {
  return SUITS[Math.floor(card / 13)];
}

/** 1 ace … 13 king. @param {Card} card */
export function rankOf(card) {
  return (card % 13) + 1;
}

/** @param {number} rank @param {Suit} suit @returns {Card} */
export function cardOf(rank, suit) {
  return SUITS.indexOf(suit) * 13 + rank - 1;
}

/** Sorts cards as a hand is held, each suit from low to high, the ace highest. @param {readonly Card[]} cards */
export function asHeld(cards) {
  const place = (/** @type {Card} */ card) => HELD.indexOf(suitOf(card)) * 13 + ((card + 12) % 13);
  return [...cards].sort((a, b) => place(a) - place(b));
}

/** @param {Card} card */
export function faceOf(card) {
  return fanFace(rankOf(card), suitOf(card));
}

/** The same for a column, where the next card lies over the lower part. @param {Card} card */
export function columnFaceOf(card) {
  return cardFace(rankOf(card), suitOf(card));
}

/** "queen of spades". @param {import('../../i18n.js').I18n} i18n @param {Card} card */
export function nameOfCard({ t }, card) {
  return t('card.name', { rank: t(`rank.${rankOf(card)}`, { n: 1 }), suit: t(`suit.${suitOf(card)}`) });
}
