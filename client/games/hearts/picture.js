// Owns: small still pictures of the game, for the front page and the rules.

import { cardBack } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { cardOf, faceOf } from './cards.js';

/** @typedef {import('./view.js').Card} Card */

/** A hand to be looked at on the front page, the last card in front. */
const SHOWN = [cardOf(2, 'clubs'), cardOf(11, 'diamonds'), cardOf(1, 'spades'), cardOf(12, 'spades'), cardOf(9, 'hearts'), cardOf(13, 'hearts'), cardOf(1, 'hearts')];
const SPREAD = 72;

/** A fan of cards, as wide as what it stands in. */
export function heartsPicture() {
  const cards = SHOWN.map((card, i) => {
    const spot = h('span', { class: 'spot-turned' }, h('span', { class: 'spot' }, faceOf(card)));
    spot.style.transform = `rotate(${(i / (SHOWN.length - 1) - 0.5) * SPREAD}deg)`;
    return spot;
  });
  return h('div', { class: 'hearts-picture', 'aria-hidden': 'true' }, h('div', { class: 'hearts-picture-cards' }, cards));
}

/**
 * A few cards beside each other.
 * @param {...(Card | 'back' | '→')} cards or a sign between them
 */
export function rowPicture(...cards) {
  return h(
    'div',
    { class: 'hearts-row', 'aria-hidden': 'true' },
    cards.map((card) => {
      if (card === 'back') return cardBack();
      return typeof card === 'number' ? faceOf(card) : h('span', { class: 'hearts-sign' }, card);
    }),
  );
}
