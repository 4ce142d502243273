// Owns: the middle of the table: the cards of a trick and their marks, the sign of broken hearts.
// Must not know: the hand, the seats, actions, or when anything is to be shown.

import { emblem } from '../../ui/card.js';
import { h, set, svg } from '../../ui/dom.js';
import { faceOf, nameOfCard } from './cards.js';
import { trickCard, trickSpots } from './layout.js';
import { playerOf } from './view.js';

/** @typedef {import('./view.js').Card} Card */
/** @typedef {import('./view.js').Trick} Trick */

/** How the card of each place lies, in degrees. */
const TILT = [-2, 5, 3, -4];

const HALVES = [
  'M50 95C19 70 3 53 3 31 3 15 14 5 27 5c11 0 19 6 23 16l-7 15 12 13-9 15 8 12z',
  'M50 95C81 70 97 53 97 31 97 15 86 5 73 5c-11 0-19 6-23 16l-7 15 12 13-9 15 8 12z',
];

export class Middle {
  #i18n;
  #place;
  #trick = h('div', { class: 'trick', role: 'group', 'data-role': 'trick' });
  #broken;
  /** @type {Map<Card, HTMLElement>} */
  #cards = new Map();
  #spots = trickSpots(200, 200, 50);
  /** The width of the trick's cards. */
  card = 50;
  element;

  /**
   * @param {import('../../i18n.js').I18n} i18n
   * @param {(seat: number) => number} place of a seat: 0 one's own, 1 left, 2 across, 3 right
   */
  constructor(i18n, place) {
    this.#i18n = i18n;
    this.#place = place;
    this.#trick.setAttribute('aria-label', i18n.t('hearts.trick'));
    this.#broken = h(
      'div',
      { class: 'broken-sign', role: 'img', 'data-role': 'broken', 'data-broken': 'false' },
      svg('svg', { class: 'broken-heart', viewBox: '0 0 100 100', 'aria-hidden': 'true' }, HALVES.map((d, i) => svg('path', { class: i ? 'half right' : 'half left', d }))),
      emblem('hearts', 'whole-heart'),
    );
    this.element = h('div', { class: 'felt' }, this.#broken, this.#trick);
  }

  /** @param {number} handCard the width of the hand's cards */
  resize(handCard) {
    const { clientWidth, clientHeight } = this.element;
    this.card = trickCard(clientWidth, clientHeight, handCard);
    this.#spots = trickSpots(clientWidth, clientHeight, this.card);
    this.#trick.style.setProperty('--card-width', `${this.card}px`);
    for (const element of this.#cards.values()) this.#lay(element);
  }

  /** Where the card of a seat lies, from the felt's corner. @param {number} seat */
  spot(seat) {
    return { ...this.#spots[this.#place(seat)], rotate: TILT[this.#place(seat)] };
  }

  /**
   * @param {Trick | null} trick
   * @param {(seat: number) => string} name
   */
  show(trick, name) {
    const cards = trick?.cards ?? [];
    for (const [card, element] of this.#cards) {
      if (cards.includes(card)) continue;
      element.remove();
      this.#cards.delete(card);
    }
    if (trick) cards.forEach((card, k) => this.#showCard(trick, card, k, name));
  }

  /** @param {Card} card @param {boolean} held still in the air */
  hold(card, held) {
    const element = this.#cards.get(card);
    if (element) set(element, { 'data-held': held });
  }

  /** @param {boolean} broken @param {boolean} now whether it has just happened */
  showBroken(broken, now) {
    set(this.#broken, { 'data-broken': String(broken), 'aria-label': this.#i18n.t(broken ? 'hearts.broken' : 'hearts.unbroken') });
    if (now) set(this.#broken, { 'data-now': true });
    else if (!broken) set(this.#broken, { 'data-now': null });
  }

  /** @param {Trick} trick @param {Card} card @param {number} k @param {(seat: number) => string} name */
  #showCard(trick, card, k, name) {
    const { t } = this.#i18n;
    const seat = playerOf(trick, k);
    const [led, winning] = [k === 0, seat === trick.winner];
    let element = this.#cards.get(card);
    if (!element) {
      element = h('span', { class: 'played', role: 'img', 'data-seat': seat, 'data-card': card }, faceOf(card), h('span', { class: 'led-mark', 'aria-hidden': 'true' }));
      this.#cards.set(card, element);
      this.#trick.append(element);
      this.#lay(element);
    }
    const marks = [led && t('hearts.led'), winning && t(trick.cards.length === 4 ? 'hearts.takes' : 'hearts.winning')].filter(Boolean);
    set(element, { 'data-led': led, 'data-winning': winning, 'aria-label': [t('hearts.playedBy', { name: name(seat), card: nameOfCard(this.#i18n, card) }), ...marks].join(', ') });
    const mark = /** @type {Element} */ (element.lastElementChild);
    mark.textContent = led ? t('hearts.led') : '';
  }

  /** @param {HTMLElement} element */
  #lay(element) {
    const { x, y, rotate } = this.spot(Number(element.dataset.seat));
    element.style.transform = `translate(${x}px, ${y}px) rotate(${rotate}deg)`;
  }
}
