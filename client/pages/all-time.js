// Owns: the page of all days together: who has won most, longest, fastest; and the player's own numbers.
//
// Hooks for tests: as of the boards in day.js, tabs wins, streak, best, average; [data-role="stats"] with
// [data-stat="…"]

import { get } from '../api.js';
import { average, exactTime, roughSpan, signed } from '../figures.js';
import { Fresh } from '../fresh.js';
import { games } from '../games.js';
import { BoardView } from '../ui/boards.js';
import { h } from '../ui/dom.js';
import { failure, loading, shell } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../i18n.js').I18n} I18n */
/** @typedef {import('../api.js').Stats} Stats */
/** @typedef {import('../api.js').AllTimeRow} Row */

const TOPIC = 'all-time';

/** @param {App} app @returns {import('../router.js').Shown} */
export function allTime(app) {
  const { i18n, wire } = app;
  const { t } = i18n;
  wire.leave();
  wire.watch(TOPIC);
  /** @type {import('../ui/boards.js').Boards<Row>} */
  const what = {
    path: '/api/all-time',
    topic: TOPIC,
    by: [
      ['wins', 'board.byWins'],
      ['streak', 'board.byStreak'],
      ['best', 'board.byBest'],
      ['average', 'board.byAverage'],
    ],
    label: 'board.ofAllTime',
    empty: () => 'board.nobody',
    columns: (by) => columns(i18n, by),
  };
  const boards = new BoardView(app, what);
  const own = h('section', { class: 'own-stats', 'data-role': 'stats', 'aria-labelledby': 'own-stats' }, loading(app));
  const stats = new Fresh(wire, {
    topic: TOPIC,
    load: (signal) => get('/api/me/stats', signal),
    show: (found) => own.replaceChildren(...ownStats(i18n, found)),
    fail: (code) => own.replaceChildren(failure(app, code, () => void stats.reload())),
  });
  shell(app, '/all-time', h('h1', null, t('allTime.title')), h('p', { class: 'lead' }, t('allTime.more')), h('div', { class: 'columns' }, boards.element, own));
  return {
    title: t('allTime.title'),
    destroy() {
      boards.destroy();
      stats.destroy();
      wire.watch(null);
    },
  };
}

/** @param {I18n} i18n @param {string} by @returns {import('../ui/standings.js').Column<Row>[]} */
function columns(i18n, by) {
  const { t, number } = i18n;
  const time = (/** @type {number | null} */ ms) => (ms === null ? '–' : exactTime(i18n, ms));
  return [
    { name: 'wins', label: t('board.wins'), cell: ({ wins }) => number(wins), main: by === 'wins' },
    { name: 'streak', label: t('board.streak'), cell: ({ longest }) => number(longest), main: by === 'streak' },
    { name: 'best', label: t('board.best'), cell: ({ best_ms }) => time(best_ms), main: by === 'best' },
    { name: 'average', label: t('board.average'), cell: ({ average_ms }) => time(average_ms), main: by === 'average' },
  ];
}

/** @param {I18n} i18n @param {Stats} stats */
function ownStats(i18n, { daily, games: played }) {
  const { t } = i18n;
  const sections = [...games.values()].filter(({ name }) => played[name]).map((game) => group(t(game.title), ofGame(i18n, played[game.name])));
  return [
    h('h2', { id: 'own-stats' }, t('stats.title')),
    daily.wins ? group(t('daily.titles'), ofDays(i18n, daily)) : h('p', { class: 'hint' }, t('stats.noDays')),
    ...sections,
    ...(sections.length ? [] : [h('p', { class: 'hint' }, t('stats.noGames'))]),
  ];
}

/** @param {string} title @param {[name: string, label: string, value: string][]} facts */
function group(title, facts) {
  return h('div', { class: 'stat-group' }, h('h3', null, title), h('dl', { class: 'stats' }, facts.map(([name, label, value]) => h('div', null, h('dt', null, label), h('dd', { 'data-stat': name }, value)))));
}

/** @param {I18n} i18n @param {Stats['daily']} daily @returns {[string, string, string][]} */
function ofDays(i18n, { wins, streak, longest, best_ms, best_over_par, average_ms, average_over_par }) {
  const { t, number } = i18n;
  return [
    ['wins', t('stats.days'), number(wins)],
    ['streak', t('stats.streak'), number(streak)],
    ['longest', t('stats.longest'), number(longest)],
    ...times(i18n, [['best', 'stats.best', best_ms], ['average', 'stats.average', average_ms]]),
    ...(best_over_par === null ? [] : [stat('best-over', t('stats.bestOver'), signed(i18n, best_over_par))]),
    ...(average_over_par === null ? [] : [stat('average-over', t('stats.averageOver'), signed(i18n, average_over_par))]),
  ];
}

/** Numbers that only some games have are shown where they are. @param {I18n} i18n @param {Record<string, number>} its @returns {[string, string, string][]} */
function ofGame(i18n, { games: count = 0, wins = 0, elapsed_ms, best_ms, moves, hands, points, moons }) {
  const { t, number } = i18n;
  return [
    ['games', t('stats.games'), number(count)],
    ['wins', t('stats.wins'), number(wins)],
    ...times(i18n, [['best', 'stats.best', best_ms ?? null]]),
    ...(moves === undefined || !count ? [] : [stat('moves', t('stats.moves'), average(i18n, moves / count))]),
    ...(hands && points !== undefined ? [stat('points', t('stats.points'), average(i18n, points / hands)), stat('hands', t('stats.hands'), number(hands))] : []),
    ...(moons === undefined ? [] : [stat('moons', t('stats.moons'), number(moons))]),
    ...(elapsed_ms ? [stat('elapsed', t('stats.elapsed'), roughSpan(i18n, elapsed_ms))] : []),
  ];
}

/** @param {I18n} i18n @param {[name: string, label: string, ms: number | null][]} facts */
function times(i18n, facts) {
  return facts.flatMap(([name, label, ms]) => (ms === null ? [] : [stat(name, i18n.t(label), exactTime(i18n, ms))]));
}

/** @param {string} name @param {string} label @param {string} value @returns {[string, string, string]} */
function stat(name, label, value) {
  return [name, label, value];
}
