// Owns: the player's own hand on the screen: where its cards lie, the keyboard's place in it, how each card
// looks. Must not know: the rules, actions. What a tap means is the table's affair.

import { h, set } from '../../ui/dom.js';
import { faceOf, nameOfCard } from './cards.js';
import { handSpots } from './layout.js';

/** @typedef {import('./view.js').Card} Card */
/** @typedef {import('./layout.js').Point} Point */

/**
 * @typedef {object} HandLook
 * @property {Card[]} cards in their order
 * @property {'play' | 'pass' | 'rest'} mode
 * @property {ReadonlySet<Card>} legal in `play`: those that may be played
 * @property {string} why in `play`: the text of why the others may not
 * @property {ReadonlySet<Card>} chosen selected, or given away
 * @property {ReadonlySet<Card>} fresh just received
 * @property {ReadonlySet<Card>} going what is done with them is under way
 */

const DEAL_MS = 380;
const DEAL_STAGGER_MS = 32;
const SHAKE = [0, -5, 5, -4, 4, -2, 0].map((x) => ({ translate: `${x}px 0` }));

export class Hand {
  #i18n;
  #tap;
  /** @type {Map<Card, HTMLElement>} in the order of the hand */
  #elements = new Map();
  /** Where each card lies, or lay last. @type {Map<Card, Point>} */
  #points = new Map();
  /** @type {Card | null} the keyboard's place */
  #cursor = null;
  /** @type {HandLook | null} */
  #look = null;
  #sizes = { card: 60, fan: 24, rows: /** @type {1 | 2} */ (1), handHeight: 84 };
  #interactive;
  element;

  /**
   * @param {import('../../i18n.js').I18n} i18n
   * @param {((card: Card) => void) | null} tap null: the cards are only looked at
   * @param {Card | null} [cursor] where the keyboard is
   */
  constructor(i18n, tap, cursor = null) {
    this.#i18n = i18n;
    this.#cursor = cursor;
    this.#interactive = tap !== null;
    this.#tap = tap ?? (() => {});
    this.element = h('div', { class: 'hand', role: 'group', 'data-role': 'hand', 'aria-label': i18n.t('hearts.hand') });
  }

  /** @param {HandLook} look */
  show(look) {
    const same = this.#look && String(this.#look.cards) === String(look.cards);
    this.#look = look;
    if (!same) this.#change(look.cards);
    for (const card of look.cards) this.#paint(card, look);
    set(this.element, { 'data-mode': look.mode });
    this.#toLegal(look);
    this.#keepCursor();
  }

  /** @param {import('./layout.js').Sizes} sizes */
  resize(sizes) {
    this.#sizes = sizes;
    this.#arrange();
  }

  /** Where a card lies in the hand, or lay last, from the hand's corner. @param {Card} card @returns {Point | undefined} */
  pointOf(card) {
    return this.#points.get(card);
  }

  /** Hides cards that are still in the air. @param {Card} card @param {boolean} held */
  hold(card, held) {
    const element = this.#elements.get(card);
    if (element) set(element, { 'data-held': held });
  }

  /** The cards come in one by one. @param {number} pace */
  deal(pace) {
    if (!pace) return;
    [...this.#elements.values()].forEach((element, i) =>
      element.firstElementChild?.animate([{ transform: 'translateY(-130%) rotate(-14deg)', opacity: 0 }, { transform: 'none', opacity: 1 }], {
        duration: DEAL_MS * pace,
        delay: i * DEAL_STAGGER_MS * pace,
        easing: 'cubic-bezier(.2,.8,.25,1)',
        fill: 'backwards',
      }),
    );
  }

  /** A card says no. @param {Card} card @param {number} pace */
  shake(card, pace) {
    if (pace) this.#elements.get(card)?.firstElementChild?.animate(SHAKE, { duration: 280 });
  }

  /** Takes the keyboard to the hand. */
  focus() {
    const at = this.#cursor === null ? undefined : this.#elements.get(this.#cursor);
    at?.focus();
    return at !== undefined;
  }

  /** The keyboard's place. */
  get cursor() {
    return this.#cursor;
  }

  get focused() {
    return this.element.contains(document.activeElement);
  }

  /** @param {-1 | 1 | 'first' | 'last'} to */
  move(to) {
    if (!this.focused) return this.focus();
    const cards = [...this.#elements.keys()];
    const at = cards.indexOf(/** @type {Card} */ (this.#cursor));
    const next = to === 'first' ? 0 : to === 'last' ? cards.length - 1 : (at + to + cards.length) % cards.length;
    this.#setCursor(cards[next]);
    return this.focus();
  }

  // ---- inside

  /** Who comes to the hand by keyboard comes to a card that can be played. @param {HandLook} look */
  #toLegal({ mode, legal, cards }) {
    if (mode !== 'play' || this.focused || this.#cursor === null || legal.has(this.#cursor)) return;
    const first = cards.find((card) => legal.has(card));
    if (first !== undefined) this.#setCursor(first);
  }

  /** @param {Card[]} cards */
  #change(cards) {
    const had = this.focused;
    const old = [...this.#elements.keys()];
    const at = old.indexOf(/** @type {Card} */ (this.#cursor));
    for (const card of old) {
      if (cards.includes(card)) continue;
      this.#elements.get(card)?.remove();
      this.#elements.delete(card);
    }
    const elements = cards.map((card) => this.#elements.get(card) ?? this.#build(card));
    // Elements that stay are not moved in the page: the focus and what is under way would be lost.
    elements.forEach((element, i) => {
      if (this.element.children[i] !== element) this.element.insertBefore(element, this.element.children[i] ?? null);
    });
    this.#elements = new Map(cards.map((card, i) => [card, elements[i]]));
    if (this.#cursor === null || !cards.includes(this.#cursor)) this.#cursor = cards[Math.max(0, Math.min(at, cards.length - 1))] ?? null;
    this.#arrange();
    if (had) this.focus();
  }

  /** @param {Card} card */
  #build(card) {
    const attributes = { class: 'held-card', 'data-card': card };
    if (!this.#interactive) return h('span', { ...attributes, role: 'img', 'aria-label': nameOfCard(this.#i18n, card) }, faceOf(card));
    return h('button', { ...attributes, type: 'button', tabindex: -1, onclick: () => this.#tap(card), onfocus: () => this.#setCursor(card) }, faceOf(card));
  }

  #arrange() {
    const cards = [...this.#elements.keys()];
    const spots = handSpots(cards.map((card) => Math.floor(card / 13)), this.element.clientWidth, this.#sizes);
    cards.forEach((card, i) => {
      const { x, y } = spots[i];
      this.#points.set(card, { x, y });
      const element = /** @type {HTMLElement} */ (this.#elements.get(card));
      element.style.transform = `translate(${x}px, ${y}px)`;
    });
  }

  /** @param {Card} card @param {HandLook} look */
  #paint(card, { mode, legal, why, chosen, fresh, going }) {
    const { t, capitalized } = this.#i18n;
    const element = /** @type {HTMLElement} */ (this.#elements.get(card));
    const refused = mode === 'play' && !legal.has(card);
    set(element, {
      'data-legal': mode === 'play' ? String(!refused) : null,
      'data-chosen': chosen.has(card),
      'data-fresh': fresh.has(card),
      'data-going': going.has(card),
    });
    if (!this.#interactive) return;
    const more = [refused && why, fresh.has(card) && t('hearts.fresh')].filter(Boolean);
    set(element, {
      'aria-disabled': refused || mode === 'rest' ? 'true' : null,
      'aria-pressed': mode === 'pass' ? String(chosen.has(card)) : null,
      'aria-label': [capitalized(nameOfCard(this.#i18n, card)), ...more].join(' – '),
    });
  }

  /** @param {Card} card */
  #setCursor(card) {
    const old = this.#cursor === null ? undefined : this.#elements.get(this.#cursor);
    if (old && this.#cursor !== card) old.tabIndex = -1;
    this.#cursor = card;
    this.#keepCursor();
  }

  #keepCursor() {
    if (!this.#interactive || this.#cursor === null) return;
    const element = this.#elements.get(this.#cursor);
    if (element) element.tabIndex = 0;
  }
}
