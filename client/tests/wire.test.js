// wire.js: what is sent and what is believed, whatever the connection does.

import test from 'node:test';
import assert from 'node:assert/strict';
import { Wire, patched } from '../wire.js';

const SESSION = 'abc';
const EPOCH = 77;
const FIRST_ID = 2 ** 32;

const draw = /** @type {const} */ (['draw']);
const snapshot = (/** @type {number} */ version, epoch = EPOCH) => [1, SESSION, 'game', epoch, version, 0, [version, 'x'], [0, 0]];
const diff = (/** @type {number} */ version) => [0, version, 0, version];
const join = (epoch = 0, version = 0) => [2, SESSION, epoch, version];
const act = (/** @type {number} */ k, /** @type {number} */ base) => [3, FIRST_ID + k, base, draw];

/** A wire that looks at SESSION, with what it has sent since, the codes it has shown, and what it has kept. */
function joined(version = 5) {
  /** @type {any[]} */
  let sent = [];
  /** @type {string[]} */
  const refused = [];
  /** @type {any[]} */
  let kept = [];
  const keeper = { sessions: () => [], load: () => kept, save: (/** @type {string} */ _session, /** @type {readonly any[]} */ pending) => void (kept = [...pending]) };
  const wire = new Wire({ firstId: FIRST_ID, keeper });
  wire.on('reject', ({ code }) => refused.push(code));
  const open = () => {
    sent = [];
    wire.opened((message) => sent.push(message));
    wire.receive([4, 'me', '', []]);
  };
  open();
  wire.join(SESSION);
  wire.receive(snapshot(version));
  sent = [];
  return { wire, open, refused, sent: () => sent, kept: () => kept };
}

/** The next page's wire. @param {ReturnType<typeof joined>} first */
function reload({ kept }) {
  const load = () => kept().map((p) => ({ ...p, sent: false }));
  return new Wire({ firstId: 2 ** 40, keeper: { sessions: () => [SESSION], load, save() {} } });
}

test('joins and follows', () => {
  const { wire } = joined(5);
  wire.receive(diff(6));
  assert.equal(wire.table?.version, 6);
  assert.deepEqual(wire.table?.view, [6, 'x']);
});

test('a gap is never guessed over', () => {
  const { wire, sent } = joined(5);
  wire.receive(diff(7));
  assert.equal(wire.table?.version, 5);
  assert.deepEqual(sent(), [join()]);
  wire.receive(diff(8));
  assert.deepEqual(sent(), [join()], 'and asked for only once');
  wire.receive(snapshot(8));
  assert.equal(wire.table?.version, 8);
});

test('a diff that does not fit the view asks for a snapshot', () => {
  const { wire, sent } = joined(5);
  wire.receive([0, 6, 9, 1]);
  assert.deepEqual(sent(), [join()]);
  assert.equal(patched([1, 2], [0]), null);
  assert.equal(patched([1, 2], [2, 0]), null);
});

test('each action of a burst is built on the one before', () => {
  const { wire, sent } = joined(5);
  for (let k = 0; k < 3; k++) wire.act(draw);
  assert.deepEqual(sent(), [act(0, 5), act(1, -FIRST_ID), act(2, -FIRST_ID - 1)]);
  for (let k = 0; k < 3; k++) {
    wire.receive(diff(6 + k));
    wire.receive([2, FIRST_ID + k, 6 + k]);
  }
  wire.act(draw);
  assert.deepEqual(sent().at(-1), act(3, 8), 'and on what is seen when nothing is under way');
});

test('an action whose diff is here and whose ack is not was not under way twice', () => {
  const { wire } = joined(5);
  wire.act(draw);
  wire.act(draw);
  assert.deepEqual(wire.underWay.map(({ id }) => id), [FIRST_ID, FIRST_ID + 1]);
  wire.receive(diff(6));
  assert.deepEqual(wire.underWay.map(({ id }) => id), [FIRST_ID + 1], 'the table shows the first one now');
  wire.act(draw);
  wire.receive([2, FIRST_ID, 6]);
  wire.receive(diff(7));
  assert.deepEqual(wire.underWay.map(({ id }) => id), [FIRST_ID + 2]);
  wire.receive([2, FIRST_ID + 1, 7]);
  wire.receive(diff(8));
  assert.deepEqual([wire.underWay, wire.pending.length], [[], 1]);
});

test('actions outlive the connection, with their ids and bases, in order', () => {
  const { wire, open, sent } = joined(5);
  wire.act(draw);
  wire.closed();
  wire.act(draw);
  open();
  assert.deepEqual(sent(), [join(EPOCH, 5)]);
  wire.receive([10, 6]);
  wire.receive(diff(6));
  assert.deepEqual(sent().slice(1), [act(0, 5), act(1, -FIRST_ID)]);
  wire.receive([2, FIRST_ID, 6]);
  wire.receive(diff(7));
  wire.receive([2, FIRST_ID + 1, 7]);
  assert.deepEqual(wire.pending, []);
});

test('actions outlive a reload', () => {
  const first = joined(5);
  first.wire.act(draw);
  /** @type {any[]} */
  const sent = [];
  const reloaded = reload(first);
  reloaded.opened((message) => sent.push(message));
  reloaded.join(SESSION);
  reloaded.receive(snapshot(6));
  assert.deepEqual(sent, [join(), act(0, 5)]);
});

test('actions outlive a reload on another page, and are done before anything else is looked at', () => {
  const first = joined(5);
  first.wire.act(draw);
  /** @type {any[]} */
  const sent = [];
  const reloaded = reload(first);
  reloaded.leave();
  assert.equal(reloaded.pending.length, 1);
  reloaded.opened((message) => sent.push(message));
  reloaded.receive(snapshot(5));
  assert.equal(reloaded.table, null, 'the page is elsewhere');
  reloaded.receive(diff(6));
  reloaded.receive([2, FIRST_ID, 6]);
  assert.deepEqual(sent, [join(), act(0, 5), [5]]);
  assert.deepEqual(reloaded.pending, []);
});

test('who is turned away from a table with kept actions does not ask again and again', () => {
  const first = joined(5);
  first.wire.act(draw);
  /** @type {any[]} */
  const sent = [];
  /** @type {string[]} */
  const late = [];
  const reloaded = reload(first);
  reloaded.on('late', (code) => late.push(code));
  reloaded.opened((message) => sent.push(message));
  reloaded.receive([9, 'no_session']);
  assert.deepEqual(sent, [join(), [5]]);
  assert.deepEqual(late, ['no_session']);
});

test('actions of another life of the session are refused, and said so once', () => {
  const { wire, open, refused, sent } = joined(5);
  wire.closed();
  wire.act(draw);
  wire.act(draw);
  open();
  wire.receive(snapshot(0, EPOCH + 1));
  assert.deepEqual(sent(), [join(EPOCH, 5)]);
  assert.deepEqual(refused, ['stale']);
  assert.deepEqual(wire.pending, []);
});

test('one message for a burst that is refused', () => {
  const { wire, refused, sent } = joined(5);
  for (let k = 0; k < 3; k++) wire.act(draw);
  wire.receive([3, FIRST_ID, 'stock_empty']);
  wire.act(draw);
  assert.deepEqual(sent().at(-1), act(3, 5), 'what is tapped now is meant on what is seen now');
  wire.receive([3, FIRST_ID + 1, 'stale']);
  wire.receive([3, FIRST_ID + 2, 'stale']);
  assert.deepEqual(refused, ['stock_empty']);
});

test('diffs of a session that was left are not taken for the next one', () => {
  const { wire } = joined(5);
  wire.join('other');
  wire.receive(diff(6));
  wire.receive(snapshot(6));
  assert.equal(wire.table, null);
  wire.receive([1, 'other', 'game', 1, 0, null, [0], [0, 0]]);
  assert.equal(wire.table?.['session'], 'other');
  assert.equal(wire.table?.['seat'], null);
});

test('a request is answered once, over a lost connection too', async () => {
  const { wire, open, sent } = joined();
  const game = wire.newGame('game', {});
  wire.closed();
  open();
  const [, ref] = sent()[0];
  wire.receive([5, ref, 'new-session']);
  assert.equal(await game, 'new-session');
  const name = wire.setName('x');
  wire.receive([3, sent().at(-1)[1], 'bad_name']);
  assert.equal(await name.catch((error) => error.message), 'bad_name');
});

test('a game just begun can be continued, and one that is over cannot', () => {
  const { wire, sent } = joined();
  void wire.newGame('game', {});
  const [, ref] = sent().at(-1);
  wire.receive([5, ref, 'new-session']);
  assert.deepEqual(wire.welcome?.sessions, [['new-session', 'game']]);
  wire.ended('new-session');
  assert.deepEqual(wire.welcome?.sessions, []);
});

test('a name is known by the welcome that answers it, not by the first one', async () => {
  const { wire, open } = joined();
  let answered = false;
  const name = wire.setName(' Kari ').then(() => void (answered = true));
  wire.closed();
  open();
  await Promise.resolve();
  assert.equal(answered, false);
  wire.receive([4, 'me', 'Kari', []]);
  await name;
  assert.equal(wire.welcome?.name, 'Kari');
});

test('an action may be meant for whatever version there is', () => {
  const { wire, sent } = joined(5);
  wire.act(draw, { anytime: true });
  assert.deepEqual(sent(), [[3, FIRST_ID, null, draw]]);
});

test('who sits where is told, and kept', () => {
  const { wire } = joined(5);
  assert.equal(wire.table?.chairs, null);
  wire.receive([6, ['Kari', '', '', ''], 2, [1, 0, 4, 3], 0, [30, true, 8000, false, 'good']]);
  assert.deepEqual(wire.table?.chairs, ['here', 'open', 'bot', 'away']);
  assert.equal(wire.table?.started, false);
  assert.equal(wire.table?.settings.pace, 30);
  assert.equal(wire.table?.settings.level, 'good');
  assert.ok(Number(wire.table?.settings.startsAt) > performance.now());
  wire.receive(snapshot(6));
  assert.deepEqual(wire.table?.names, ['Kari', '', '', '']);
});

test('what is asked of a table is answered, and asked again after the join', async () => {
  const { wire, open, sent } = joined(5);
  const sitting = wire.sit(2);
  assert.deepEqual(sent(), [[7, 1, 2]]);
  wire.closed();
  open();
  assert.deepEqual(sent(), [join(EPOCH, 5), [7, 1, 2]]);
  wire.receive([2, 1, 6]);
  await sitting;
  const starting = wire.start();
  wire.receive([3, 2, 'wrong_moment']);
  assert.equal(await starting.catch((error) => error.message), 'wrong_moment');
});

test('what was asked of a table is forgotten with it', () => {
  const { wire, open, sent } = joined(5);
  void wire.stand();
  wire.leave();
  wire.closed();
  open();
  assert.deepEqual(sent(), []);
});

test('who is turned away has no table any more, and is shown it again when it is told', () => {
  for (const code of ['private', 'no_session', 'unreadable', 'sealed', 'crowded']) {
    const { wire, sent, open } = joined(5);
    /** @type {string[]} */
    const errors = [];
    wire.on('error', (its) => errors.push(`${its} ${wire.table}`));
    wire.receive([9, code]);
    assert.deepEqual(errors, [`${code} null`]);
    wire.receive(diff(6));
    assert.equal(wire.table, null, 'what comes late is not for who was turned away');
    wire.join(SESSION);
    assert.deepEqual(sent(), [join()], 'it can be asked for again');
    wire.receive([9, code]);
    open();
    assert.deepEqual(sent(), [join()], 'and is, on another connection');
    wire.receive(snapshot(8));
    wire.receive(diff(9));
    assert.equal(wire.table?.version, 9);
  }
});

test('an error about nothing in particular leaves the table as it is', () => {
  const { wire } = joined(5);
  wire.receive([9, 'too_fast']);
  wire.receive([9, 'ended']);
  wire.receive(diff(6));
  assert.equal(wire.table?.version, 6);
});

test('what was kept at a table that the page has left is sent, and only then the table is left', () => {
  for (const [go, then] of /** @type {[(wire: Wire) => void, any[]][]} */ ([[(wire) => wire.leave(), [5]], [(wire) => wire.join('other'), [2, 'other', 0, 0]]])) {
    const { wire, open, sent, kept } = joined(5);
    wire.closed();
    wire.act(draw);
    go(wire);
    /** @type {any[]} */
    const told = [];
    wire.on('table', (its) => told.push(its));
    wire.on('people', (its) => told.push(its));
    assert.equal(wire.table, null);
    open();
    assert.deepEqual(sent(), [join(EPOCH, 5)]);
    wire.receive([10, 5]);
    wire.receive([6, ['Kari'], 0, [1], 1, [0, false, null, false, '']]);
    wire.receive(diff(6));
    assert.deepEqual(sent().slice(1), [act(0, 5)]);
    wire.receive([2, FIRST_ID, 6]);
    assert.deepEqual(sent().slice(2), [then]);
    assert.deepEqual([wire.pending.length, wire.table, told], [0, null, []], 'the page looks at something else');
    if (then[0] === 5) assert.deepEqual(kept(), []);
  }
});

test('who comes back before that finds the table as it was', () => {
  const { wire, open, sent } = joined(5);
  wire.closed();
  wire.act(draw);
  wire.join('other');
  wire.leave();
  wire.join(SESSION);
  assert.equal(wire.table?.version, 5);
  open();
  wire.receive([10, 5]);
  wire.receive(diff(6));
  wire.receive([2, FIRST_ID, 6]);
  assert.deepEqual(sent(), [join(EPOCH, 5), act(0, 5)]);
  assert.equal(wire.table?.version, 6);
});

test('a refusal at a table that was left is told as such, and so is that it cannot be done', () => {
  for (const answer of [[3, FIRST_ID, 'stale'], [9, 'no_session']]) {
    const { wire, open, sent, refused } = joined(5);
    /** @type {string[]} */
    const late = [];
    wire.on('late', (code) => late.push(code));
    wire.on('error', (code) => late.push(`error ${code}`));
    wire.closed();
    wire.act(draw);
    wire.leave();
    open();
    if (answer[0] === 3) wire.receive([10, 5]);
    wire.receive(answer);
    assert.deepEqual([late, refused], [[answer.at(-1)], []]);
    assert.deepEqual(sent().at(-1), [5]);
  }
});

test('who was turned away and is let in on another connection does what was kept', () => {
  const { wire, open, sent } = joined(5);
  wire.closed();
  wire.act(draw);
  open();
  wire.receive([9, 'private']);
  assert.deepEqual(wire.pending, []);
  wire.closed();
  open();
  wire.receive(snapshot(5));
  assert.deepEqual(sent(), [join(), act(0, 5)]);
});

test('a session that was asked for without a connection is not waited for by who goes on', async () => {
  for (const goOn of /** @type {((wire: Wire) => void)[]} */ ([(wire) => wire.withdraw(), (wire) => wire.act(draw)])) {
    const { wire, open, sent } = joined(5);
    wire.closed();
    const asked = wire.newGame('game', {});
    assert.equal(wire.asking, true);
    goOn(wire);
    assert.deepEqual([await asked, wire.asking], [null, false]);
    open();
    assert.deepEqual(sent(), [join(EPOCH, 5)]);
  }
});

test('a game that was asked for and begins for nobody can be continued, and is not asked for again', async () => {
  const { wire, open, sent } = joined();
  const asked = wire.newGame('game', {});
  const [, ref] = sent().at(-1);
  wire.withdraw();
  assert.equal(await asked, null);
  wire.receive([5, ref, 'new-session']);
  assert.deepEqual(wire.welcome?.sessions, [['new-session', 'game']]);
  void wire.newGame('game', {});
  wire.withdraw();
  wire.closed();
  open();
  assert.deepEqual(sent(), [join(EPOCH, 5)]);
});

test('what fits no frame is refused at once, and never sent', async () => {
  const { wire, open, sent } = joined(5);
  assert.equal(await wire.setName('x'.repeat(5000)).catch((error) => error.message), 'too_large');
  assert.equal(await wire.newGame('game', { code: 'x'.repeat(5000) }).catch((error) => error.message), 'too_large');
  wire.closed();
  open();
  assert.deepEqual(sent(), [join(EPOCH, 5)]);
});
