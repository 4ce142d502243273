// Hearts without a page: reading views, what happened between two, and where cards lie.

import test from 'node:test';
import assert from 'node:assert/strict';
import { asHeld, cardOf, rankOf, suitOf } from '../cards.js';
import { CARD_RATIO, handSpots, sideLayout, sizes, trickCard, trickSpots } from '../layout.js';
import { FIELD, FIELDS, lastTrick, playerOf, plays, received, spread, trickOnTable, unfolded } from '../view.js';

/** A view in which nothing has happened yet but for some fields. @param {Record<string, any>} fields @returns {any[]} */
function view(fields = {}) {
  const blank = FIELDS.map((name) => {
    if (name.startsWith('hand') && name !== 'hand_number') return 13;
    if (name.startsWith('pass') && name !== 'pass_offset') return 0;
    if (/^(trick\d+|to_act|legal|claimed|sheet|winners)$/.test(name)) return [];
    if (/^(took|points|totals)$/.test(name)) return [0, 0, 0, 0];
    return name === 'why' ? '' : name === 'target' ? 100 : name === 'hand_number' ? 1 : 0;
  });
  for (const [name, value] of Object.entries(fields)) blank[FIELD[name]] = value;
  return blank;
}

test('a view has the fields that docs/rules/hearts.md numbers', () => {
  assert.equal(FIELDS.length, 38);
  assert.deepEqual(['hand0', 'pass0', 'trick1', 'phase', 'legal', 'sheet', 'omnibus'].map((name) => FIELD[name]), [0, 4, 8, 21, 29, 33, 37]);
});

test('cards are numbered as on the server', () => {
  assert.equal(cardOf(2, 'clubs'), 1);
  assert.equal(cardOf(12, 'spades'), 50);
  assert.equal(cardOf(11, 'diamonds'), 23);
  assert.equal(suitOf(50), 'spades');
  assert.equal(rankOf(26), 1);
  assert.deepEqual(asHeld([26, 50, 0, 1, 27, 13]), [1, 0, 13, 50, 27, 26], 'clubs, diamonds, spades, hearts; aces high');
});

test('hands are lists or counts', () => {
  const now = spread(view({ hand0: [1, 2], pass3: [4, 5, 6], pass1: 3 }));
  assert.deepEqual(now.hand(0), [1, 2]);
  assert.equal(now.hand(1), null);
  assert.deepEqual([0, 1].map(now.held), [2, 13]);
  assert.deepEqual([0, 1, 3].map(now.passed), [false, true, true]);
  assert.deepEqual(now.given(1), []);
});

test('received cards are those of the seat that passes to us', () => {
  const playing = { phase: 1, pass_offset: 1, pass3: [4, 5, 6], pass0: [1, 2, 3] };
  assert.deepEqual(received(spread(view(playing)), 0), [4, 5, 6]);
  assert.deepEqual(received(spread(view({ ...playing, phase: 0 })), 0), [], 'not before all have passed');
  assert.deepEqual(received(spread(view({ phase: 1, pass_offset: 0 })), 0), []);
  assert.deepEqual(received(spread(view({ phase: 1, pass_offset: 3, pass1: [7, 8, 9] })), 0), [7, 8, 9]);
});

test('the trick on the table, and the one before', () => {
  const [first, second] = [[2, 3, 1, 5, 9, 4], [3, 3, 20]];
  const between = spread(view({ phase: 1, trick1: first, trick_number: 2 }));
  assert.deepEqual(trickOnTable(between)?.cards, [1, 5, 9, 4]);
  assert.deepEqual(lastTrick(between)?.cards, [1, 5, 9, 4]);
  const under = spread(view({ phase: 1, trick1: first, trick2: second, trick_number: 2 }));
  assert.deepEqual(trickOnTable(under)?.cards, [20]);
  assert.deepEqual(lastTrick(under)?.cards, [1, 5, 9, 4]);
  const over = spread(view({ phase: 2, trick1: first, trick_number: 1 }));
  assert.deepEqual(lastTrick(over)?.cards, [1, 5, 9, 4]);
  assert.equal(lastTrick(spread(view())), null);
  assert.equal(playerOf({ leader: 2, winner: 2, cards: [] }, 3), 1);
});

test('the last trick comes in one go, and is shown card by card', () => {
  const twelve = [0, 1, 10, 11, 12];
  const before = view({ phase: 1, trick12: twelve, trick_number: 12, hand3: 2, hand0: [30], hand1: 1, hand2: 1, legal: [30], to_act: [3] });
  const after = view({ phase: 2, trick12: [...twelve, 9], trick13: [1, 2, 40, 41, 42, 30], trick_number: 13, hand0: [], hand1: 0, hand2: 0, hand3: 0, sheet: [[1, 2, 3, 20, null]] });
  assert.deepEqual(plays(before, after).map(({ seat, card, last }) => [seat, card, last]), [[3, 9, true], [1, 40, false], [2, 41, false], [3, 42, false], [0, 30, true]]);
  const views = unfolded(before, after);
  assert.equal(views.length, 5);
  assert.equal(views[4], after);
  assert.deepEqual(views.map((its) => trickOnTable(spread(its))?.cards), [[10, 11, 12, 9], [40], [40, 41], [40, 41, 42], [40, 41, 42, 30]]);
  assert.deepEqual(views.map((its) => spread(its).held(0)), [1, 1, 1, 1, 0]);
  assert.deepEqual(spread(views[1]).legal, []);
  assert.equal(spread(views[1]).phase, 'playing');
  assert.equal(spread(views[1]).trick(13)?.winner, 1);
  assert.equal(spread(views[2]).trick(13)?.winner, 2);
});

test('another hand is not unfolded', () => {
  const after = view({ hand_number: 2 });
  assert.deepEqual(unfolded(view({ phase: 2, hand_number: 1 }), after), [after]);
});

const BOARDS = [[320, 455], [390, 730], [668, 390], [392, 320], [1280, 735], [2560, 1360], [310, 320]];
const HANDS = [[0, 0, 0, 0, 1, 1, 1, 3, 3, 3, 2, 2, 2], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3]];

test('thirteen cards fit, and each can be touched', () => {
  for (const [width, height] of BOARDS) {
    const its = sizes(width, height);
    for (const suits of HANDS) {
      for (let n = 1; n <= 13; n++) {
        const spots = handSpots(suits.slice(0, n), width, its);
        spots.forEach(({ x, y }, i) => {
          const next = spots[i + 1];
          const seen = next && next.y === y ? next.x - x : its.card;
          assert.ok(seen >= 24, `${width} × ${height}: ${seen} of a card in ${n} seen`);
          assert.ok(x >= 0 && x + its.card <= width, 'inside');
          assert.ok(y + its.card * CARD_RATIO <= its.handHeight + 1);
        });
        const [back, front] = [spots[0].y, spots[n - 1].y];
        assert.ok(front === back || front - back >= 40, 'the back row can be touched too');
        assert.ok(its.card * CARD_RATIO >= 44);
      }
    }
  }
});

test('the trick is on the felt', () => {
  for (const [width, height] of [[168, 220], [240, 460], [430, 190], [840, 430]]) {
    const card = trickCard(width, height, 200);
    for (const { x, y } of trickSpots(width, height, card)) {
      assert.ok(x >= 0 && y >= -1 && x + card <= width && y + card * CARD_RATIO <= height + 2, `${x}, ${y} on ${width} × ${height}`);
    }
  }
});

test('a hand face up at the side is a column, or rows where a column would hide the ranks', () => {
  assert.deepEqual(sideLayout(72, 260, 32), { perRow: 1, step: 16, fits: true });
  for (const [width, height, card] of [[72, 81, 22], [72, 126, 25], [72, 87, 20]]) {
    const { perRow, step, fits } = sideLayout(width, height, card);
    const rows = Math.ceil(13 / perRow);
    assert.ok(fits && perRow > 1);
    assert.ok(card * (1 + (perRow - 1) / 2) <= width, 'not wider than the side');
    assert.ok((rows - 1) * step + card * CARD_RATIO <= height, 'nor higher');
    assert.ok(step >= card * 0.84, 'rank and suit are seen');
  }
  assert.equal(sideLayout(72, 47, 22).fits, false);
  assert.equal(sideLayout(72, 10, 22).step, 0);
});
