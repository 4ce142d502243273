// Owns: the feast after a won game: the heart comes together once more and beats, hearts rise.
// Must not know: anything of the game that was won.

import { cardFace } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { rise } from '../../ui/rise.js';
import { CARD_RATIO } from './layout.js';

const GATHER_MS = 700;
const STAGGER_MS = 22;

/** How long until the heart stands, in ms. */
export const GATHERED_MS = GATHER_MS + STAGGER_MS * 25;

/**
 * @param {HTMLElement} layer
 * @param {import('./layout.js').Layout} layout
 * @param {number} pace
 * @returns {HTMLElement | null} all of it, which may be taken elsewhere and goes on there
 */
export function celebrate(layer, layout, pace) {
  if (!pace) return null;
  const stage = h('div', { class: 'hh-feast', 'aria-hidden': 'true' });
  layer.append(stage);
  gather(stage, layout, pace);
  rise(stage, pace);
  return stage;
}

/**
 * @param {HTMLElement} stage
 * @param {import('./layout.js').Layout} layout
 * @param {number} pace
 */
function gather(stage, layout, pace) {
  const heart = h('div', { class: 'hh-feast-heart' });
  const { bounds, cardWidth } = layout;
  heart.style.transformOrigin = `${bounds.x + bounds.width / 2}px ${bounds.y + bounds.height / 2}px`;
  const radius = bounds.width + bounds.height;
  const center = { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 - (cardWidth * CARD_RATIO) / 2 };
  layout.heart.forEach(({ x, y }, i) => {
    const angle = i * 2.4;
    const from = { x: center.x + Math.cos(angle) * radius, y: center.y + Math.sin(angle) * radius };
    const card = h('span', { class: 'flying' }, cardFace((i % 13) + 1));
    heart.append(card);
    card.animate(
      [
        { transform: `translate(${from.x}px, ${from.y}px) rotate(${(i % 2 ? 1 : -1) * 320}deg) scale(.6)`, opacity: 0 },
        { transform: `translate(${x}px, ${y}px)`, opacity: 1 },
      ],
      { duration: GATHER_MS * pace, delay: i * STAGGER_MS * pace, easing: 'cubic-bezier(.2,.75,.2,1)', fill: 'both' },
    );
  });
  heart.animate(
    [
      { transform: 'scale(1)', offset: 0 },
      { transform: 'scale(1.05)', offset: 0.14 },
      { transform: 'scale(1)', offset: 0.28 },
      { transform: 'scale(1.035)', offset: 0.42 },
      { transform: 'scale(1)', offset: 0.6 },
      { transform: 'scale(1)', offset: 1 },
    ],
    { duration: 1150, delay: GATHERED_MS * pace, iterations: 6, easing: 'ease-in-out' },
  );
  stage.append(heart);
}
