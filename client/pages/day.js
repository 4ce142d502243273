// Owns: the page of a day: its ranked attempt before, during and after, its boards, its practice.
//
// Hooks for tests, in the page:
//   [data-role="no-day"]         data-date: a date without a deal; day-calendar, day-today
//   [data-role="day"]            data-date, data-state = new | running | entering | won | missed, data-over
//   day-start, day-continue, day-practice, day-share-copy, day-share-native, day-share-text, day-rule
//   [data-role="result-time"], result-moves, result-over, result-streak; each with …-more
//   [data-role="boards"]         [data-tab="time"], [data-tab="moves"], board-group, board-more, board-count, board-empty
//   tr[data-player], [data-me]   rows of a board; [data-role="row-replay"] in them

import { ApiError, get, post } from '../api.js';
import { DAY_MS, dateText, exactTime, isDate, longDate, momentText, neighbours, shifted, startOf } from '../figures.js';
import { Fresh } from '../fresh.js';
import { games } from '../games.js';
import { pageTitle } from '../router.js';
import { BoardView } from '../ui/boards.js';
import { h } from '../ui/dom.js';
import { icon } from '../ui/icons.js';
import { keepFocus } from '../ui/keep.js';
import { Countdown, leaf } from '../ui/leaf.js';
import { renew } from '../ui/renew.js';
import { resultFacts, shareText } from '../ui/result.js';
import { copy, failure, loading, shell } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').Day} Day */
/** @typedef {import('../i18n.js').I18n} I18n */

/** A deal that is not ready yet takes some seconds to be made. */
const START_PATIENCE_MS = 60_000;

/**
 * The page of today, or of a date.
 * @param {App} app
 * @param {string | null} date
 * @returns {import('../router.js').Shown}
 */
export function day(app, date) {
  const { t } = app.i18n;
  app.wire.leave();
  /** @type {DayPage | null} */
  let shown = null;
  const asked = new AbortController();
  const place = h('div', null);
  const open = async () => {
    place.replaceChildren(loading(app));
    try {
      const found = /** @type {Day} */ (await get(date ? `/api/daily/${encodeURIComponent(date)}` : '/api/daily', asked.signal));
      if (!asked.signal.aborted) shown = new DayPage(app, place, found);
    } catch (error) {
      if (asked.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.message === 'no_day' && date && isDate(date)) return void (await noDeal(app, place, date, asked.signal));
      place.replaceChildren(h('h1', null, t('daily.title')), failure(app, error.message, () => void open()), h('p', null, h('a', { href: '/calendar' }, t('calendar.title'))));
    }
  };
  shell(app, '/daily', place);
  void open();
  return {
    title: t('daily.title'),
    destroy() {
      asked.abort();
      shown?.destroy();
      app.wire.watch(null);
    },
  };
}

/**
 * Shows that a date has no deal, with ways to those before and after it that have one, as far as its month goes.
 * @param {App} app
 * @param {HTMLElement} place
 * @param {string} date
 * @param {AbortSignal} signal
 */
async function noDeal(app, place, date, signal) {
  const { i18n } = app;
  const { t } = i18n;
  const month = /** @type {import('../api.js').Month | null} */ (await get(`/api/daily/calendar?month=${date.slice(0, 7)}`, signal).catch(() => null));
  if (signal.aborted) return;
  const { before, after } = neighbours(date, month?.days.map((day) => day.date) ?? [], month?.today ?? null);
  place.replaceChildren(
    h(
      'div',
      { class: 'day-page', 'data-role': 'no-day', 'data-date': date },
      dayHead(i18n, date, [longDate(i18n, date)], dayWays(i18n, date, before !== null && ['daily.dealBefore', before], after !== null && ['daily.dealAfter', after])),
      h('div', { class: 'day-side' }, h('div', { class: 'day-panel' }, h('h2', null, app.codeText('no_day')), toToday(i18n))),
    ),
  );
  document.title = pageTitle(`${t('daily.title')}, ${dateText(i18n, date)}`);
}

/** @param {I18n} i18n @param {string} date @param {import('../ui/dom.js').Child[]} line @param {HTMLElement} ways */
function dayHead(i18n, date, line, ways) {
  return h('header', { class: 'day-head' }, leaf(i18n, date), h('div', null, h('h1', null, i18n.t('daily.title')), h('p', { class: 'day-date' }, line)), ways);
}

/** @typedef {[label: string, date: string] | false} Way to another day */

/** @param {I18n} i18n @param {string} date @param {Way} before @param {Way} after */
function dayWays(i18n, date, before, after) {
  const ways = h('nav', { class: 'day-ways', 'aria-label': i18n.t('daily.otherDays') });
  ways.append(...otherDays(i18n, date, before, after));
  return ways;
}

/** @param {I18n} i18n @param {string} date @param {Way} before @param {Way} after */
function otherDays({ t }, date, before, after) {
  const to = (/** @type {Way} */ way, /** @type {import('../ui/icons.js').Icon} */ name) =>
    way ? h('a', { class: 'round', href: `/daily/${way[1]}`, title: t(way[0]), 'aria-label': t(way[0]) }, icon(name)) : h('span', { class: 'round' });
  return [to(before, 'back'), h('a', { class: 'button plain small', href: `/calendar/${date.slice(0, 7)}`, 'data-role': 'day-calendar' }, t('calendar.title')), to(after, 'forward')];
}

/** @param {I18n} i18n */
function toToday({ t }) {
  return h('p', null, h('a', { href: '/daily', 'data-role': 'day-today' }, t('daily.toToday')));
}

class DayPage {
  #app;
  #date;
  /** @type {Day} */
  #day;
  #game;
  #fresh;
  #boards;
  #off;
  #countdown;
  #starting = false;
  #panel = h('div', { class: 'day-panel' });
  #trouble = h('div');
  #ways;
  #root;

  /** @param {App} app @param {HTMLElement} place @param {Day} day */
  constructor(app, place, day) {
    const { i18n } = app;
    const { t } = i18n;
    const topic = `board/${day.date}`;
    this.#app = app;
    this.#date = day.date;
    this.#day = day;
    this.#game = [...games.values()].find((game) => game.day?.(day.code));
    app.wire.watch(topic);
    this.#ways = dayWays(i18n, day.date, false, false);
    /** @type {import('../ui/boards.js').Boards<import('../api.js').DayRow>} */
    const boards = {
      path: `/api/daily/${day.date}/board`,
      topic,
      by: [
        ['time', 'board.byTime'],
        ['moves', 'board.byMoves'],
      ],
      label: 'board.ofDay',
      empty: ({ over }) => (over ? 'daily.nobodyDid' : 'daily.nobody'),
      columns: (by, { open }) => this.#columns(by, Boolean(open)),
    };
    const group = new URLSearchParams(location.search).get('group') ?? '';
    this.#boards = new BoardView(app, boards, group);
    this.#root = h(
      'div',
      { class: 'day-page', 'data-role': 'day', 'data-date': day.date },
      dayHead(i18n, day.date, [longDate(i18n, day.date), this.#game ? ` · ${t(this.#game.title)}` : null], this.#ways),
      h('div', { class: 'day-side' }, this.#trouble, this.#panel),
      this.#boards.element,
    );
    this.#countdown = new Countdown(i18n, () => void this.#fresh.reload());
    place.replaceChildren(this.#root);
    document.title = pageTitle(`${t('daily.title')}, ${dateText(i18n, day.date)}`);
    this.#count();
    this.#draw();
    if (group) this.#boards.element.scrollIntoView({ block: 'nearest' });
    this.#off = app.wire.on('welcome', () => this.#draw()); // which says what the player is called
    this.#fresh = new Fresh(app.wire, {
      topic,
      load: (signal) => get(`/api/daily/${day.date}`, signal),
      show: (now) => this.#show(now),
      fail: (code) => this.#trouble.replaceChildren(failure(app, code, () => void this.#fresh.reload())),
    });
  }

  destroy() {
    this.#off();
    this.#fresh.destroy();
    this.#boards.destroy();
    this.#countdown.destroy();
  }

  /** @param {Day} day */
  #show(day) {
    const before = this.#day;
    this.#day = day;
    this.#trouble.replaceChildren();
    // Only what is said of the day makes another panel; its seconds run by themselves, until they are over. That
    // may be too early, if this clock runs faster than the server's.
    const told = (/** @type {Day} */ one) => JSON.stringify({ ...one, ends_in_ms: 0 });
    if (told(before) !== told(day) || this.#countdown.isOver) {
      this.#count();
      this.#draw();
    }
    if (before.open !== day.open) this.#boards.reload();
  }

  #count() {
    const { over, ends_in_ms } = this.#day;
    if (over) this.#countdown.destroy();
    else this.#countdown.count(ends_in_ms);
  }

  #draw() {
    const { state, over } = this.#day;
    this.#root.dataset.state = state;
    this.#root.toggleAttribute('data-over', over);
    keepFocus(this.#ways, () => renew(this.#ways, this.#neighbours()));
    const content = { new: () => this.#new(), running: () => this.#running(), entering: () => this.#entering(), won: () => this.#won(), missed: () => this.#missed() }[state]();
    keepFocus(this.#panel, () => renew(this.#panel, [...content.filter((part) => part !== null), over ? toToday(this.#app.i18n) : this.#countdown.element]));
  }

  // ---- what the panel says, by the state of the day

  #new() {
    const { over, ready } = this.#day;
    const { t } = this.#app.i18n;
    if (over) return [h('h2', null, t('daily.past')), h('p', null, t('daily.pastMore')), this.#par(), this.#choices(this.#practice('main'))];
    return [
      h('h2', null, t('daily.oneAttempt')),
      h('ul', { class: 'day-rule', 'data-role': 'day-rule' }, ['daily.rule.first', 'daily.rule.clock', 'daily.rule.moves', 'daily.rule.sealed'].map((key) => h('li', null, t(key)))),
      this.#choices(this.#startButton()),
      this.#hint(ready ? this.#finished() : t('daily.notReady')),
    ];
  }

  #running() {
    const { over, session } = this.#day;
    const { t } = this.#app.i18n;
    const until = momentText(this.#app.i18n, startOf(this.#date) + 2 * DAY_MS);
    return [
      h('h2', null, t('daily.isRunning')),
      h('p', null, over ? t('daily.runningOver', { until }) : t('daily.runningMore')),
      this.#choices(h('a', { class: 'button main', href: `/g/${encodeURIComponent(session ?? '')}`, 'data-role': 'day-continue' }, t('daily.continue'))),
    ];
  }

  #entering() {
    const { t } = this.#app.i18n;
    return [h('h2', null, t('daily.entering')), h('p', null, t('daily.enteringMore'))];
  }

  #missed() {
    const { t } = this.#app.i18n;
    return [h('h2', null, t('daily.missed')), h('p', null, t('daily.missedMore')), this.#par(), this.#choices(this.#practice('main'))];
  }

  #won() {
    const { result, session, open } = this.#day;
    const { i18n } = this.#app;
    const { t } = i18n;
    if (!result) return this.#entering();
    return [
      h('h2', null, t('daily.yourResult')),
      resultFacts(i18n, result),
      this.#nameless(),
      h('p', { class: 'share-text', 'data-role': 'day-share-text', dir: 'auto' }, this.#shareText()),
      this.#choices(
        h('button', { type: 'button', class: 'button main', 'data-role': 'day-share-copy', onclick: () => void copy(this.#app, this.#shareText()) }, t('daily.copyResult')),
        'share' in navigator && h('button', { type: 'button', class: 'button plain', 'data-role': 'day-share-native', onclick: () => navigator.share({ text: this.#shareText() }).catch(() => {}) }, icon('share'), t('share.native')),
        open && h('a', { class: 'button plain', href: `/r/${encodeURIComponent(session ?? result.session)}`, 'data-role': 'day-replay' }, t('daily.replay')),
        open && this.#practice('plain'),
      ),
    ];
  }

  #shareText() {
    const { result } = this.#day;
    const { i18n } = this.#app;
    return result ? shareText(i18n, result, this.#game ? i18n.t(this.#game.title) : 'heartroom') : '';
  }

  #nameless() {
    const { t } = this.#app.i18n;
    if (this.#app.wire.welcome?.name !== '') return null;
    const name = h('button', { type: 'button', class: 'link', 'data-role': 'day-name', onclick: () => this.#app.askName() }, t('home.name'));
    return h('p', { class: 'hint' }, t('daily.nameless'), ' ', name);
  }

  #par() {
    const { par } = this.#day;
    return this.#hint([par === null ? '' : this.#app.i18n.t('daily.parIs', { n: par }), this.#finished()].filter(Boolean).join(' '), 'day-par');
  }

  /** How many have; that nobody has is said by the board. */
  #finished() {
    const { players } = this.#day;
    return players ? this.#app.i18n.t('daily.finished', { n: players }) : '';
  }

  /** @param {string} text @param {string} [role] */
  #hint(text, role) {
    return text ? h('p', { class: 'hint', 'data-role': role }, text) : null;
  }

  /** @param {...(import('../ui/dom.js').Child)} buttons */
  #choices(...buttons) {
    return h('div', { class: 'choices' }, ...buttons);
  }

  #startButton() {
    const { t } = this.#app.i18n;
    const busy = this.#starting;
    return h('button', { type: 'button', class: 'button main large', 'data-role': 'day-start', 'aria-busy': busy ? 'true' : null, onclick: () => void this.#start() }, t(busy ? 'daily.starting' : 'daily.start'));
  }

  async #start() {
    if (this.#starting) return;
    this.#starting = true;
    this.#draw();
    try {
      const { session } = await post('/api/daily/start', {}, START_PATIENCE_MS);
      if (this.#root.isConnected) this.#app.go(`/g/${encodeURIComponent(session)}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#trouble.replaceChildren(failure(this.#app, error.message, () => void this.#retry()));
    } finally {
      this.#starting = false;
      if (this.#root.isConnected) this.#draw();
    }
  }

  #retry() {
    this.#trouble.replaceChildren();
    return this.#fresh.reload();
  }

  /** @param {'main' | 'plain'} kind */
  #practice(kind) {
    const game = this.#game;
    if (!game) return null;
    return h('button', { type: 'button', class: `button ${kind}`, 'data-role': 'day-practice', onclick: () => void this.#app.beginOrTell(game.name, { code: this.#day.code }) }, this.#app.i18n.t('daily.practise'));
  }

  #neighbours() {
    return otherDays(this.#app.i18n, this.#date, ['daily.before', shifted(this.#date, -1)], this.#day.over && ['daily.after', shifted(this.#date, 1)]);
  }

  /** @param {string} by @param {boolean} open @returns {import('../ui/standings.js').Column<import('../api.js').DayRow>[]} */
  #columns(by, open) {
    const { i18n } = this.#app;
    const { t, number } = i18n;
    /** @type {import('../ui/standings.js').Column<import('../api.js').DayRow>[]} */
    const columns = [
      { name: 'time', label: t('info.time'), cell: ({ time_ms }) => exactTime(i18n, time_ms), main: by === 'time' },
      { name: 'moves', label: t('info.moves'), cell: ({ moves }) => number(moves), main: by === 'moves' },
    ];
    if (by === 'moves') columns.reverse();
    if (!open) return columns;
    const replay = (/** @type {import('../api.js').DayRow} */ { session, name }) =>
      h('a', { class: 'row-link', href: `/r/${encodeURIComponent(session)}`, 'data-role': 'row-replay', 'aria-label': t('board.replayOf', { name: name || t('board.nameless') }), title: t('replay.title') }, icon('play'));
    return [...columns, { name: 'replay', label: t('replay.title'), cell: replay, quiet: true }];
  }
}
