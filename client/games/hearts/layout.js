// Owns: how large the cards are on a table of a given size, and where those of the hand and of the trick lie.
// Must not know: the page; it only calculates.

/** @typedef {{ x: number, y: number }} Point the top left corner of a card, in pixels */
/**
 * @typedef {object} SideLayout of a hand face up at the side of the table
 * @property {number} perRow 1: a column
 * @property {number} step from one row to the next, in pixels
 * @property {boolean} fits whether all of every rank and suit is seen
 */
/** @typedef {{ card: number, fan: number, rows: 1 | 2, handHeight: number }} Sizes widths of the hand's and of the others' cards */

/** A card's height, in widths. */
export const CARD_RATIO = 1.4;
const MARGIN = 6;
const LARGEST_CARD = 176;
/** Of the height of the table. */
const CARD_HEIGHT = 0.215;
/** With less of thirteen cards in one row to be seen than this, in pixels, they need two. */
const NARROWEST = 30;
const TWO_ROWS_HEIGHT = 300;
/** How much of a card is seen beside the next one, in widths: at least, with thirteen in the hand; and at most. */
const SEEN = { 1: 0.42, 2: 0.66 };
const SEEN_AT_MOST = 0.74;
/** How much of the back row is seen above the front row, in widths. */
const BACK_ROW = 0.86;
const LONGEST_ROW = 8;
const HAND = 13;
/** How much of a card is seen above the next one of a column, in widths: at most, and at least, so that its rank is. */
const COLUMN_STEP = 0.5;
const COLUMN_LEAST = 0.46;
/** How much of a card in a row at the side is seen beside the next one, in widths. */
const SIDE_ROW_SEEN = 0.5;
/** From the middle of the trick to the middle of its cards, in widths. */
const TRICK_X = 0.86;
const TRICK_Y = 0.56;

/**
 * @param {number} width of the table
 * @param {number} height
 * @returns {Sizes}
 */
export function sizes(width, height) {
  const one = cardFor(width, height, 1);
  const rows = (width - 2 * MARGIN - one) / 12 < NARROWEST && height >= TWO_ROWS_HEIGHT ? 2 : 1;
  const card = rows === 1 ? one : cardFor(width, height, 2);
  return {
    card,
    fan: Math.max(20, Math.round(card * 0.42)),
    rows,
    handHeight: Math.round(card * (CARD_RATIO + (rows === 2 ? BACK_ROW : 0))),
  };
}

/** @param {number} width @param {number} height @param {1 | 2} rows */
function cardFor(width, height, rows) {
  const inRow = rows === 2 ? 7 : 13;
  const fits = (width - 2 * MARGIN) / (1 + (inRow - 1) * SEEN[rows]);
  return Math.floor(Math.min(LARGEST_CARD, (height * CARD_HEIGHT) / CARD_RATIO, fits));
}

/**
 * Where the cards of the hand lie, from its top left corner.
 * @param {number[]} suits of the cards in their order: rows break between suits where they can
 * @param {number} width of the hand
 * @param {Sizes} sizes
 * @returns {Point[]}
 */
export function handSpots(suits, width, { card, rows }) {
  const n = suits.length;
  const back = rows === 2 && n > 7 ? breakAt(suits) : 0;
  const front = rows === 2 ? Math.round(card * BACK_ROW) : 0;
  return [...row(back, width, card).map((x) => ({ x, y: 0 })), ...row(n - back, width, card).map((x) => ({ x, y: front }))];
}

/** How many cards go into the back row. @param {number[]} suits */
function breakAt(suits) {
  const n = suits.length;
  const ends = suits.map((_, i) => i).filter((i) => i >= n - LONGEST_ROW && i <= LONGEST_ROW && suits[i] !== suits[i - 1]);
  const middle = n / 2;
  return ends.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0] ?? Math.ceil(middle);
}

/** @param {number} n @param {number} width @param {number} card */
function row(n, width, card) {
  const room = width - 2 * MARGIN - card;
  const step = n > 1 ? Math.min(card * SEEN_AT_MOST, room / (n - 1)) : 0;
  const left = (width - card - step * (n - 1)) / 2;
  return Array.from({ length: n }, (_, i) => Math.round(left + i * step));
}

/**
 * How a whole hand lies face up at a side: in a column, or in rows where that would be too low. It stays like that as
 * cards are played.
 * @param {number} width
 * @param {number} height
 * @param {number} card the width of one
 * @returns {SideLayout}
 */
export function sideLayout(width, height, card) {
  const room = height - card * CARD_RATIO;
  const column = room / (HAND - 1);
  if (column >= card * COLUMN_LEAST) return { perRow: 1, step: Math.min(card * COLUMN_STEP, column), fits: true };
  const most = Math.max(2, 1 + Math.floor((width - card) / (card * SIDE_ROW_SEEN)));
  const rows = Math.ceil(HAND / most);
  const wanted = card * BACK_ROW;
  const step = Math.max(0, Math.min(wanted, room / Math.max(1, rows - 1)));
  return { perRow: Math.ceil(HAND / rows), step, fits: room >= wanted * (rows - 1) };
}

/**
 * The width of the trick's cards on a felt of this size.
 * @param {number} width
 * @param {number} height
 * @param {number} card the hand's
 */
export function trickCard(width, height, card) {
  return Math.floor(Math.max(34, Math.min(card * 1.1, width / (1 + 2 * TRICK_X), height / (CARD_RATIO + 2 * TRICK_Y))));
}

/**
 * Where the four cards of a trick lie, from the felt's top left corner: one's own, left, across, right.
 * @param {number} width
 * @param {number} height
 * @param {number} card the trick's
 * @returns {Point[]}
 */
export function trickSpots(width, height, card) {
  const middle = { x: (width - card) / 2, y: (height - card * CARD_RATIO) / 2 };
  const places = [[0, TRICK_Y], [-TRICK_X, 0], [0, -TRICK_Y], [TRICK_X, 0]];
  return places.map(([dx, dy]) => ({ x: Math.round(middle.x + dx * card), y: Math.round(middle.y + dy * card) }));
}
