// result.js: what a player tells others.

import test from 'node:test';
import assert from 'node:assert/strict';
import { I18n } from '../i18n.js';
import en from '../texts/en.js';
import nb from '../texts/nb.js';
import { shareText } from '../ui/result.js';

// Node has no browser's languages.
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en'] }, configurable: true });
Object.defineProperty(globalThis, 'location', { value: { origin: 'https://example.org' } });

/** @param {string} language @param {number} streak */
function lines(language, streak) {
  const i18n = new I18n();
  i18n.add('en', en);
  i18n.add('nb', nb);
  i18n.choose([language]);
  const result = { date: '2026-11-30', session: 'm7wjCLsVUrot', time_ms: 183_400, moves: 79, par: 73, streak, places: { time: null, moves: null } };
  return shareText(i18n, result, 'Heart to Heart').split('\n');
}

test('the streak is told from its first day on, in both languages', () => {
  assert.equal(lines('en', 1)[2], 'Streak: 1 day');
  assert.equal(lines('en', 4)[2], 'Streak: 4 days');
  assert.equal(lines('nb', 1)[2], 'På rad: 1 dag');
  assert.equal(lines('nb', 4)[2], 'På rad: 4 dager');
});

test('nothing of the deal is told', () => {
  const [title, result, , link, ...more] = lines('en', 1);
  assert.ok(title.startsWith('Heart to Heart, deal of '));
  assert.ok(result.startsWith('3:03.4 · 79 moves, '));
  assert.equal(link, 'https://example.org/daily/2026-11-30');
  assert.deepEqual(more, []);
});
