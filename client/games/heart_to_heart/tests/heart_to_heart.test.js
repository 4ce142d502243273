// Heart to Heart without a page: reading views, taps, and where cards lie.

import test from 'node:test';
import assert from 'node:assert/strict';
import { CARD_RATIO, layout, nextTowards, rowOf } from '../layout.js';
import { keptSelection, outlook, partnered, tap } from '../taps.js';
import { DISCARD, STOCK, change, places } from '../view.js';

/** @typedef {{ heart?: Record<number, number>, stock?: number, discard?: number, top?: number, moves?: number, undos?: number }} Sketch */

/** A view: `heart` gives free cards by place; all others are covered aces. @param {Sketch} sketch @returns {any[]} */
function view({ heart = {}, stock = 20, discard = 3, top = 4, moves = 2, undos = 0 }) {
  const cards = places.map((place) => (place in heart ? heart[place] && heart[place] + 16 : 1));
  return [...cards, stock, discard, top, moves, 0, undos, 0, 1, 'HH1-N-AAAAAAM'];
}

/** @param {...(readonly any[])} actions @returns {any[]} */
const under = (...actions) => actions.map((action, i) => ({ id: i, base: i, epoch: 1, action, sent: true, doomed: false }));

/** Taps in a row, on a view that does not change meanwhile. @param {any[]} seen @param {number[]} taps */
function tapped(seen, taps) {
  /** @type {any[]} */
  const actions = [];
  /** @type {number | null} */
  let selected = null;
  let mismatches = 0;
  for (const place of taps) {
    const result = tap(seen, outlook(seen, under(...actions)), selected, place);
    selected = result.selected;
    if (result.action) actions.push(result.action);
    if (result.mismatch) mismatches += 1;
  }
  return { actions, selected, mismatches };
}

test('two equal cards are a pair, in the order of the taps', () => {
  const seen = view({ heart: { 25: 4, 24: 9 } });
  assert.deepEqual(tapped(seen, [25, DISCARD]).actions, [['pair', 25, DISCARD]]);
  assert.deepEqual(tapped(seen, [DISCARD, 25]).actions, [['pair', DISCARD, 25]]);
});

test('another rank becomes the selected card', () => {
  const { actions, selected, mismatches } = tapped(view({ heart: { 25: 4, 24: 9 } }), [25, 24]);
  assert.deepEqual(actions, []);
  assert.equal(selected, 24);
  assert.equal(mismatches, 1);
});

test('the selected card deselects, a covered or gone one does nothing', () => {
  const seen = view({ heart: { 25: 4, 24: 0 } });
  assert.equal(tapped(seen, [25, 25]).selected, null);
  assert.equal(tapped(seen, [25, 1]).selected, 25);
  assert.equal(tapped(seen, [25, 24]).selected, 25);
});

test('ten taps on one pair make one pair', () => {
  const taps = Array.from({ length: 10 }, (_, i) => (i % 2 ? 24 : 25));
  const { actions, selected } = tapped(view({ heart: { 25: 4, 24: 4 } }), taps);
  assert.equal(actions.length, 1);
  assert.equal(selected, null);
});

test('taps on the stock draw what is left, then recycle', () => {
  const { actions } = tapped(view({ stock: 2 }), Array(4).fill(STOCK));
  assert.deepEqual(actions, [['draw'], ['draw'], ['recycle'], ['draw']]);
  assert.deepEqual(tapped(view({ stock: 0, discard: 0, top: 0 }), [STOCK]).actions, []);
});

test('the discard cannot be tapped while it changes', () => {
  const seen = view({ heart: { 25: 4 } });
  assert.deepEqual(tapped(seen, [STOCK, 25, DISCARD]).actions, [['draw']]);
  assert.deepEqual(tapped(seen, [DISCARD, STOCK, 25]).actions, [['draw']], 'and a selected one is let go');
});

test('a selection outlives what does not touch it, and goes with its card', () => {
  const before = view({ heart: { 25: 4, 24: 9 } });
  const drawn = view({ heart: { 25: 4, 24: 9 }, stock: 19, discard: 4, top: 4 });
  const kept = (/** @type {number} */ place) => keptSelection(before, drawn, outlook(drawn, []), place);
  assert.equal(kept(25), 25);
  assert.equal(kept(DISCARD), null, 'another four is on top now');
  const gone = view({ heart: { 25: 0, 24: 9 } });
  assert.equal(keptSelection(before, gone, outlook(gone, []), 25), null);
});

test('rings go around cards with a partner in sight', () => {
  const seen = view({ heart: { 25: 4, 24: 9, 23: 9, 22: 11 } });
  assert.deepEqual([...partnered(seen, outlook(seen, []).playable)].sort((a, b) => a - b), [0, 23, 24, 25]);
  assert.deepEqual([...partnered(seen, outlook(seen, under(['pair', 23, 24])).playable)].sort((a, b) => a - b), [0, 25]);
});

test('changes are named by what is seen to change', () => {
  const seen = view({ heart: { 25: 4, 24: 9, 23: 9 } });
  const kind = (/** @type {any[]} */ a, /** @type {any[]} */ b) => change(a, b).kind;
  const drawn = view({ heart: { 25: 4, 24: 9, 23: 9 }, stock: 19, discard: 4, top: 7 });
  assert.deepEqual(change(seen, drawn), { kind: 'draw', cards: [DISCARD], rank: 7 });
  assert.deepEqual(change(drawn, seen), { kind: 'undraw', cards: [DISCARD], rank: 7 });
  const paired = view({ heart: { 25: 4, 24: 0, 23: 0 } });
  assert.deepEqual(change(seen, paired), { kind: 'pair', cards: [23, 24], rank: 9 });
  assert.deepEqual(change(paired, seen), { kind: 'unpair', cards: [23, 24], rank: 9 });
  const taken = view({ heart: { 25: 0, 24: 9, 23: 9 }, discard: 2, top: 2 });
  assert.deepEqual(change(seen, taken), { kind: 'pair', cards: [25, DISCARD], rank: 4 });
  assert.equal(kind(view({ stock: 0, discard: 9 }), view({ stock: 9, discard: 0, top: 0 })), 'recycle');
  assert.equal(kind(view({ stock: 9, discard: 0, top: 0 }), view({ stock: 0, discard: 9, undos: 1 })), 'unrecycle');
  assert.equal(kind(view({ stock: 0, discard: 1 }), view({ stock: 1, discard: 0, top: 0 })), 'recycle');
  assert.equal(kind(view({ stock: 0, discard: 1 }), view({ stock: 1, discard: 0, top: 0, undos: 1 })), 'undraw');
  assert.equal(kind(seen, seen), 'none');
  assert.equal(kind(seen, view({ stock: 3, discard: 3 })), 'other');
});

const BOARDS = [[306, 440], [378, 720], [740, 900], [1230, 710], [660, 378], [2500, 1330]];

test('everything is on the board, and can be touched', () => {
  for (const [width, height] of BOARDS) {
    const { cardWidth, heart, stock, discard } = layout(width, height);
    assert.ok(cardWidth >= 44, `${width} × ${height}: cards ${cardWidth} wide`);
    for (const { x, y } of [...heart, stock, discard]) {
      assert.ok(x >= 0 && y >= 0 && x + cardWidth <= width + 1 && y + cardWidth * CARD_RATIO <= height + 1, `${x}, ${y} on ${width} × ${height}`);
    }
    for (const pile of [stock, discard]) {
      for (const card of heart) {
        const apart = Math.abs(card.x - pile.x) >= cardWidth || Math.abs(card.y - pile.y) >= cardWidth * CARD_RATIO;
        assert.ok(apart, `a pile over the heart on ${width} × ${height}`);
      }
    }
  }
});

test('the rows are 4, 6, 5, 4, 3, 2, 1', () => {
  assert.deepEqual([1, 4, 5, 10, 11, 15, 16, 19, 20, 22, 23, 24, 25].map(rowOf), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]);
});

test('the arrow keys reach every place from every other', () => {
  const directions = /** @type {[number, number][]} */ ([[1, 0], [-1, 0], [0, 1], [0, -1]]);
  for (const [width, height] of BOARDS) {
    const { heart, stock, discard } = layout(width, height);
    for (const free of [[25], [11, 15, 21], [5, 10, 17], [1, 4, 13], [1, 2, 3, 4], [20, 21, 22]]) {
      const points = new Map([[STOCK, stock], [DISCARD, discard], ...free.map((place) => /** @type {const} */ ([place, heart[place - 1]]))]);
      for (const start of points.keys()) {
        const reached = new Set([start]);
        for (const at of reached) {
          const others = [...points].filter(([place]) => place !== at);
          const from = /** @type {import('../layout.js').Point} */ (points.get(at));
          for (const direction of directions) {
            const next = nextTowards(from, direction, others);
            if (next !== null) reached.add(next);
          }
        }
        assert.equal(reached.size, points.size, `from ${start} among ${free} on ${width} × ${height}`);
      }
    }
  }
});
