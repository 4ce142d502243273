// Owns: cards in the air: copies that fly over the table from where a card was to where it is now,
// while the table itself already shows the new state and takes input.
// Must not know: why they fly.

import { h } from './dom.js';

/**
 * @typedef {object} Waypoint in pixels of the layer, for the card's top left corner
 * @property {number} x
 * @property {number} y
 * @property {number} [scale]
 * @property {number} [rotate] degrees
 * @property {number} [opacity]
 * @property {number} [offset] 0 … 1, when
 * @property {string} [easing] from here to the next
 */

/**
 * @typedef {object} Flight
 * @property {Element} card what is seen at the start
 * @property {Element} [turned] the other side, if it turns over on the way
 * @property {Waypoint[]} path
 * @property {number} ms
 * @property {number} [delay] ms
 * @property {string} [over] flights of the same name end when this one begins
 * @property {() => void} [landed] called once, also when the flight is cut short
 */

const EASING = 'cubic-bezier(.3,.7,.25,1)';
/** With so many cards in the air already, the player is faster than the cards. */
const BUSY = 4;

export class Flights {
  #layer;
  #pace;
  /** @type {Set<{ over: string | undefined, end: () => void, animation: Animation }>} */
  #aloft = new Set();

  /**
   * @param {HTMLElement} layer
   * @param {() => number} pace factor on every duration; 0: nothing flies
   */
  constructor(layer, pace) {
    this.#layer = layer;
    this.#pace = pace;
  }

  /** @param {Flight} flight */
  start({ card, turned, path, ms, delay = 0, over, landed }) {
    if (over) this.end(over);
    const pace = this.#pace() * (this.#aloft.size >= BUSY && !delay ? 0.5 : 1);
    if (!pace) return landed?.();
    const timing = { duration: ms * pace, delay: delay * pace, easing: EASING, fill: /** @type {const} */ ('both') };
    const rotor = h('span', { class: 'rotor' }, card, turned);
    const ghost = h('span', { class: 'flying', 'aria-hidden': 'true' }, rotor);
    this.#layer.append(ghost);
    if (turned) {
      turned.classList.add('reverse');
      rotor.animate([{ transform: 'rotateY(0)' }, { transform: 'rotateY(180deg)' }], timing);
    }
    const animation = ghost.animate(path.map(keyframe), timing);
    const entry = { over, animation, end: () => {} };
    entry.end = () => {
      if (!this.#aloft.delete(entry)) return;
      animation.onfinish = null;
      ghost.remove();
      landed?.();
    };
    animation.onfinish = entry.end;
    this.#aloft.add(entry);
  }

  /**
   * Ends flights at once; their cards are where they were going.
   * @param {string} [over] only those of this name
   */
  end(over) {
    for (const flight of [...this.#aloft]) if (!over || flight.over === over) flight.end();
  }
}

/** @param {Waypoint} point @returns {Keyframe} */
function keyframe({ x, y, scale = 1, rotate = 0, opacity = 1, offset, easing }) {
  return {
    transform: `translate(${x}px, ${y}px) rotate(${rotate}deg) scale(${scale})`,
    opacity,
    ...(offset !== undefined && { offset }),
    ...(easing && { easing }),
  };
}

/** Whether this person has asked the system for less motion. */
export function calm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
