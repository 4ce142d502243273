// Owns: reading a view of Heart to Heart (docs/protocol.md), and naming what changed between two.
// Must not know: the rules. Whether a card is free comes with the view.

/** @typedef {import('../../wire.js').View} View */

export const PLACES = 25;
/** In an action, the top of the discard. */
export const DISCARD = 0;
/** Where taps go that are no card's. */
export const STOCK = -1;

const FREE = 16;
const FIELD = { stock: 25, discard: 26, top: 27, moves: 28, score: 29, undos: 30, status: 31, canUndo: 32, code: 33 };

export const STATUS = /** @type {const} */ (['play', 'stuck', 'won']);

/**
 * @typedef {object} Spread a view, spread out
 * @property {(place: number) => number} rank of the card at a place (1 … 25, or DISCARD), 0 if there is none
 * @property {(place: number) => boolean} free whether it can be played
 * @property {number} stock
 * @property {number} discard
 * @property {number} moves
 * @property {number} counted moves and undos, which never goes down
 * @property {number} score
 * @property {number} undos
 * @property {typeof STATUS[number]} status
 * @property {boolean} canUndo
 * @property {string} code
 */

/** @param {View} view @returns {Spread} */
export function spread(view) {
  const value = (/** @type {number} */ place) => view[place - 1];
  return {
    rank: (place) => (place === DISCARD ? view[FIELD.top] : value(place) % FREE),
    free: (place) => (place === DISCARD ? view[FIELD.top] > 0 : value(place) > FREE),
    stock: view[FIELD.stock],
    discard: view[FIELD.discard],
    moves: view[FIELD.moves],
    counted: view[FIELD.moves] + 2 * view[FIELD.undos],
    score: view[FIELD.score],
    undos: view[FIELD.undos],
    status: STATUS[view[FIELD.status]],
    canUndo: view[FIELD.canUndo] === 1,
    code: view[FIELD.code],
  };
}

/** Every place of the heart, in order. */
export const places = Array.from({ length: PLACES }, (_, i) => i + 1);

/**
 * @typedef {object} Change what happened from one view to another, as seen on the table
 * @property {'draw' | 'undraw' | 'recycle' | 'unrecycle' | 'pair' | 'unpair' | 'none' | 'other'} kind
 *   the un-kinds: the same the other way round
 * @property {number[]} cards the places whose card went or came, DISCARD among them
 * @property {number} rank of the card drawn or the pair, else 0
 */

/**
 * @param {View} before
 * @param {View} after
 * @returns {Change}
 */
export function change(before, after) {
  const [a, b] = [spread(before), spread(after)];
  const gone = places.filter((place) => a.rank(place) && !b.rank(place));
  const come = places.filter((place) => !a.rank(place) && b.rank(place));
  const stock = b.stock - a.stock;
  const discard = b.discard - a.discard;
  const fromDiscard = (/** @type {number[]} */ list) => (discard ? [...list, DISCARD] : list);
  /** @type {(kind: Change['kind'], cards?: number[], rank?: number) => Change} */
  const made = (kind, cards = [], rank = 0) => ({ kind, cards, rank });

  if (!stock && gone.length && !come.length && gone.length - discard === 2) return made('pair', fromDiscard(gone), a.rank(gone[0]));
  if (!stock && come.length && !gone.length && come.length + discard === 2) return made('unpair', fromDiscard(come), b.rank(come[0]));
  if (gone.length || come.length || stock !== -discard) return made('other');
  if (!stock) return made('none');
  const undone = b.undos > a.undos;
  if (stock === -1 && !(undone && a.discard === 0)) return made('draw', [DISCARD], b.rank(DISCARD));
  if (stock === 1 && !(b.discard === 0 && a.stock === 0 && !undone)) return made('undraw', [DISCARD], a.rank(DISCARD));
  if (a.stock === 0 && b.discard === 0) return made('recycle');
  if (b.stock === 0 && a.discard === 0) return made('unrecycle');
  return made('other');
}
