// Owns: small still pictures of the game, for the front page and the rules.

import { cardBack, cardFace } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { layout } from './layout.js';

/** A fixed deal that shows every rank. */
export const SHOWN = [10, 3, 12, 7, 2, 9, 13, 5, 1, 8, 11, 6, 4, 13, 2, 1, 12, 9, 10, 3, 11, 7, 5, 6, 4];

const UNIT = 100;

/**
 * The heart, as wide as what it stands in.
 * @param {object} [what]
 * @param {number[]} [what.ranks] by place, 0: empty
 * @param {number[]} [what.free] the places to show as free
 * @param {number[]} [what.ringed]
 */
export function heartPicture({ ranks = SHOWN, free = [25], ringed = [] } = {}) {
  const { cardWidth, heart, bounds } = layout(UNIT * 6.275, UNIT * 6.3);
  const cards = ranks.map((rank, i) => {
    if (!rank) return null;
    const place = i + 1;
    const spot = h(
      'span',
      { class: 'spot card', 'data-state': free.includes(place) ? 'free' : 'covered', 'data-ring': ringed.includes(place) },
      cardFace(rank),
    );
    spot.style.left = `calc(var(--card-width) * ${(heart[i].x - bounds.x) / cardWidth})`;
    spot.style.top = `calc(var(--card-width) * ${(heart[i].y - bounds.y) / cardWidth})`;
    return spot;
  });
  const picture = h('div', { class: 'hh-picture', 'aria-hidden': 'true' }, h('div', { class: 'hh-picture-cards' }, cards));
  picture.style.setProperty('--ratio', String(bounds.width / bounds.height));
  return picture;
}

/**
 * A few cards beside each other.
 * @param {...(number | 'back' | '=' | '→')} cards ranks, a card face down, or a sign between cards
 */
export function rowPicture(...cards) {
  return h(
    'div',
    { class: 'hh-row', 'aria-hidden': 'true' },
    cards.map((card) => {
      if (card === 'back') return cardBack();
      return typeof card === 'number' ? cardFace(card) : h('span', { class: 'hh-sign' }, card);
    }),
  );
}
