// Owns: how a playing card looks. Cards are vector drawings that fill the width given by the CSS
// property --card-width. Must not know: where a card lies or what it is for.

import { h, svg } from './dom.js';

/** @typedef {'hearts' | 'diamonds' | 'spades' | 'clubs'} Suit */

/** Suits as drawings in a box of 100 × 100. */
const SUITS = /** @type {Record<Suit, string>} */ ({
  hearts: 'M50 95C19 70 3 53 3 31 3 15 14 5 27 5c11 0 19 6 23 16C54 11 62 5 73 5c13 0 24 10 24 26 0 22-16 39-47 64z',
  diamonds: 'M50 2c9 17 22 34 36 48-14 14-27 31-36 48-9-17-22-34-36-48C28 36 41 19 50 2z',
  spades: 'M50 3c18 22 44 36 44 58 0 13-9 22-21 22-8 0-14-4-18-10 1 11 5 18 13 24H32c8-6 12-13 13-24-4 6-10 10-18 10C15 83 6 74 6 61 6 39 32 25 50 3z',
  clubs: 'M50 4a21 21 0 0 1 17 34 21 21 0 1 1-12 33c1 12 5 19 13 26H32c8-7 12-14 13-26a21 21 0 1 1-12-33A21 21 0 0 1 50 4z',
});

const RED = new Set(['hearts', 'diamonds']);

/** What is written in the corner, by rank (1 ace … 13 king). */
export const RANKS = ['', 'A', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K'];

/** The drawings of the court, over the large pip, in a box of 100 × 140. */
const CROWNS = /** @type {Record<number, string>} */ ({
  12: 'M36 79c-1-7-3-11-6-15 6 3 10 4 14 3 1-5 3-8 6-11 3 3 5 6 6 11 4 1 8 0 14-3-3 4-5 8-6 15-9-3-19-3-28 0z',
  13: 'M35 79 30 60l12 8 8-14 8 14 12-8-5 19c-10-3-20-3-30 0z',
});

const GOLD = { class: 'card-gold', fill: 'url(#shade-gold)' };
const LARGE = { x: 19, y: 65, width: 62, height: 62 };
const CROWNED = { x: 23, y: 76, width: 54, height: 54 };

/**
 * The symbols that cards refer to. To be put into the page once, before any card.
 * @returns {SVGSVGElement}
 */
export function artwork() {
  const shades = [
    ['red', '#e0293f', '#a90f2b'],
    ['black', '#3a3f4b', '#14161c'],
    ['gold', '#f0cf7c', '#b9852b'],
  ];
  return svg(
    'svg',
    { class: 'artwork', 'aria-hidden': 'true' },
    svg(
      'defs',
      null,
      shades.map(([name, light, dark]) =>
        svg(
          'linearGradient',
          { id: `shade-${name}`, x1: 0, y1: 0, x2: 0.35, y2: 1 },
          svg('stop', { offset: 0, 'stop-color': light }),
          svg('stop', { offset: 1, 'stop-color': dark }),
        ),
      ),
      Object.entries(SUITS).map(([suit, d]) =>
        svg(
          'symbol',
          { id: `suit-${suit}`, viewBox: '0 0 100 100' },
          svg('path', { d, fill: `url(#shade-${RED.has(suit) ? 'red' : 'black'})` }),
        ),
      ),
    ),
  );
}

/**
 * The outline of a suit, to be filled by the style sheet.
 * @param {Suit} suit
 * @param {string} [className]
 */
export function emblem(suit, className = 'emblem') {
  return svg('svg', { class: className, viewBox: '0 0 100 100', 'aria-hidden': 'true' }, svg('path', { d: SUITS[suit] }));
}

/**
 * A card, face up.
 * @param {number} rank 1 ace … 13 king
 * @param {Suit} [suit]
 */
export function cardFace(rank, suit = 'hearts') {
  return face(rank, suit, svg('use', { href: `#suit-${suit}`, x: 60, y: 12, width: 31, height: 31 }), drawing(rank, suit));
}

/**
 * The same with the suit below the rank, so that both are seen when another card lies over the right side.
 * @param {number} rank
 * @param {Suit} suit
 */
export function fanFace(rank, suit) {
  return face(rank, suit, svg('use', { href: `#suit-${suit}`, x: 9, y: 55, width: 29, height: 29 }), svg('g', { transform: 'translate(21 17) scale(.84)' }, drawing(rank, suit)));
}

/** @param {number} rank @param {Suit} suit @param {(Node | Node[])[]} drawings */
function face(rank, suit, ...drawings) {
  const tight = rank === 10 && { textLength: 47, lengthAdjust: 'spacingAndGlyphs' };
  return h(
    'span',
    { class: `card face ${RED.has(suit) ? 'red' : 'black'}`, 'aria-hidden': 'true' },
    svg(
      'svg',
      { viewBox: '0 0 100 140' },
      svg('text', { class: 'card-rank', x: rank === 10 ? 5 : 9, y: 46, ...tight }, RANKS[rank]),
      ...drawings,
    ),
  );
}

/** What is in the middle of a card. @param {number} rank @param {Suit} suit */
function drawing(rank, suit) {
  return [
    rank === 1 && svg('path', { class: 'card-halo', d: SUITS[suit], transform: 'translate(12 58) scale(.76)' }),
    svg('use', { href: `#suit-${suit}`, ...(CROWNS[rank] ? CROWNED : LARGE) }),
    !CROWNS[rank] && suit === 'hearts' && svg('path', { class: 'card-gleam', d: 'M28 83c0-7 5-11 11-11' }),
    court(rank),
  ].filter((part) => part instanceof Node);
}

/** @param {number} rank */
function court(rank) {
  if (rank === 11) {
    return svg(
      'g',
      { class: 'card-arrow' },
      svg('path', { d: 'M15 123 81 68M15 123l2-12M15 123l12 1M21 118l2-12M21 118l12 1' }),
      svg('path', { ...GOLD, d: 'M89 61 75 65l8 10z' }),
    );
  }
  if (!CROWNS[rank]) return null;
  const jewels = rank === 12 ? [[30, 63], [50, 55], [70, 63]] : [[30, 59], [50, 53], [70, 59]];
  return svg(
    'g',
    { class: 'card-crown' },
    svg('path', { ...GOLD, d: CROWNS[rank] }),
    jewels.map(([cx, cy]) => svg('circle', { ...GOLD, cx, cy, r: 3.2 })),
  );
}

/** A card, face down. */
export function cardBack() {
  return h('span', { class: 'card back', 'aria-hidden': 'true' });
}
