// Players of Heart to Heart with the peers' own clients, for what faults do to them: see faults.py, which starts this.
//
//     node faults.js colyseus|boardgame again|once PORT…
//
// A player for each port. Commands come line by line; what is said back is `ready`, or one line of JSON.
//
//     play       everybody draws, the next card when the last one was acknowledged, until something fails
//     act        everybody draws once
//     settle     waits until everybody is connected again or is told that they will not be; prints an array of
//                { acknowledged, intended, moves, failed }: draws that were acknowledged and that were meant, moves in
//                the game as the server has it now (null: there is no such game any more), draws that the client was
//                told had failed
//
// `again`: a player repeats, when connected again, a draw whose outcome it was not told.

import { createInterface } from 'node:readline';

import boardgameClient from 'boardgame.io/dist/cjs/client.js';
import boardgameMultiplayer from 'boardgame.io/dist/cjs/multiplayer.js';

import { HeartToHeart } from './games.js';

// Node's own WebSocket does not say `close` when it cannot connect, as browsers do, and then the client of Colyseus
// would try but once. Without it the client takes that of `ws`, which does.
delete globalThis.WebSocket;
const { Client: Colyseus } = await import('@colyseus/sdk');

const WARM = 20;
const PATIENCE_MS = 12_000;
const STOCK = 26;

console.info = () => {};
console.warn = () => {};

const deal = [...Array(52).keys()].map((card) => (card % 13) + 1);

/**
 * @param {number} ms
 * @returns {Promise<never>}
 */
const late = (ms) => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), ms).unref());

/** What both kinds of players have in common. */
class Player {
  acknowledged = 0;
  intended = 0;
  failed = 0;
  /** @type {Promise<void>} */
  underWay = Promise.resolve();

  /** Draws, or recycles; whether that was acknowledged. */
  async act() {
    this.intended += 1;
    const verb = this.moves() % (STOCK + 2) === STOCK ? 'recycle' : 'draw';
    try {
      await this.send(verb);
      this.acknowledged += 1;
      return true;
    } catch {
      this.failed += this.tells ? 1 : 0;
      if (again && (await this.back())) {
        await this.send(verb).then(
          () => (this.acknowledged += 1),
          () => {},
        );
      }
      return false;
    }
  }

  async play() {
    while (await this.act());
  }
}

class OnColyseus extends Player {
  /** The client says so when a request fails. */
  tells = true;

  /** @param {number} port */
  static async at(port) {
    const player = new OnColyseus();
    player.client = new Colyseus(`http://127.0.0.1:${port}`);
    const room = await player.client.create('heart-to-heart', { deal });
    player.room = room;
    room.reconnection.minUptime = 0;
    player.connected = true;
    player.gone = false;
    room.onDrop(() => (player.connected = false));
    room.onReconnect(() => (player.connected = true));
    room.onLeave(() => (player.gone = true));
    await new Promise((resolve) => room.onStateChange.once(resolve));
    return player;
  }

  moves() {
    return this.room.state.moves;
  }

  /** @param {string} verb */
  send(verb) {
    return this.room.request(verb);
  }

  /** Whether the room is there again, with its state. */
  async back() {
    const until = Date.now() + PATIENCE_MS;
    while (!this.connected && !this.gone && Date.now() < until) await new Promise((go) => setTimeout(go, 50));
    return this.connected && !this.gone;
  }

  async found() {
    try {
      const room = await Promise.race([this.client.joinById(this.room.roomId), late(PATIENCE_MS)]);
      await Promise.race([new Promise((resolve) => room.onStateChange.once(resolve)), late(PATIENCE_MS)]);
      return room.state.moves;
    } catch {
      return null;
    }
  }
}

class OnBoardgame extends Player {
  /** There is no answer to a move but the next state. */
  tells = false;

  /** @param {number} port */
  static async at(port) {
    const player = new OnBoardgame();
    const url = `http://127.0.0.1:${port}/games/${HeartToHeart.name}`;
    const { matchID } = await post(`${url}/create`, { numPlayers: 1, setupData: { deal } });
    const { playerCredentials } = await post(`${url}/${matchID}/join`, { playerID: '0', playerName: 'one' });
    player.port = port;
    player.matchID = matchID;
    player.client = follow(port, matchID, playerCredentials);
    player.drops = 0;
    player.client.subscribe(() => player.changed?.());
    player.client.start();
    await player.until(() => player.client.getState() !== null);
    return player;
  }

  moves() {
    return this.client.getState().G.moves;
  }

  /**
   * Until the state is so, or the connection is lost and was not.
   * @param {() => boolean} so
   */
  async until(so) {
    const began = Date.now();
    let connected = false;
    while (!so()) {
      const now = this.client.getState()?.isConnected ?? false;
      if ((connected && !now) || Date.now() > began + PATIENCE_MS) throw new Error('disconnected');
      connected = now;
      await Promise.race([
        new Promise((resolve) => (this.changed = resolve)),
        new Promise((resolve) => setTimeout(resolve, 20)),
      ]);
    }
  }

  /** @param {'draw' | 'recycle'} verb */
  async send(verb) {
    const before = this.moves();
    this.client.moves[verb]();
    await this.until(() => this.moves() > before);
  }

  async back() {
    const until = Date.now() + PATIENCE_MS;
    while (!this.client.getState()?.isConnected && Date.now() < until) await new Promise((go) => setTimeout(go, 50));
    // the state is asked for on connecting
    await new Promise((go) => setTimeout(go, 500));
    return this.client.getState()?.isConnected ?? false;
  }

  async found() {
    const looking = follow(this.port, this.matchID);
    looking.start();
    const until = Date.now() + PATIENCE_MS;
    while (looking.getState() === null && Date.now() < until) await new Promise((go) => setTimeout(go, 20));
    return looking.getState()?.G.moves ?? null;
  }
}

/**
 * @param {number} port
 * @param {string} matchID
 * @param {string} [credentials] none: looks on
 */
function follow(port, matchID, credentials) {
  return boardgameClient.Client({
    game: HeartToHeart,
    numPlayers: 1,
    multiplayer: boardgameMultiplayer.SocketIO({
      server: `http://127.0.0.1:${port}`,
      socketOpts: { transports: ['websocket'] },
    }),
    matchID,
    playerID: credentials ? '0' : undefined,
    credentials,
    debug: false,
  });
}

/**
 * @param {string} url
 * @param {unknown} body
 */
async function post(url, body) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.json();
}

const [name, policy, ...ports] = process.argv.slice(2);
const again = policy === 'again';
const kind = { colyseus: OnColyseus, boardgame: OnBoardgame }[name];

const players = await Promise.all(ports.map((port) => kind.at(Number(port))));
await Promise.all(
  players.map(async (player) => {
    for (let n = 0; n < WARM; n += 1) await player.act();
  }),
);
console.log('ready');

for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'play' || command === 'act') {
    for (const player of players) player.underWay = player[command]();
  } else if (command === 'settle') {
    await Promise.all(players.map((player) => player.back()));
    await Promise.all(players.map((player) => Promise.race([player.underWay, late(PATIENCE_MS)]).catch(() => {})));
    const results = await Promise.all(
      players.map(async (player) => ({
        acknowledged: player.acknowledged,
        intended: player.intended,
        failed: player.failed,
        moves: await player.found(),
      })),
    );
    console.log(JSON.stringify(results));
    process.exit();
  }
}
