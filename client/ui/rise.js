// Owns: hearts that rise over a table when somebody has won.
// Must not know: any game.

import { emblem } from './card.js';
import { h } from './dom.js';

const HEARTS = 34;
const RISE_MS = 4200;

/**
 * @param {HTMLElement} layer
 * @param {number} pace factor on the duration, 0: nothing rises
 * @returns {HTMLElement | null} all of it, which may be taken elsewhere and goes on there
 */
export function rise(layer, pace) {
  if (!pace) return null;
  const stage = h('div', { class: 'rising', 'aria-hidden': 'true' });
  for (let i = 0; i < HEARTS; i++) stage.append(riser(i, layer.clientWidth, layer.clientHeight));
  layer.append(stage);
  return stage;
}

/** @param {number} i @param {number} width @param {number} height */
function riser(i, width, height) {
  const size = 14 + Math.random() * 34;
  const heart = h('span', { class: i % 4 ? 'riser' : 'riser gold' }, emblem('hearts'));
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
  return heart;
}
