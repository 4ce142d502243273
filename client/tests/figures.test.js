// figures.js: how results are written, and which days stand beside each other.

import test from 'node:test';
import assert from 'node:assert/strict';
import { exactTime, isDate, neighbours } from '../figures.js';
import { I18n } from '../i18n.js';
import en from '../texts/en.js';

// Node has no browser's languages.
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en'] }, configurable: true });
const i18n = new I18n();
i18n.add('en', en);
i18n.choose(['en']);

test('a time is cut to tenths, as the boards compare it', () => {
  assert.equal(exactTime(i18n, 9371), '0:09.3');
  assert.equal(exactTime(i18n, 9300), '0:09.3');
  assert.equal(exactTime(i18n, 59_999), '0:59.9');
  assert.equal(exactTime(i18n, 3_600_000 + 62_050), '1:01:02.0');
});

test('a date is one that there is', () => {
  assert.ok(isDate('2024-02-29'));
  for (const text of ['2023-02-29', '2024-13-01', '2024-1-01', 'today', '']) assert.equal(isDate(text), false, text);
});

test('beside a date without a deal are the days of its month that have one, and today if it is to come', () => {
  const days = ['2026-11-05', '2026-11-07', '2026-11-30'];
  assert.deepEqual(neighbours('2026-11-06', days, '2026-11-30'), { before: '2026-11-05', after: '2026-11-07' });
  assert.deepEqual(neighbours('2026-11-01', days, '2026-11-30'), { before: null, after: '2026-11-05' });
  assert.deepEqual(neighbours('2999-01-01', [], '2026-11-30'), { before: '2026-11-30', after: null });
  assert.deepEqual(neighbours('2020-01-01', [], '2026-11-30'), { before: null, after: null });
  assert.deepEqual(neighbours('2020-01-01', [], null), { before: null, after: null });
});
