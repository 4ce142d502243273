// Owns: the feast after a won game: the heart comes together once more and beats, hearts rise.
// Must not know: anything of the game that was won.

import { cardFace, emblem } from '../../ui/card.js';
import { h } from '../../ui/dom.js';
import { CARD_RATIO } from './layout.js';

const GATHER_MS = 700;
const STAGGER_MS = 22;
const RISING = 34;
const RISE_MS = 4200;

/** How long until the heart stands, in ms. */
export const GATHERED_MS = GATHER_MS + STAGGER_MS * 25;

/**
 * @param {HTMLElement} layer
 * @param {import('./layout.js').Layout} layout
 * @param {number} pace
 * @returns {() => void} ends it
 */
export function celebrate(layer, layout, pace) {
  if (!pace) return () => {};
  const stage = h('div', { class: 'hh-feast', 'aria-hidden': 'true' });
  layer.append(stage);
  gather(stage, layout, pace);
  rise(stage, layer.clientWidth, layer.clientHeight);
  return () => stage.remove();
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

/** @param {HTMLElement} stage @param {number} width @param {number} height */
function rise(stage, width, height) {
  for (let i = 0; i < RISING; i++) {
    const size = 14 + Math.random() * 34;
    const heart = h('span', { class: i % 4 ? 'hh-riser' : 'hh-riser gold' }, emblem('hearts'));
    heart.style.width = `${size}px`;
    const x = Math.random() * width;
    const sway = (Math.random() - 0.5) * 140;
    const spin = (Math.random() - 0.5) * 70;
    heart.animate(
      [
        { transform: `translate(${x}px, ${height + size}px) rotate(${-spin}deg)`, opacity: 0 },
        { opacity: 0.9, offset: 0.12 },
        { transform: `translate(${x + sway}px, ${height * 0.4}px) rotate(${spin}deg)`, opacity: 0.9, offset: 0.6 },
        { transform: `translate(${x - sway * 0.4}px, ${-size * 2}px) rotate(${-spin}deg)`, opacity: 0 },
      ],
      { duration: RISE_MS * (0.75 + Math.random() * 0.7), delay: Math.random() * 2600, easing: 'linear', fill: 'both' },
    );
    stage.append(heart);
  }
}
