// The two games as far as the load plays them, for both peers: Heart to Heart's draw and recycle, and a hand of
// Hearts from the first lead to the score. Pure, and blind to what holds the state: plain objects, Immer's drafts
// and Colyseus' schemas all have the fields and the lists used here.

/**
 * What everybody sees of Heart to Heart.
 * @typedef {{ stock: number, discard: number, top: number, moves: number }} Shown
 */

/**
 * Cards in a row. A card is suit × 13 + rank − 1: ♣, ♦, ♥, ♠; ace 1.
 * @typedef {ArrayLike<number> & Iterable<number> & {
 *   indexOf(card: number): number, push(card: number): number, splice(at: number, n: number): unknown
 * }} Cards
 */

/**
 * What everybody sees of Hearts. A trick that was taken lies until the next lead.
 * @typedef {object} Table
 * @property {number} turn the seat that is to play
 * @property {number} leader
 * @property {Cards} trick
 * @property {number} trickNumber from 1
 * @property {number} handNumber from 1
 * @property {boolean} broken whether hearts are
 * @property {Record<number, number>} took tricks, by seat
 * @property {Record<number, number>} points in this hand, by seat
 * @property {Record<number, number>} totals by seat
 */

export const SEATS = [0, 1, 2, 3];
const HEARTS = 2;
const TWO_OF_CLUBS = 1;
const QUEEN_OF_SPADES = 50;
const HAND_SIZE = 13;
const HEART_SIZE = 25;

/** @param {number} card */
const suitOf = (card) => Math.floor(card / 13);
/** @param {number} card */
const heightOf = (card) => card % 13 || 13;
/** @param {number} card */
const penaltyOf = (card) => (suitOf(card) === HEARTS ? 1 : card === QUEEN_OF_SPADES ? 13 : 0);

/**
 * The heart as it is shown: 1 … 13 a covered card, 17 … 29 a free one, of which there is the tip.
 * @param {number[]} deal 52 ranks: the heart row by row, the stock, the first of the discard
 */
export const heartOf = (deal) =>
  deal.slice(0, HEART_SIZE).map((rank, place) => (place === HEART_SIZE - 1 ? rank + 16 : rank));

/**
 * The cards in the order in which they come round: the discard's first card, then the stock.
 * @param {number[]} deal
 */
export const roundOf = (deal) => [...deal.slice(-1), ...deal.slice(HEART_SIZE, -1)];

/**
 * Draws a card. Says whether that could be done.
 * @param {Shown} shown
 * @param {number[]} round
 */
export function draw(shown, round) {
  if (shown.stock === 0) return false;
  shown.top = round[shown.discard];
  shown.stock -= 1;
  shown.discard += 1;
  shown.moves += 1;
  return true;
}

/**
 * Turns the discard over when the stock is empty. Says whether that could be done.
 * @param {Shown} shown
 * @param {number[]} round
 */
export function recycle(shown, round) {
  if (shown.stock > 0) return false;
  shown.top = 0;
  shown.stock = round.length;
  shown.discard = 0;
  shown.moves += 1;
  return true;
}

/**
 * The cards of a seat.
 * @param {number[]} deal 52 cards
 * @param {number} seat
 */
export const handOf = (deal, seat) => deal.slice(seat * HAND_SIZE, (seat + 1) * HAND_SIZE);

/**
 * Who has 2♣.
 * @param {number[]} deal
 */
export const firstLeader = (deal) => Math.floor(deal.indexOf(TWO_OF_CLUBS) / HAND_SIZE);

/** @param {Table} table */
const leading = (table) => table.trick.length % SEATS.length === 0;

/**
 * Whether a seat may play a card of its hand now.
 * @param {Table} table
 * @param {Cards} hand
 * @param {number} card
 */
function legal(table, hand, card) {
  const first = table.trickNumber === 1;
  const suit = suitOf(card);
  if (leading(table)) {
    if (first) return card === TWO_OF_CLUBS;
    return suit !== HEARTS || table.broken || Array.from(hand).every((held) => suitOf(held) === HEARTS);
  }
  const led = suitOf(table.trick[0]);
  if (suit === led) return true;
  const held = Array.from(hand);
  if (held.some((other) => suitOf(other) === led)) return false;
  return !first || penaltyOf(card) === 0 || held.every((other) => penaltyOf(other) > 0);
}

/**
 * Plays a card if that may be; the last trick plays itself.
 * @param {Table} table
 * @param {Cards[]} hands by seat
 * @param {number} seat
 * @param {number} card
 * @returns {'refused' | 'played' | 'over'} `over`: the hand is, and is counted
 */
export function play(table, hands, seat, card) {
  const place = hands[seat].indexOf(card);
  if (seat !== table.turn || place < 0 || !legal(table, hands[seat], card)) return 'refused';
  lay(table, hands[seat], place);
  if (!leading(table) || hands[table.turn].length > 1) return 'played';
  SEATS.forEach(() => lay(table, hands[table.turn], 0));
  count(table);
  return 'over';
}

/**
 * A card goes from a hand to the trick.
 * @param {Table} table
 * @param {Cards} hand
 * @param {number} place
 */
function lay(table, hand, place) {
  const { trick } = table;
  const card = hand[place];
  hand.splice(place, 1);
  if (leading(table)) {
    trick.splice(0, trick.length);
    table.leader = table.turn;
  } else if (suitOf(card) === HEARTS && suitOf(trick[0]) !== HEARTS) {
    table.broken = true;
  }
  trick.push(card);
  table.turn = (table.turn + 1) % SEATS.length;
  if (leading(table)) take(table);
}

/**
 * Whoever played the highest card of the suit led takes the trick, which stays to be seen.
 * @param {Table} table
 */
function take(table) {
  const cards = Array.from(table.trick);
  const following = cards.filter((card) => suitOf(card) === suitOf(cards[0]));
  const best = following.reduce((high, card) => (heightOf(card) > heightOf(high) ? card : high));
  table.turn = (table.leader + cards.indexOf(best)) % SEATS.length;
  table.took[table.turn] += 1;
  table.points[table.turn] += cards.reduce((sum, card) => sum + penaltyOf(card), 0);
  table.trickNumber += 1;
}

/**
 * Adds the hand to the totals.
 * @param {Table} table
 */
function count(table) {
  const shooter = SEATS.find((seat) => table.points[seat] === 26);
  for (const seat of SEATS) {
    table.totals[seat] += shooter === undefined ? table.points[seat] : seat === shooter ? 0 : 26;
  }
}
