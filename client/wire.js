// Owns: the protocol (docs/protocol.md) as a state machine: what is on the table, which of our actions
// are under way, what to send next. Messages go in, messages and events come out.
// Must not know: sockets, timers, the page, or any game's rules.

import { Emitter } from './emitter.js';

/** @typedef {readonly any[]} View a game's fields, see docs/protocol.md */
/** @typedef {readonly [verb: string, ...args: (number | string)[]]} Action */

/**
 * @typedef {object} Pending an action that has had neither ack nor reject
 * @property {number} id
 * @property {number} base the version it is meant on, or the negated id of the action under way that makes it
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
 * @property {{ elapsedMs: number, running: boolean, at: number }} clock `at`: `performance.now()` when it was told
 * @property {string[]} names one a seat
 * @property {number} viewers how many others are watching
 */

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
 * @property {string} error
 * @property {boolean} store whether the store answers
 */

/**
 * Where pending actions outlive a reload of the page.
 * @typedef {object} Keeper
 * @property {(session: string) => Pending[]} load
 * @property {(session: string, pending: readonly Pending[]) => void} save
 */

const NEW = 1;
const JOIN = 2;
const ACT = 3;
const NAME = 4;
const LEAVE = 5;

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

/** A request was refused; `message` is the code. */
export class Refused extends Error {}

/** @extends {Emitter<WireEvents>} */
export class Wire extends Emitter {
  /** @type {Welcome | null} */
  welcome = null;
  /** @type {Table | null} */
  table = null;
  /** @type {Pending[]} */
  pending = [];

  #nextId;
  #nextRef = 1;
  #keeper;
  /** @type {((message: any[]) => void) | null} */
  #send = null;
  /** @type {string | null} the session the page wants to look at */
  #wanted = null;
  /** Whether diffs that arrive belong to `table`: between a join and its answer they do not. */
  #following = false;
  /** Whether this connection has had its welcome; any further one answers a *name*. */
  #greeted = false;
  /** @type {Map<number, { message: any[], done: (value: any) => void, refused: (error: Refused) => void }>} */
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
  }

  /**
   * A connection is there. Takes up what the last one left.
   * @param {(message: any[]) => void} send
   */
  opened(send) {
    this.#send = send;
    this.#greeted = false;
    for (const { message } of this.#requests.values()) send(message);
    if (this.#wanted !== null) {
      const held = this.table?.session === this.#wanted ? this.table : null;
      send([JOIN, this.#wanted, held?.epoch ?? 0, held?.version ?? 0]);
    }
  }

  /** The connection is gone; what was sent on it may or may not have arrived. */
  closed() {
    this.#send = null;
    this.#following = false;
    for (const pending of this.pending) pending.sent = false;
  }

  /** @param {string} session */
  join(session) {
    if (this.#wanted === session && this.table?.session === session) return;
    this.#wanted = session;
    this.#following = false;
    this.table = null;
    this.pending = this.#keeper.load(session);
    this.#send?.([JOIN, session, 0, 0]);
  }

  leave() {
    if (this.#wanted === null) return;
    this.#wanted = null;
    this.#following = false;
    this.table = null;
    this.pending = [];
    this.#send?.([LEAVE]);
  }

  /**
   * Sends an action, or keeps it until there is a connection. What becomes of it comes as events.
   * @param {Action} action
   */
  act(action) {
    const table = this.table;
    if (!table) return;
    const last = this.pending.filter((p) => !p.doomed).at(-1);
    const base = last ? -last.id : table.version;
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
   * @returns {Promise<string>} the session, still to be joined
   */
  newGame(game, options) {
    return this.#request((ref) => [NEW, ref, game, options]);
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
    switch (message[0]) {
      case DIFF:
        return this.#onDiff(message);
      case SNAPSHOT:
        return this.#onSnapshot(message);
      case RESUMED:
        return this.#onResumed();
      case ACK:
        return this.#settle(message[1]);
      case REJECT:
        return this.#onReject(message[1], message[2]);
      case WELCOME:
        return this.#onWelcome(message);
      case CREATED:
        return this.#onCreated(message[1], message[2]);
      case TABLE:
        return this.#change('people', { names: message[1], viewers: message[2] });
      case CLOCK:
        return this.#change('clock', { clock: clock(message[1], message[2]) });
      case ERROR:
        return this.emit('error', message[1]);
      case STORE:
        return this.emit('store', message[1] === 1);
    }
  }

  /** @param {any[]} message */
  #onDiff([, version, ...changes]) {
    const table = this.table;
    if (!this.#following || !table) return;
    const view = patched(table.view, changes);
    if (version !== table.version + 1 || !view) return this.#resync();
    this.table = { ...table, version, view };
    this.emit('table', { table: this.table, before: table.view });
  }

  /** @param {any[]} message */
  #onSnapshot([, session, game, epoch, version, seat, view, [elapsedMs, running]]) {
    this.#following = session === this.#wanted;
    if (!this.#following) return;
    const held = this.table;
    const before = held && held.epoch === epoch ? held.view : null;
    const { names = [], viewers = 0 } = held ?? {};
    const table = { session, game, epoch, version, seat, view, clock: clock(elapsedMs, running), names, viewers };
    this.table = table;
    this.#dropForeign(epoch);
    this.emit('table', { table, before });
    this.#flush();
  }

  #onResumed() {
    if (this.table?.session !== this.#wanted) return;
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
    if (!(refused.doomed && code === 'stale')) this.emit('reject', { code, action: refused.action });
    if (code === 'not_joined') this.#resync();
  }

  /**
   * Actions meant for another life of the session must not be taken for actions of this one.
   * @param {number} epoch
   */
  #dropForeign(epoch) {
    const foreign = this.pending.find((p) => p.epoch !== epoch);
    if (!foreign) return;
    this.#setPending(this.pending.filter((p) => p.epoch === epoch));
    this.emit('reject', { code: 'stale', action: foreign.action });
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
    if (!this.table || !this.#following) return;
    this.table = { ...this.table, ...part };
    this.emit(event, this.table);
  }

  /** @param {(ref: number) => any[]} build @returns {Promise<any>} */
  #request(build) {
    const ref = this.#nextRef++;
    const message = build(ref);
    return new Promise((done, refused) => {
      this.#requests.set(ref, { message, done, refused });
      this.#send?.(message);
    });
  }

  /** @param {number} ref @param {(request: any) => void} how */
  #answer(ref, how) {
    const request = this.#requests.get(ref);
    if (!request) return false;
    this.#requests.delete(ref);
    how(request);
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

/** @param {number} elapsedMs @param {number | boolean} running */
function clock(elapsedMs, running) {
  return { elapsedMs, running: Boolean(running), at: performance.now() };
}
