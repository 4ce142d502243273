// The positions of Learn Hearts: that they are what a server would send, as far as can be told without rules.

import test from 'node:test';
import assert from 'node:assert/strict';
import { patched } from '../../../wire.js';
import en from '../texts/en.js';
import { passed } from '../learn/passing.js';
import { positions } from '../learn/positions.js';
import { STEPS } from '../learn/steps.js';
import { FIELDS, spread } from '../view.js';

const texts = /** @type {Record<string, unknown>} */ (en.texts);

/** All views of a scene. @param {import('../learn/lesson.js').Scene} scene @returns {any[][]} */
function viewsOf({ start, then = {}, watch = [] }) {
  const runs = [watch, ...Object.values(then)];
  return [start, ...runs.flatMap((diffs) => {
    let view = start;
    return diffs.map((diff) => (view = /** @type {any[]} */ (patched(view, diff))));
  })];
}

/** @param {string} name */
function last(name) {
  const views = viewsOf(positions[name]);
  return spread(views[views.length - 1]);
}

test('every step has a position and its texts', () => {
  assert.deepEqual(Object.keys(positions).sort(), STEPS.map(({ name }) => name).sort());
  for (const { name, paragraphs, does } of STEPS) {
    for (let i = 1; i <= paragraphs; i++) assert.ok(`learn.${name}.${i}` in texts, `learn.${name}.${i}`);
    assert.ok(!(`learn.${name}.${paragraphs + 1}` in texts), `learn.${name} has more paragraphs`);
    assert.ok(`learn.${name}.title` in texts);
    if (does === 'play' || does === 'pass') assert.ok(`learn.${name}.try` in texts && `learn.${name}.done` in texts, name);
  }
});

test('whoever plays another card than is advised is not praised for it', () => {
  for (const { name, otherwise = [] } of STEPS) {
    const { start, then = {} } = positions[name];
    assert.equal(otherwise.length > 0, `learn.${name}.otherwise` in texts, name);
    for (const card of otherwise) assert.ok(String(card) in then, name);
    if (name !== 'discarding') continue;
    // the advice is to give points to somebody
    const costly = spread(start).legal.filter((card) => card === 50 || Math.floor(card / 13) === 2);
    assert.deepEqual([...costly, ...otherwise].sort((a, b) => a - b), [...spread(start).legal].sort((a, b) => a - b));
  }
});

test('every position is a view', () => {
  for (const [name, scene] of Object.entries(positions)) {
    for (const view of viewsOf(scene)) {
      assert.ok(view !== null && view.length === FIELDS.length, name);
      const now = spread(view);
      const held = [0, 1, 2, 3].map(now.held).reduce((sum, n) => sum + n);
      const played = Array.from({ length: 13 }, (_, i) => now.trick(i + 1)?.cards.length ?? 0).reduce((sum, n) => sum + n);
      assert.equal(held + played, 52, name);
      assert.ok(now.hand(0) !== null && now.hand(1) === null, 'what the reader sees is what a player sees');
    }
  }
});

test('where a card is to be played, there is what comes of each that may be', () => {
  for (const { name, does } of STEPS) {
    if (does !== 'play') continue;
    const { start, then = {} } = positions[name];
    const now = spread(start);
    assert.deepEqual(now.toAct, [0], name);
    assert.deepEqual(Object.keys(then).map(Number).sort((a, b) => a - b), [...now.legal].sort((a, b) => a - b), name);
    assert.equal(now.why === '', now.legal.length === now.hand(0)?.length, name);
  }
});

test('what is refused is refused for the reason of the step', () => {
  const why = (/** @type {string} */ name) => spread(positions[name].start).why;
  assert.equal(why('twoOfClubs'), 'must_lead_two_of_clubs');
  assert.equal(why('firstTrick'), 'no_points_on_first_trick');
  assert.equal(why('following'), 'must_follow');
  assert.equal(why('discarding'), '');
  assert.equal(why('breaking'), 'hearts_not_broken');
});

test('hearts are broken by whatever is led, and may be led then', () => {
  const { start, then = {} } = positions.breaking;
  assert.equal(spread(start).broken, false);
  for (const diffs of Object.values(then)) {
    const end = spread(diffs.reduce((view, diff) => /** @type {any[]} */ (patched(view, diff)), start));
    assert.ok(end.broken);
    assert.ok(end.legal.some((card) => card >= 26 && card < 39));
  }
});

test('the examples are those of the text', () => {
  assert.deepEqual(spread(positions.scores.start).totals, [23, 45, 8, 31]);
  const end = last('end');
  assert.equal(end.totals[1], 102);
  assert.equal(end.totals[2], 34);
  assert.deepEqual(end.winners, [2]);
  assert.deepEqual(end.sheet.reduce((sum, { points }) => sum.map((n, i) => n + points[i]), [0, 0, 0, 0]), end.totals);
  assert.equal(last('moon').sheet[0].shooter, 2);
  assert.ok(last('cost').points.includes(15));
  assert.ok(spread(positions.omnibus.start).omnibus);
});

test('any three cards can be passed', () => {
  const { start, received = [], leader = 0 } = positions.passing;
  const hand = /** @type {number[]} */ (spread(start).hand(0));
  const after = spread(passed(start, 0, hand.slice(4, 7), received, leader));
  assert.equal(after.phase, 'playing');
  assert.equal(after.held(0), 13);
  assert.deepEqual(after.given(3), received);
  assert.ok(received.every((card) => after.hand(0)?.includes(card)));
  assert.deepEqual(after.toAct, [leader]);
});
