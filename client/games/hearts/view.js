// Owns: reading a view of Hearts (docs/rules/hearts.md), and what happened from one to the next.
// Must not know: the rules, the page. What may be played, and why not, comes with the view.

/** @typedef {import('../../wire.js').View} View */

/** @typedef {number} Card suit × 13 + rank − 1; suits ♣ 0, ♦ 1, ♥ 2, ♠ 3; ranks ace 1 … king 13 */

export const SEATS = [0, 1, 2, 3];
export const TRICKS = 13;

/** The fields of a view, in their order. */
export const FIELDS = [
  ...SEATS.map((seat) => `hand${seat}`),
  ...SEATS.map((seat) => `pass${seat}`),
  ...Array.from({ length: TRICKS }, (_, i) => `trick${i + 1}`),
  ...['phase', 'hand_number', 'pass_offset', 'to_act', 'trick_number', 'broken', 'took', 'points', 'legal', 'why'],
  ...['may_claim', 'claimed', 'sheet', 'totals', 'winners', 'target', 'omnibus'],
];

/** The place of each field by its name. @type {Record<string, number>} */
export const FIELD = Object.fromEntries(FIELDS.map((name, i) => [name, i]));

export const PHASES = /** @type {const} */ (['passing', 'playing', 'scored', 'over']);

/** @typedef {{ leader: number, winner: number, cards: Card[] }} Trick cards in playing order, the leader's first */
/** @typedef {{ points: number[], shooter: number | null }} Line of the score sheet */

/**
 * @typedef {object} Spread a view, spread out
 * @property {(seat: number) => Card[] | null} hand the cards in a hand, null if they are face down
 * @property {(seat: number) => number} held how many there are
 * @property {(seat: number) => boolean} passed whether a seat has passed
 * @property {(seat: number) => Card[]} given the cards that a seat has passed, as far as they may be seen
 * @property {(n: number) => Trick | null} trick the n-th, 1 … 13; null before its lead
 * @property {typeof PHASES[number]} phase
 * @property {number} handNumber
 * @property {number} passOffset
 * @property {number[]} toAct
 * @property {number} trickNumber
 * @property {boolean} broken
 * @property {number[]} took
 * @property {number[]} points
 * @property {Card[]} legal
 * @property {string} why
 * @property {boolean} mayClaim
 * @property {{ seat: number, cards: Card[] } | null} claimed
 * @property {Line[]} sheet
 * @property {number[]} totals
 * @property {number[]} winners
 * @property {number} target
 * @property {boolean} omnibus
 */

/** @param {View} view @returns {Spread} */
export function spread(view) {
  const get = (/** @type {string} */ name) => view[FIELD[name]];
  const [claimer, ...shown] = get('claimed');
  const shownOf = (/** @type {Card[] | number} */ cards) => (Array.isArray(cards) ? cards : null);
  return {
    hand: (seat) => shownOf(view[seat]),
    held: (seat) => count(view[seat]),
    passed: (seat) => count(get(`pass${seat}`)) > 0,
    given: (seat) => shownOf(get(`pass${seat}`)) ?? [],
    trick: (n) => trickOf(get(`trick${n}`)),
    phase: PHASES[get('phase')],
    handNumber: get('hand_number'),
    passOffset: get('pass_offset'),
    toAct: get('to_act'),
    trickNumber: get('trick_number'),
    broken: get('broken') === 1,
    took: get('took'),
    points: get('points'),
    legal: get('legal'),
    why: get('why'),
    mayClaim: get('may_claim') === 1,
    claimed: claimer === undefined ? null : { seat: claimer, cards: shown },
    sheet: get('sheet').map((/** @type {any[]} */ line) => ({ points: line.slice(0, 4), shooter: line[4] ?? null })),
    totals: get('totals'),
    winners: get('winners'),
    target: get('target'),
    omnibus: get('omnibus') === 1,
  };
}

/** @param {Card[] | number} cards */
function count(cards) {
  return Array.isArray(cards) ? cards.length : cards;
}

/** @param {number[] | undefined} field @returns {Trick | null} */
function trickOf(field) {
  if (!field?.length) return null;
  const [leader, winner, ...cards] = field;
  return { leader, winner, cards };
}

/** Who played the k-th card of a trick (from 0). @param {Trick} trick @param {number} k */
export function playerOf({ leader }, k) {
  return (leader + k) % 4;
}

/**
 * The trick that lies on the table: the one under way, or, between two, the one that was last taken.
 * @param {Spread} now
 */
export function trickOnTable(now) {
  return now.trick(now.trickNumber) ?? now.trick(now.trickNumber - 1);
}

/** The trick before the one that lies on the table. @param {Spread} now @returns {Trick | null} */
export function lastTrick(now) {
  const under = now.trick(now.trickNumber);
  const n = under && under.cards.length === 4 ? now.trickNumber : now.trickNumber - 1;
  return now.trick(n);
}

/** The cards that `seat` was given in this hand, [] as long as they are unknown. @param {Spread} now @param {number} seat */
export function received(now, seat) {
  if (!now.passOffset || now.phase === 'passing') return [];
  return now.given((seat - now.passOffset + 4) % 4);
}

/**
 * @typedef {object} Play
 * @property {number} seat
 * @property {Card} card
 * @property {number} trick 1 … 13
 * @property {boolean} led whether it was the first of its trick
 * @property {boolean} last whether it was the fourth
 */

/**
 * The cards that were played from one view to another of the same hand, in order.
 * @param {View} before
 * @param {View} after
 * @returns {Play[]}
 */
export function plays(before, after) {
  const [a, b] = [spread(before), spread(after)];
  if (a.handNumber !== b.handNumber) return [];
  /** @type {Play[]} */
  const found = [];
  for (let n = 1; n <= TRICKS; n++) {
    const trick = b.trick(n);
    if (!trick) continue;
    const seen = a.trick(n)?.cards.length ?? 0;
    for (let k = seen; k < trick.cards.length; k++) {
      found.push({ seat: playerOf(trick, k), card: trick.cards[k], trick: n, led: k === 0, last: k === 3 });
    }
  }
  return found;
}

/**
 * The views between two, one for each card that was played: the server tells the last trick in one go, and what
 * was missed may come in one go too.
 * @param {View} before
 * @param {View} after
 * @returns {View[]} the last is `after`
 */
export function unfolded(before, after) {
  const steps = plays(before, after);
  if (steps.length < 2) return [after];
  /** @type {any[]} */
  let view = [...before];
  const views = steps.slice(0, -1).map((play) => {
    view = played(view, after, play);
    return view;
  });
  return [...views, after];
}

/**
 * `view` with one card more on the table, and nobody to act.
 * @param {View} view
 * @param {View} after
 * @param {Play} play
 */
function played(view, after, { seat, card, trick }) {
  const next = [...view];
  const place = FIELD[`trick${trick}`];
  const whole = after[place];
  const cards = [...view[place].slice(2), card];
  const [leader, taker] = whole;
  // Until the taker's card is there, the mark stays with the leader's: who is winning is for the server to say.
  next[place] = [leader, (taker - leader + 4) % 4 < cards.length ? taker : leader, ...cards];
  next[FIELD.trick_number] = trick;
  next[seat] = Array.isArray(view[seat]) ? view[seat].filter((/** @type {Card} */ held) => held !== card) : view[seat] - 1;
  next[FIELD.legal] = [];
  next[FIELD.why] = '';
  next[FIELD.may_claim] = 0;
  next[FIELD.to_act] = [];
  return next;
}
