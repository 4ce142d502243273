// Owns: the websocket: opening it, noticing that it is dead, opening it again, when to give up.
// Must not know: what the messages mean; that is wire.js.

import { decode, encode } from '@msgpack/msgpack';
import { Emitter } from './emitter.js';

/** @typedef {import('./wire.js').Wire} Wire */
/** @typedef {'connecting' | 'open' | 'lost' | 'refused'} NetState `refused`: no use in trying again */

const SUBPROTOCOL = 'heartroom.v1';
const PING = 6;

const FIRST_RETRY_MS = 100;
/** A server that is started anew is back in seconds, and whoever plays waits for it: so long tries stay close. */
const SOON_RETRY_MS = 1_500;
const SOON_TRIES = 20;
const LONGEST_RETRY_MS = 10_000;
const OVERLOADED_RETRY_MS = 3_000;
const OPEN_TIMEOUT_MS = 8_000;
const PING_EVERY_MS = 15_000;
const PONG_TIMEOUT_MS = 6_000;
/** When the browser says that there is no network. It may be wrong, and then the answer comes. */
const OFFLINE_TIMEOUT_MS = 1_000;

const CLOSE_OVERLOADED = 1013;
const CLOSE_FOR_GOOD = new Set([1009, 4400, 4408]);

/** @extends {Emitter<{ state: NetState }>} */
export class Net extends Emitter {
  /** @type {NetState} */
  state = 'connecting';

  #url;
  #wire;
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #pings = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} set while something is expected from the other end */
  #deadTimer;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #pingTimer;

  /** @param {string} url @param {Wire} wire */
  constructor(url, wire) {
    super();
    this.#url = url;
    this.#wire = wire;
  }

  /** Connects, and stays connected from now on. */
  start() {
    addEventListener('online', () => this.#nudge());
    addEventListener('offline', () => this.#ping(OFFLINE_TIMEOUT_MS));
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#nudge();
    });
    this.#open();
  }

  #open() {
    clearTimeout(this.#retryTimer);
    const socket = new WebSocket(this.#url, SUBPROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#expectWithin(OPEN_TIMEOUT_MS);
    socket.onopen = () => {
      this.#pingTimer = setInterval(() => this.#ping(), PING_EVERY_MS);
      this.#wire.opened((message) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(encode(message));
      });
    };
    socket.onmessage = ({ data }) => this.#heard(data);
    socket.onclose = ({ code }) => this.#lost(code);
  }

  /** @param {ArrayBuffer} data */
  #heard(data) {
    clearTimeout(this.#deadTimer);
    this.#deadTimer = undefined;
    this.#failures = 0;
    this.#setState('open');
    const message = decode(data);
    if (Array.isArray(message)) this.#wire.receive(message);
  }

  /** @param {number} code of the close frame, or 0 when the other end stopped answering */
  #lost(code) {
    clearTimeout(this.#deadTimer);
    clearInterval(this.#pingTimer);
    this.#deadTimer = undefined;
    this.#socket = null;
    this.#wire.closed();
    if (CLOSE_FOR_GOOD.has(code)) return this.#setState('refused');
    this.#setState('lost');
    this.#retryTimer = setTimeout(() => this.#open(), retryDelay(this.#failures++, code));
  }

  /** Something speaks for trying now: the page is looked at again, or the network is back. */
  #nudge() {
    if (this.state === 'refused') return;
    if (this.#socket) return this.#ping();
    this.#open();
  }

  #ping(within = PONG_TIMEOUT_MS) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(encode([PING, ++this.#pings]));
    this.#expectWithin(within);
  }

  /** @param {number} ms */
  #expectWithin(ms) {
    if (this.#deadTimer !== undefined) {
      if (ms >= PONG_TIMEOUT_MS) return;
      clearTimeout(this.#deadTimer); // we have reason to be less patient
    }
    const socket = this.#socket;
    this.#deadTimer = setTimeout(() => {
      if (!socket) return;
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
      this.#lost(0);
    }, ms);
  }

  /** @param {NetState} state */
  #setState(state) {
    if (state === this.state) return;
    this.state = state;
    this.emit('state', state);
  }
}

/**
 * How long to wait before the next try. The first comes soon; later ones spread out, and apart from
 * those of everybody else who was cut off at the same moment.
 * @param {number} failures so far
 * @param {number} code of the close frame
 */
export function retryDelay(failures, code) {
  const longest = failures < SOON_TRIES ? SOON_RETRY_MS : LONGEST_RETRY_MS;
  const backoff = Math.min(FIRST_RETRY_MS * 2 ** failures, longest);
  const ms = code === CLOSE_OVERLOADED ? Math.max(backoff, OVERLOADED_RETRY_MS) : backoff;
  return ms * (0.5 + Math.random());
}
