// The two games on Colyseus: `node colyseus.js`. Prints its address, and serves until it is ended.
//
// As its guides have it: state in schemas, rooms with message handlers, hands in the views of their owners. A patch
// goes out after every action instead of twenty times a second, since a card game has no frames.

import { createServer } from 'node:http';

import { Room, Server } from '@colyseus/core';
import { ArraySchema, StateView, schema, t } from '@colyseus/schema';
import { WebSocketTransport } from '@colyseus/ws-transport';

import { SEATS, draw, firstLeader, handOf, heartOf, play, recycle, roundOf } from './rules.js';

const RETURN_S = 20;

const HeartState = schema(
  {
    heart: t.array('uint8'),
    stock: t.uint8(),
    discard: t.uint8(),
    top: t.uint8(),
    moves: t.number(),
    score: t.number(),
    undos: t.number(),
    status: t.uint8(),
    canUndo: t.boolean(),
    code: t.string(),
  },
  'HeartState',
);

/** Draw and recycle; others look on. */
class HeartRoom extends Room {
  patchRate = null;
  state = new HeartState();
  player = '';

  messages = {
    draw: (client) => this.act(client, draw),
    recycle: (client) => this.act(client, recycle),
  };

  /** @param {{ deal: number[] }} options */
  onCreate({ deal }) {
    this.round = roundOf(deal);
    this.state.assign({
      heart: new ArraySchema(...heartOf(deal)),
      stock: this.round.length - 1,
      discard: 1,
      top: this.round[0],
      moves: 0,
      score: 0,
      undos: 0,
      status: 0,
      canUndo: false,
      code: 'HH1-N-AAAAAAM',
    });
  }

  onJoin(client) {
    this.player ||= client.sessionId;
  }

  onDrop(client) {
    this.allowReconnection(client, RETURN_S);
  }

  /**
   * @param {import('@colyseus/core').Client} client
   * @param {typeof draw} move
   */
  act(client, move) {
    if (client.sessionId !== this.player || !move(this.state, this.round)) throw new Error('refused');
    this.state.canUndo = true;
    this.broadcastPatch();
    return this.state.moves;
  }
}

const Seat = schema({ cards: t.array('uint8').view(), count: t.uint8() }, 'Seat');

const HeartsState = schema(
  {
    seats: t.array(Seat),
    trick: t.array('uint8'),
    turn: t.uint8(),
    leader: t.uint8(),
    trickNumber: t.uint8(),
    handNumber: t.number(),
    broken: t.boolean(),
    took: t.array('uint8'),
    points: t.array('uint8'),
    totals: t.array('number'),
  },
  'HeartsState',
);

/** Four players, seated as they come; each sees its own cards. */
class HeartsRoom extends Room {
  patchRate = null;
  maxClients = SEATS.length;
  state = new HeartsState();
  /** @type {Map<string, number>} */
  seats = new Map();

  messages = {
    play: (client, card) => this.play(client, card),
  };

  /** @param {{ deal: number[] }} options */
  onCreate({ deal }) {
    this.deal = deal;
    this.state.assign({
      seats: new ArraySchema(...SEATS.map(() => new Seat().assign({ cards: new ArraySchema(), count: 0 }))),
      trick: new ArraySchema(),
      handNumber: 0,
      totals: new ArraySchema(0, 0, 0, 0),
      took: new ArraySchema(0, 0, 0, 0),
      points: new ArraySchema(0, 0, 0, 0),
    });
    this.begin();
  }

  onJoin(client) {
    const seat = this.seats.size;
    this.seats.set(client.sessionId, seat);
    client.view = new StateView();
    client.view.add(this.state.seats[seat]);
  }

  onDrop(client) {
    this.allowReconnection(client, RETURN_S);
  }

  /** Deals a hand. */
  begin() {
    const { state, deal } = this;
    for (const seat of SEATS) {
      state.seats[seat].cards.push(...handOf(deal, seat));
      state.seats[seat].count = handOf(deal, seat).length;
      state.took[seat] = 0;
      state.points[seat] = 0;
    }
    state.turn = state.leader = firstLeader(deal);
    state.trickNumber = 1;
    state.handNumber += 1;
    state.broken = false;
  }

  /**
   * @param {import('@colyseus/core').Client} client
   * @param {number} card
   */
  play(client, card) {
    const seat = this.seats.get(client.sessionId);
    const hands = this.state.seats.map(({ cards }) => cards);
    const result = play(this.state, hands, seat, card);
    if (result === 'refused') throw new Error('refused');
    if (result === 'over') this.begin();
    else this.state.seats[seat].count -= 1;
    this.broadcastPatch();
  }
}

const http = createServer();
const server = new Server({ transport: new WebSocketTransport({ server: http }), greet: false });
server.define('heart-to-heart', HeartRoom);
server.define('hearts', HeartsRoom);
await server.listen(0, '127.0.0.1', 2048);
console.log(`colyseus at http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (http.address()).port}`);
