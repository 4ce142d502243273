// Owns: a month of days, with the player's results. It needs no watching: yesterday does not change.

import { ApiError, get } from '../api.js';
import { dateText, datesOf, exactTime, longDate, monthText, shiftedMonth, weekday, weekdays } from '../figures.js';
import { h } from '../ui/dom.js';
import { emblem } from '../ui/card.js';
import { icon } from '../ui/icons.js';
import { failure, loading, shell } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').Month} Month */
/** @typedef {Month['days'][number]} MonthDay */

/** @param {App} app @param {string | null} wanted the present month by the server's clock if null @returns {import('../router.js').Shown} */
export function calendar(app, wanted) {
  const { i18n } = app;
  const { t } = i18n;
  app.wire.leave();
  const asked = new AbortController();
  const place = h('div', { class: 'calendar-place' }, loading(app));
  const load = async () => {
    try {
      const found = /** @type {Month} */ (await get(`/api/daily/calendar${wanted ? `?month=${encodeURIComponent(wanted)}` : ''}`, asked.signal));
      if (!asked.signal.aborted) place.replaceChildren(heading(app, found.month, found.today), grid(app, found), legend(app));
    } catch (error) {
      if (asked.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      place.replaceChildren(failure(app, error.message, () => void load()));
    }
  };
  shell(app, '/daily', h('h1', null, t('calendar.title')), place);
  void load();
  return { title: t('calendar.title'), destroy: () => asked.abort() };
}

/** @param {App} app @param {string} month @param {string} today */
function heading({ i18n }, month, today) {
  const { t } = i18n;
  const to = (/** @type {number} */ months, /** @type {string} */ label, /** @type {import('../ui/icons.js').Icon} */ name) => {
    const other = shiftedMonth(month, months);
    if (other > today.slice(0, 7)) return h('span', { class: 'round' });
    return h('a', { class: 'round', href: `/calendar/${other}`, 'data-role': `month-${name}`, title: t(label), 'aria-label': `${t(label)}: ${monthText(i18n, other)}` }, icon(name));
  };
  return h('div', { class: 'month-bar' }, to(-1, 'calendar.before', 'back'), h('h2', { 'data-role': 'month' }, i18n.capitalized(monthText(i18n, month))), to(1, 'calendar.after', 'forward'));
}

/** @param {App} app @param {Month} month */
function grid(app, { month, today, days }) {
  const { i18n } = app;
  const known = new Map(days.map((day) => [day.date, day]));
  const dates = datesOf(month);
  /** @type {(string | null)[]} */
  const cells = [...Array(weekday(dates[0])).fill(null), ...dates];
  while (cells.length % 7) cells.push(null);
  const weeks = Array.from({ length: cells.length / 7 }, (_, i) => cells.slice(7 * i, 7 * i + 7));
  const long = weekdays(i18n, 'long');
  return h(
    'table',
    { class: 'month', 'data-role': 'calendar' },
    h('caption', { class: 'visually-hidden' }, i18n.t('calendar.caption', { month: monthText(i18n, month) })),
    h('thead', null, h('tr', null, weekdays(i18n, 'short').map((name, i) => h('th', { scope: 'col', abbr: long[i] }, name)))),
    h('tbody', null, weeks.map((week) => h('tr', null, week.map((date) => h('td', null, date && cell(app, date, known.get(date), today)))))),
  );
}

/** @param {App} app @param {string} date @param {MonthDay | undefined} day @param {string} today */
function cell({ i18n }, date, day, today) {
  const { t, number } = i18n;
  const n = number(Number(date.slice(8)));
  if (!day) return h('span', { class: 'no-day' }, n);
  const { result, state } = day;
  const shownState = state === 'entering' ? 'won' : state;
  const said = result ? t('calendar.won', { time: exactTime(i18n, result.time_ms), moves: t('daily.moves', { n: result.moves }) }) : t(`calendar.state.${shownState}`);
  return h(
    'a',
    { class: 'a-day', href: date === today ? '/daily' : `/daily/${date}`, 'data-date': date, 'data-state': shownState, 'aria-current': date === today && 'date', 'aria-label': `${longDate(i18n, date)}: ${said}`, title: `${dateText(i18n, date)}: ${said}` },
    h('span', { class: 'a-day-number' }, n),
    mark(shownState),
    result && h('span', { class: 'a-day-result' }, h('span', null, exactTime(i18n, result.time_ms)), h('span', null, t('daily.moves', { n: result.moves }))),
  );
}

/** @param {string} state */
function mark(state) {
  return h('span', { class: 'mark', 'data-state': state, 'aria-hidden': 'true' }, emblem('hearts'));
}

/** @param {App} app */
function legend({ i18n: { t } }) {
  return h('ul', { class: 'legend', 'aria-hidden': 'true' }, ['won', 'running', 'missed', 'new'].map((state) => h('li', null, mark(state), t(`calendar.state.${state}`))));
}
