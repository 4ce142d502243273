// Owns: the deal of the day on the front page: what it is for this player just now, and the way to it.
//
// Hooks for tests, in the page:
//   [data-role="day-card"]       data-state = loading | new | running | entering | won | missed | failed
//   [data-role="day-go"]         to the day's page, or back to the attempt that is running
//   [data-role="countdown"]

import { get } from '../api.js';
import { exactTime, longDate, signed, todayHere } from '../figures.js';
import { Fresh } from '../fresh.js';
import { h, set } from './dom.js';
import { keepFocus } from './keep.js';
import { Countdown, leaf } from './leaf.js';
import { renew } from './renew.js';
import { failureText } from './shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').Day} Day */

/** A result is entered long before. */
const ENTERED_MS = 1500;

export class DayCard {
  #app;
  #game;
  #told;
  #fresh;
  #countdown;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  #body = h('div', { class: 'day-body' });
  #leaf = h('div', { class: 'day-leaf' });
  #date = h('p', { class: 'day-date' });

  /** @param {App} app @param {string} game what its game is called @param {(day: Day) => void} told called when it is known what day it is */
  constructor(app, game, told) {
    const { t } = app.i18n;
    this.#app = app;
    this.#game = game;
    this.#told = told;
    this.element = h(
      'section',
      { class: 'day-card', 'data-role': 'day-card', 'data-state': 'loading', 'aria-labelledby': 'day-card-title' },
      this.#leaf,
      h('div', { class: 'day-text' }, h('h2', { id: 'day-card-title' }, t('daily.title')), this.#date, this.#body),
    );
    this.#countdown = new Countdown(app.i18n, () => void this.#fresh.reload());
    this.#showDate(todayHere());
    this.#body.append(h('p', { class: 'day-line' }, t('loading')));
    this.#fresh = new Fresh(app.wire, {
      topic: 'daily',
      load: (signal) => get('/api/daily', signal),
      show: (day) => this.#show(day),
      fail: (code) => this.#fail(code),
    });
  }

  destroy() {
    this.#fresh.destroy();
    clearTimeout(this.#again);
    this.#countdown.destroy();
  }

  /** @param {string} date */
  #showDate(date) {
    this.#leaf.replaceChildren(leaf(this.#app.i18n, date));
    this.#date.textContent = `${longDate(this.#app.i18n, date)} · ${this.#game}`;
  }

  /** @param {Day} day */
  #show(day) {
    const { i18n } = this.#app;
    const { t } = i18n;
    this.#told(day);
    this.#showDate(day.date);
    this.#countdown.count(day.ends_in_ms);
    set(this.element, { 'data-state': day.state });
    // That a result has been entered is told to those who look at the boards, and not to everybody here.
    clearTimeout(this.#again);
    if (day.state === 'entering') this.#again = setTimeout(() => void this.#fresh.reload(), ENTERED_MS);
    const running = day.state === 'running' && day.session !== null;
    const href = running ? `/g/${encodeURIComponent(day.session ?? '')}` : '/daily';
    const done = !running && day.state !== 'new';
    const label = running ? 'daily.continue' : done ? 'daily.seeResult' : 'daily.go';
    const go = h('a', { class: `button ${done ? 'plain' : 'main'}`, href, 'data-role': 'day-go' }, t(label));
    keepFocus(this.#body, () => renew(this.#body, [this.#line(day), go, this.#countdown.element]));
  }

  /** @param {Day} day */
  #line({ state, result, players }) {
    const { i18n } = this.#app;
    const { t } = i18n;
    if (result) {
      const { time_ms, moves, par, streak } = result;
      const parts = [exactTime(i18n, time_ms), `${t('daily.moves', { n: moves })} (${signed(i18n, moves - par)})`, t('daily.streakOf', { n: streak })];
      return h('ul', { class: 'day-line done', 'data-role': 'day-result' }, parts.map((part) => h('li', null, part)));
    }
    const begun = { running: 'daily.isRunning', entering: 'daily.entering', missed: 'daily.missed' }[/** @type {string} */ (state)];
    const text = begun ? t(begun) : players ? t('daily.soFar', { n: players }) : t('daily.beFirst');
    return h('p', { class: 'day-line' }, text);
  }

  /** @param {string} code */
  #fail(code) {
    const { t } = this.#app.i18n;
    this.#countdown.destroy();
    set(this.element, { 'data-state': 'failed' });
    this.#body.replaceChildren(
      h('p', { class: 'day-line', role: 'alert' }, failureText(this.#app, code)),
      h('button', { type: 'button', class: 'button plain', 'data-role': 'retry', onclick: () => void this.#fresh.reload() }, t('retry')),
    );
  }
}
