// The two games as boardgame.io's servers and clients take them.

import core from 'boardgame.io/dist/cjs/core.js';

import { SEATS, draw, firstLeader, handOf, heartOf, play, recycle, roundOf } from './rules.js';

const { INVALID_MOVE } = core;
const CARDS = [...Array(52).keys()];
const RANKS = CARDS.map((card) => (card % 13) + 1);

/**
 * A move that hides what it depends on, and so is made on the server only.
 * @param {Function} move
 */
const onServer = (move) => ({ move, client: false });

export const HeartToHeart = {
  name: 'heart-to-heart',
  minPlayers: 1,
  maxPlayers: 1,
  disableUndo: true,

  setup: ({ random }, { deal = random.Shuffle(RANKS) } = {}) => ({
    secret: { round: roundOf(deal) },
    heart: heartOf(deal),
    stock: roundOf(deal).length - 1,
    discard: 1,
    top: deal.at(-1),
    moves: 0,
    score: 0,
    undos: 0,
    status: 0,
    canUndo: false,
    code: 'HH1-N-AAAAAAM',
  }),

  playerView: ({ G: { secret, ...shown } }) => shown,

  moves: {
    draw: onServer(({ G }) => (draw(G, G.secret.round) ? done(G) : INVALID_MOVE)),
    recycle: onServer(({ G }) => (recycle(G, G.secret.round) ? done(G) : INVALID_MOVE)),
  },
};

/** @param {{ canUndo: boolean }} G */
function done(G) {
  G.canUndo = true;
}

export const Hearts = {
  name: 'hearts',
  minPlayers: SEATS.length,
  maxPlayers: SEATS.length,
  disableUndo: true,

  setup: ({ random }, { deal = random.Shuffle(CARDS) } = {}) =>
    begin({ secret: { deal }, trick: [], handNumber: 0, totals: [0, 0, 0, 0] }),

  playerView: ({ G: { secret, hands, ...shown }, playerID }) => ({
    ...shown,
    hands: hands.map((hand, seat) => (String(seat) === playerID ? hand : hand.length)),
  }),

  // who plays next depends on the trick
  turn: { order: { first: ({ G }) => G.turn, next: ({ G }) => G.turn } },

  moves: {
    play: onServer(({ G, playerID, events }, card) => {
      const result = play(G, G.hands, Number(playerID), card);
      if (result === 'refused') return INVALID_MOVE;
      if (result === 'over') begin(G);
      events.endTurn();
    }),
  },
};

/** Deals a hand. */
function begin(G) {
  const { deal } = G.secret;
  const turn = firstLeader(deal);
  return Object.assign(G, {
    hands: SEATS.map((seat) => handOf(deal, seat)),
    turn,
    leader: turn,
    trickNumber: 1,
    handNumber: G.handNumber + 1,
    broken: false,
    took: [0, 0, 0, 0],
    points: [0, 0, 0, 0],
  });
}
