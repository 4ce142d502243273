// Owns: where the cards of the heart, the stock and the discard lie on a board of a given size.
// Must not know: the page; it only calculates.

const ROWS = [4, 6, 5, 4, 3, 2, 1];
/** The left end of each row, in card widths (of spacing) from the left end of the widest. */
const WIDEST = 6;

/** A card's height, in widths. */
export const CARD_RATIO = 1.4;
/** From one card of a row to the next, in widths. */
const SPACING = 1.055;
/** From one row to the next, in heights: enough to read the rank, little enough to overlap. */
const NARROWEST_STEP = 0.5;
const WIDEST_STEP = 0.64;
const LARGEST_CARD = 200;
/** How far the piles may stand outside of the heart, in widths. */
const FARTHEST_PILE = 0.6;
/** On a high board: how much of the height left over is above the heart, and how much the piles go lower. */
const ABOVE = 0.4;
const LOWER = 0.3;

/** @typedef {{ x: number, y: number }} Point the top left corner of a card, in pixels of the board */
/** @typedef {{ cardWidth: number, heart: Point[], stock: Point, discard: Point, bounds: { x: number, y: number, width: number, height: number } }} Layout */

/** The row (1 … 7) of a place (1 … 25). @param {number} place */
export function rowOf(place) {
  let row = 0;
  for (let last = 0; last < place; row++) last += ROWS[row];
  return row;
}

/** Each place's left edge in spacings and its row, counted from 0. */
const SPOTS = ROWS.flatMap((length, row) =>
  Array.from({ length }, (_, i) => {
    const lobes = row === 0;
    const left = lobes ? 0.5 + i + (i >= length / 2 ? 1 : 0) : (WIDEST - length) / 2 + i;
    return { left, row };
  }),
);

/**
 * @param {number} width of the board
 * @param {number} height
 * @returns {Layout}
 */
export function layout(width, height) {
  const across = (WIDEST - 1) * SPACING + 1;
  const down = (/** @type {number} */ step) => (ROWS.length - 1) * step + 1;
  const cardWidth = Math.floor(Math.min(width / across, height / (CARD_RATIO * down(NARROWEST_STEP)), LARGEST_CARD));
  const cardHeight = cardWidth * CARD_RATIO;
  const step = cardHeight * Math.min(WIDEST_STEP, (height / cardHeight - 1) / (ROWS.length - 1));
  const bounds = { width: across * cardWidth, height: step * (ROWS.length - 1) + cardHeight, x: 0, y: 0 };
  bounds.x = (width - bounds.width) / 2;
  const spare = height - bounds.height;
  bounds.y = spare * ABOVE;

  const heart = SPOTS.map(({ left, row }) => ({
    x: Math.round(bounds.x + left * SPACING * cardWidth),
    y: Math.round(bounds.y + row * step),
  }));
  // The corners beside the tip are empty: the piles stand there, farther out where there is room.
  const outside = Math.min(bounds.x, FARTHEST_PILE * cardWidth) - 0.12 * cardWidth;
  const pileY = Math.round(bounds.y + bounds.height - cardHeight + spare * LOWER);
  return {
    cardWidth,
    heart,
    stock: { x: Math.round(bounds.x - outside), y: pileY },
    discard: { x: Math.round(bounds.x + bounds.width + outside - cardWidth), y: pileY },
    bounds,
  };
}

/** Farther than anything on a board. */
const FAR = 1e6;

/**
 * Which of some points comes next in a direction: the nearest of the quarter that lies there, or else of
 * the half. In this way any point can be reached from any other.
 * @param {Point} from
 * @param {[x: number, y: number]} direction a unit along one axis
 * @param {Iterable<[place: number, point: Point]>} candidates
 * @returns {number | null} its place
 */
export function nextTowards(from, [dx, dy], candidates) {
  return nearest(from, candidates, (x, y) => {
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy - y * dx);
    if (ahead <= 0) return Infinity;
    return Math.hypot(ahead, aside) + (ahead < aside ? FAR : 0);
  });
}

/**
 * @param {Point} from
 * @param {Iterable<[place: number, point: Point]>} candidates
 * @param {(x: number, y: number) => number} [cost] of a point so far away
 * @returns {number | null} the place of the cheapest
 */
export function nearest(from, candidates, cost = Math.hypot) {
  let best = /** @type {number | null} */ (null);
  let least = Infinity;
  for (const [place, { x, y }] of candidates) {
    const its = cost(x - from.x, y - from.y);
    if (its < least) [best, least] = [place, its];
  }
  return best;
}
