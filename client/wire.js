// Owns: the protocol (docs/protocol.md) as a state machine: what is on the table, which of our actions
// are under way, what to send next. Messages go in, messages and events come out.
// Must not know: sockets, timers, the page, or any game's rules.

import { encode } from '@msgpack/msgpack';
import { Emitter } from './emitter.js';

/** @typedef {readonly any[]} View a game's fields, see docs/protocol.md */
/** @typedef {readonly [verb: string, ...args: (number | string)[]]} Action */

/**
 * @typedef {object} Pending an action that has had neither ack nor reject
 * @property {number} id
 * @property {number | null} base the version it is meant on, or the negated id of the action under way that makes it;
 *   null: any
 * @property {number} on the version that it is done on, if all goes well
 * @property {number} epoch
 * @property {Action} action
 * @property {boolean} sent on the present connection
 * @property {boolean} doomed an earlier action, on which it was built, has been refused
 */

/**
 * @typedef {object} Table the session that is being looked at
 * @property {string} session
 * @property {string} game
 * @property {number} epoch
 * @property {number} version
 * @property {number | null} seat null: a spectator
 * @property {View} view
 * @property {Clock} clock
 * @property {string[]} names one a seat, '' for none
 * @property {number} viewers how many others are watching
 * @property {Chair[] | null} chairs what each seat is; null until it was told
 * @property {boolean} started whether the game has begun, or is still a table that waits for players
 * @property {TableSettings} settings
 */

/** @typedef {{ elapsedMs: number, running: boolean, waitingMs: number, at: number }} Clock `at`: `performance.now()` when it was told */
/** @typedef {typeof CHAIRS[number]} Chair */

/**
 * @typedef {object} TableSettings
 * @property {number} pace seconds a turn, 0 for no limit
 * @property {boolean} open whether *quick* may bring others
 * @property {number | null} startsAt on the clock of `performance.now()`; null: when somebody says so
 * @property {boolean} closed whether only those with a seat may look on
 * @property {string} level how well the bots play
 */

/** @typedef {{ pace: number, public: boolean, level: string }} TableOptions how a new table is played */

/** @typedef {{ player: string, name: string, sessions: [session: string, game: string][] }} Welcome */

/**
 * @typedef {object} WireEvents
 * @property {Welcome} welcome
 * @property {{ table: Table, before: View | null }} table a snapshot or a diff; `before` is the view of
 *   the same session until now, null if there was none
 * @property {readonly Pending[]} pending
 * @property {{ code: string, action: Action }} reject an action was refused, and the player should know
 * @property {Table} people
 * @property {Table} clock
 * @property {string} error a code; there is no `table` any more if it says that it cannot be looked at
 * @property {boolean} store whether the store answers
 * @property {string} changed what is watched is to be fetched, for the first time or again
 * @property {boolean} asking whether a session has been asked for, and is waited for
 * @property {string} late the code of what became of an action at a table that the page has left
 */

/**
 * Where pending actions outlive a reload of the page.
 * @typedef {object} Keeper
 * @property {(session: string) => Pending[]} load
 * @property {(session: string, pending: readonly Pending[]) => void} save
 * @property {() => string[]} sessions those of which there are any
 */

const NEW = 1;
const JOIN = 2;
const ACT = 3;
const NAME = 4;
const LEAVE = 5;
const SIT = 7;
const STAND = 8;
const START = 9;
const QUICK = 10;
const WATCH = 11;

const DIFF = 0;
const SNAPSHOT = 1;
const ACK = 2;
const REJECT = 3;
const WELCOME = 4;
const CREATED = 5;
const TABLE = 6;
const CLOCK = 7;
const ERROR = 9;
const RESUMED = 10;
const STORE = 11;
const CHANGED = 13;

/** What a seat can be, as numbered in *table*. */
export const CHAIRS = /** @type {const} */ (['open', 'here', 'lost', 'away', 'bot']);

/** *Errors* that say why a session cannot be looked at, whether for the first time or any longer. */
const TURNS_AWAY = new Set(['no_session', 'unreadable', 'private', 'sealed', 'crowded']);

/** Requests that are about the session that is looked at. */
const AT_TABLE = new Set([SIT, STAND, START]);

/** Requests for a session to go to. */
const FOR_SESSION = new Set([NEW, QUICK]);

/** Bytes of the largest frame that the server reads. What is larger is answered without its ref, if at all. */
const LARGEST = 4096;

/**
 * @typedef {object} Request what has had no answer yet
 * @property {any[]} message
 * @property {(value: any) => void} done
 * @property {(error: Refused) => void} refused
 * @property {boolean} [withdrawn] sent, and no longer waited for
 */

/** A request was refused; `message` is the code. */
export class Refused extends Error {}

/** @extends {Emitter<WireEvents>} */
export class Wire extends Emitter {
  /** @type {Welcome | null} */
  welcome = null;
  /** Of the table that is looked at, or of the one that the page has left with them. @type {Pending[]} */
  pending = [];

  #nextId;
  #nextRef = 1;
  #keeper;
  /** @type {((message: any[]) => void) | null} */
  #send = null;
  /** The session that the connection looks at: the page's, or one that it has left. @type {string | null} */
  #wanted = null;
  /** @type {Table | null} */
  #held = null;
  /**
   * Where the page has gone from there, while what was done there has had no answer; null: to no table;
   * undefined: it has not.
   * @type {string | null | undefined}
   */
  #next = undefined;
  /** Sessions in which an earlier page has left something undone. @type {string[]} */
  #left;
  /** @type {string | null} the topic the page wants to be told of */
  #watched = null;
  /** Whether diffs that arrive belong to `table`: between a join and its answer they do not. */
  #following = false;
  /** Whether this connection has had its welcome; any further one answers a *name*. */
  #greeted = false;
  /** @type {Map<number, Request>} */
  #requests = new Map();

  /**
   * @param {object} setup
   * @param {number} setup.firstId a random start for the ids of actions, at least 2³²
   * @param {Keeper} setup.keeper
   */
  constructor({ firstId, keeper }) {
    super();
    this.#nextId = firstId;
    this.#keeper = keeper;
    this.#left = keeper.sessions();
    this.#lookAt(null);
  }

  /** The table that the page looks at. */
  get table() {
    return this.#next === undefined ? this.#held : null;
  }

  /** Whether what is asked now is sent now. */
  get connected() {
    return this.#send !== null;
  }

  /** Whether a session has been asked for, and is waited for. */
  get asking() {
    return [...this.#requests.values()].some(({ message, withdrawn }) => FOR_SESSION.has(message[0]) && !withdrawn);
  }

  /**
   * A connection is there. Takes up what the last one left.
   * @param {(message: any[]) => void} send
   */
  opened(send) {
    this.#send = send;
    this.#greeted = false;
    const waiting = [...this.#requests.values()].map(({ message }) => message);
    for (const message of waiting) if (!AT_TABLE.has(message[0])) send(message);
    if (this.#wanted !== null) {
      if (!this.#held) this.pending = this.#keeper.load(this.#wanted); // who was turned away may be let in
      send([JOIN, this.#wanted, this.#held?.epoch ?? 0, this.#held?.version ?? 0]);
    }
    for (const message of waiting) if (AT_TABLE.has(message[0])) send(message);
    if (this.#watched !== null) send([WATCH, this.#watched]);
  }

  /** The connection is gone; what was sent on it may or may not have arrived. */
  closed() {
    this.#send = null;
    this.#following = false;
    for (const pending of this.pending) pending.sent = false;
    for (const [ref, { withdrawn }] of this.#requests) if (withdrawn) this.#requests.delete(ref);
  }

  /** @param {string} session */
  join(session) {
    if (this.#next === session || this.table?.session === session) return;
    if (this.#wanted === session && this.pending.length) this.#next = undefined; // it is still looked at
    else this.#goTo(session);
  }

  leave() {
    if ((this.#next === undefined ? this.#wanted : this.#next) !== null) this.#goTo(null);
  }

  /**
   * The page goes to another table, or to none. The connection follows once all that was done at this one is answered:
   * what was said to be kept is done, wherever the player is by then.
   * @param {string | null} session
   */
  #goTo(session) {
    this.#turnAway();
    if (this.pending.length) this.#next = session;
    else this.#lookAt(session);
  }

  /** @param {string | null} session null: none, once what is left in others is done */
  #lookAt(session) {
    const left = session === null ? this.#left.shift() : undefined;
    this.#next = left === undefined ? undefined : null;
    session = left ?? session;
    this.#wanted = session;
    this.#following = false;
    this.#held = null;
    this.pending = session === null ? [] : this.#keeper.load(session);
    this.#send?.(session === null ? [LEAVE] : [JOIN, session, 0, 0]);
    this.emit('pending', this.pending);
  }

  /**
   * Is told by `changed` when a topic changes, over lost connections too.
   * @param {string | null} topic null: none any more
   */
  watch(topic) {
    if (topic === this.#watched) return;
    this.#watched = topic;
    this.#send?.([WATCH, topic]);
  }

  /**
   * Sends an action, or keeps it until there is a connection. What becomes of it comes as events.
   * @param {Action} action
   * @param {{ anytime?: boolean }} [how] `anytime`: whatever the others have done meanwhile
   */
  act(action, { anytime = false } = {}) {
    const table = this.table;
    if (!table) return;
    if (!this.#send) this.withdraw(); // who plays on wants to play on
    const last = this.pending.filter((p) => !p.doomed).at(-1);
    const base = anytime ? null : last ? -last.id : table.version;
    const on = last ? last.on + 1 : table.version;
    const id = this.#nextId++;
    this.#setPending([...this.pending, { id, base, on, epoch: table.epoch, action, sent: false, doomed: false }]);
    this.#flush();
  }

  /**
   * The pending actions that the table does not show yet. A diff comes before the ack of its action, and
   * for that moment the action is both pending and on the table.
   */
  get underWay() {
    const version = this.table?.version ?? 0;
    return this.pending.filter(({ on }) => on >= version);
  }

  /**
   * Begins a session. Rejects with `Refused`.
   * @param {string} game
   * @param {Record<string, unknown>} options
   * @param {TableOptions} [table] of a game with several seats
   * @returns {Promise<string | null>} the session, still to be joined; null: see `withdraw`
   */
  newGame(game, options, table) {
    return this.#request((ref) => [NEW, ref, game, options, ...(table ? [table] : [])]);
  }

  /**
   * Takes a seat at a public table. Rejects with `Refused`.
   * @param {string} game
   * @returns {Promise<string | null>} the session, still to be joined; null: see `withdraw`
   */
  quick(game) {
    return this.#request((ref) => [QUICK, ref, game]);
  }

  /**
   * No session is waited for any more: who asked for one has gone elsewhere. What is not on its way yet is not sent; a
   * game that begins all the same can be continued.
   */
  withdraw() {
    for (const [ref, request] of this.#requests) {
      if (!FOR_SESSION.has(request.message[0])) continue;
      request.done(null);
      request.withdrawn = true;
      if (!this.#send) this.#requests.delete(ref);
    }
    this.emit('asking', this.asking);
  }

  /**
   * Sits down at the table that is looked at, or takes one's own seat back from a bot. Rejects with `Refused`.
   * @param {number | null} seat null: any
   * @returns {Promise<void>}
   */
  sit(seat) {
    return this.#request((ref) => [SIT, ref, seat]);
  }

  /** Leaves one's seat for good. Rejects with `Refused`. @returns {Promise<void>} */
  stand() {
    return this.#request((ref) => [STAND, ref]);
  }

  /** Starts the game at the table that is looked at. Rejects with `Refused`. @returns {Promise<void>} */
  start() {
    return this.#request((ref) => [START, ref]);
  }

  /**
   * A game is over; *welcome* names only those that are not.
   * @param {string} session
   */
  ended(session) {
    if (!this.welcome) return;
    this.welcome = { ...this.welcome, sessions: this.welcome.sessions.filter(([its]) => its !== session) };
  }

  /**
   * Rejects with `Refused`.
   * @param {string} name
   * @returns {Promise<void>}
   */
  setName(name) {
    return this.#request((ref) => [NAME, ref, name]);
  }

  /**
   * @param {any[]} message as decoded
   */
  receive(message) {
    this.#hear(message);
    if (this.#next !== undefined && !this.pending.length) this.#lookAt(this.#next);
  }

  /** @param {any[]} message */
  #hear(message) {
    switch (message[0]) {
      case DIFF:
        return this.#onDiff(message);
      case SNAPSHOT:
        return this.#onSnapshot(message);
      case RESUMED:
        return this.#onResumed();
      case ACK:
        return this.#onAck(message[1]);
      case REJECT:
        return this.#onReject(message[1], message[2]);
      case WELCOME:
        return this.#onWelcome(message);
      case CREATED:
        return this.#onCreated(message[1], message[2]);
      case TABLE:
        return this.#change('people', people(message));
      case CLOCK:
        return this.#change('clock', { clock: clock(message[1], message[2], message[3]) });
      case ERROR:
        return this.#onError(message[1]);
      case STORE:
        return this.emit('store', message[1] === 1);
      case CHANGED:
        return this.emit('changed', message[1]);
    }
  }

  /** @param {any[]} message */
  #onDiff([, version, ...changes]) {
    const table = this.#held;
    if (!this.#following || !table) return;
    const view = patched(table.view, changes);
    if (version !== table.version + 1 || !view) return this.#resync();
    this.#hold({ ...table, version, view }, table.view);
  }

  /** @param {Table} table @param {View | null} before */
  #hold(table, before) {
    this.#held = table;
    if (this.table) this.emit('table', { table, before });
  }

  /** @param {any[]} message */
  #onSnapshot([, session, game, epoch, version, seat, view, time]) {
    this.#following = session === this.#wanted;
    if (!this.#following) return;
    const held = this.#held;
    const before = held && held.epoch === epoch ? held.view : null;
    const { names, viewers, chairs, started, settings } = held ?? NOBODY;
    const table = { session, game, epoch, version, seat, view, clock: clock(time[0], time[1], time[2]), names, viewers, chairs, started, settings };
    this.#held = table;
    this.#dropForeign(epoch);
    this.#hold(table, before);
    this.#flush();
  }

  #onResumed() {
    if (this.#held?.session !== this.#wanted) return;
    this.#following = true;
    this.#flush();
  }

  /** @param {any[]} message */
  #onWelcome([, player, name, sessions]) {
    this.welcome = { player, name, sessions };
    this.emit('welcome', this.welcome);
    if (!this.#greeted) {
      this.#greeted = true;
      return;
    }
    for (const [ref, { message }] of this.#requests) {
      if (message[0] === NAME) this.#answer(ref, (request) => request.done());
    }
  }

  /** @param {number} id */
  #onAck(id) {
    if (!this.#answer(id, (request) => request.done())) this.#settle(id);
  }

  /** @param {number} ref @param {string} session */
  #onCreated(ref, session) {
    const game = this.#requests.get(ref)?.message[2];
    if (game && this.welcome) {
      this.ended(session);
      this.welcome = { ...this.welcome, sessions: [[session, game], ...this.welcome.sessions] };
    }
    this.#answer(ref, (request) => request.done(session));
  }

  /** @param {number} id @param {string} code */
  #onReject(id, code) {
    if (this.#answer(id, (request) => request.refused(new Refused(code)))) return;
    const refused = this.#settle(id);
    if (!refused) return;
    for (const later of this.pending) later.doomed ||= later.sent;
    if (!(refused.doomed && code === 'stale')) this.#tellRefused(code, refused.action);
    if (code === 'not_joined') this.#resync();
  }

  /** @param {string} code @param {Action} action */
  #tellRefused(code, action) {
    if (this.#next === undefined) this.emit('reject', { code, action });
    else this.emit('late', code);
  }

  /**
   * Who is turned away from a table sees what a new visitor sees; the session is still wanted, and a later *join* may
   * find it open again.
   * @param {string} code
   */
  #onError(code) {
    const lost = TURNS_AWAY.has(code) && this.pending.length > 0;
    if (TURNS_AWAY.has(code)) {
      this.#following = false;
      this.#held = null;
      this.pending = [];
      this.emit('pending', this.pending);
    }
    if (this.#next === undefined) this.emit('error', code);
    else if (lost) this.emit('late', code);
  }

  /**
   * Actions meant for another life of the session must not be taken for actions of this one.
   * @param {number} epoch
   */
  #dropForeign(epoch) {
    const foreign = this.pending.find((p) => p.epoch !== epoch);
    if (!foreign) return;
    this.#setPending(this.pending.filter((p) => p.epoch === epoch));
    this.#tellRefused('stale', foreign.action);
  }

  /** @param {number} id @returns {Pending | undefined} the action that is no longer pending */
  #settle(id) {
    const settled = this.pending.find((p) => p.id === id);
    if (settled) this.#setPending(this.pending.filter((p) => p !== settled));
    return settled;
  }

  /** @param {Pending[]} pending */
  #setPending(pending) {
    this.pending = pending;
    if (this.#wanted !== null) this.#keeper.save(this.#wanted, pending);
    this.emit('pending', pending);
  }

  #flush() {
    if (!this.#send || !this.#following) return;
    for (const p of this.pending) {
      if (!p.sent) this.#send([ACT, p.id, p.base, p.action]);
      p.sent = true;
    }
  }

  #resync() {
    this.#following = false;
    this.#send?.([JOIN, this.#wanted, 0, 0]);
  }

  /**
   * @param {'people' | 'clock'} event
   * @param {Partial<Table>} part
   */
  #change(event, part) {
    if (!this.#held || !this.#following) return;
    this.#held = { ...this.#held, ...part };
    if (this.table) this.emit(event, this.table);
  }

  /** What was asked of a table is nothing to those who have left it. */
  #turnAway() {
    for (const [ref, { message }] of this.#requests) if (AT_TABLE.has(message[0])) this.#requests.delete(ref);
  }

  /** @param {(ref: number) => any[]} build @returns {Promise<any>} */
  #request(build) {
    const ref = this.#nextRef++;
    const message = build(ref);
    return new Promise((done, refused) => {
      if (encode(message).length > LARGEST) return refused(new Refused('too_large'));
      this.#requests.set(ref, { message, done, refused });
      this.#send?.(message);
      this.emit('asking', this.asking);
    });
  }

  /** @param {number} ref @param {(request: any) => void} how */
  #answer(ref, how) {
    const request = this.#requests.get(ref);
    if (!request) return false;
    this.#requests.delete(ref);
    how(request);
    this.emit('asking', this.asking);
    return true;
  }
}

/**
 * `view` with the changes of a diff.
 * @param {View} view
 * @param {readonly any[]} changes index, value, index, value, …
 * @returns {View | null} null if they do not fit the view
 */
export function patched(view, changes) {
  if (changes.length % 2) return null;
  const next = [...view];
  for (let k = 0; k < changes.length; k += 2) {
    if (!(changes[k] in next)) return null;
    next[changes[k]] = changes[k + 1];
  }
  return next;
}

/** What is known of a table before anything was told. @type {Pick<Table, 'names' | 'viewers' | 'chairs' | 'started' | 'settings'>} */
const NOBODY = { names: [], viewers: 0, chairs: null, started: true, settings: { pace: 0, open: false, startsAt: null, closed: false, level: '' } };

/** @param {any[]} message *table* @returns {Partial<Table>} */
function people([, names, viewers, chairs = [1], started = 1, [pace, open, startsInMs, closed, level = ''] = [0, false, null, false, '']]) {
  return {
    names,
    viewers,
    chairs: chairs.map((/** @type {number} */ chair) => CHAIRS[chair] ?? 'open'),
    started: Boolean(started),
    settings: { pace, open, startsAt: typeof startsInMs === 'number' ? performance.now() + startsInMs : null, closed: Boolean(closed), level },
  };
}

/** @param {number} elapsedMs @param {number | boolean} running @param {number} [waitingMs] @returns {Clock} */
function clock(elapsedMs, running, waitingMs = 0) {
  return { elapsedMs, running: Boolean(running), waitingMs, at: performance.now() };
}
