// turns.js: how much of a turn is left.

import test from 'node:test';
import assert from 'node:assert/strict';
import { Turns } from '../turns.js';

/** @type {import('../wire.js').Chair[]} */
const HERE = ['here', 'here', 'bot', 'here'];
const waiting = (/** @type {number[]} */ seats, moment = 'a', patience = 1) => ({ seats, moment, patience });

test('a turn runs from when it came', () => {
  const turns = new Turns();
  turns.see(waiting([0]), HERE, 30, 1000);
  assert.equal(turns.left(0, 1000), 1);
  assert.equal(turns.left(0, 16_000), 0.5);
  assert.equal(turns.left(0, 99_000), 0);
  assert.equal(turns.left(1, 1000), null, 'not to act');
});

test('it goes on while others act, and begins anew at another moment', () => {
  const turns = new Turns();
  turns.see(waiting([0, 1, 3]), HERE, 10, 0);
  turns.see(waiting([0, 3]), HERE, 10, 4000);
  assert.equal(turns.left(0, 5000), 0.5);
  turns.see(waiting([0], 'b'), HERE, 10, 5000);
  assert.equal(turns.left(0, 5000), 1);
});

test('the server knows better', () => {
  const turns = new Turns();
  turns.see(waiting([0], 'a', 3), HERE, 10, 50_000);
  turns.told(15_000, 50_000);
  assert.equal(turns.left(0, 50_000), 0.5);
});

test('bots have no clock, nor has a table without limit; who comes back has all their time', () => {
  const turns = new Turns();
  turns.see(waiting([0, 2]), HERE, 10, 0);
  assert.equal(turns.left(2, 0), null);
  turns.see(waiting([0]), HERE, 0, 0);
  assert.equal(turns.left(0, 0), null);
  turns.see(waiting([0]), ['away', 'here', 'bot', 'here'], 10, 5000);
  assert.equal(turns.left(0, 5000), null);
  turns.see(waiting([0]), HERE, 10, 9000);
  assert.equal(turns.left(0, 9000), 1);
});
