// Owns: the page of games that are being played now, to watch one.
//
// Hooks for tests: [data-role="live"] with [data-session]; watch, live-viewers, live-empty, live-count

import { get } from '../api.js';
import { clockTime, percent, roughSpan } from '../figures.js';
import { Fresh } from '../fresh.js';
import { games } from '../games.js';
import { h } from '../ui/dom.js';
import { icon } from '../ui/icons.js';
import { keepFocus } from '../ui/keep.js';
import { nameOf } from '../ui/people.js';
import { renew } from '../ui/renew.js';
import { failure, loading, shell } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').LiveGame} LiveGame */

const TOPIC = 'live';
const AGE_MS = 20_000;

/** @param {App} app @returns {import('../router.js').Shown} */
export function live(app) {
  const { i18n, wire } = app;
  const { t } = i18n;
  wire.leave();
  wire.watch(TOPIC);
  const count = h('p', { class: 'board-count', 'data-role': 'live-count' });
  const list = h('ul', { class: 'live-list', 'data-role': 'live' });
  const trouble = h('div');
  const place = h('div', null, loading(app));
  /** @type {{ now_ms: number, total: number, games: LiveGame[] } | null} */
  let last = null;
  let at = 0;
  const draw = () => {
    if (!last) return;
    const now = last.now_ms + performance.now() - at;
    const shown = last.games.filter(({ game }) => games.has(game));
    count.textContent = shown.length ? t('live.count', { n: last.total }) : '';
    keepFocus(list, () => renew(list, shown.map((one) => entry(app, one, now))));
    renew(place, [shown.length ? list : h('p', { class: 'nobody', 'data-role': 'live-empty' }, t('live.nobody'))]);
  };
  const fresh = new Fresh(wire, {
    topic: TOPIC,
    load: (signal) => get('/api/live', signal),
    show: (found) => {
      last = found;
      at = performance.now();
      trouble.replaceChildren();
      draw();
    },
    fail: (code) => {
      if (!last) place.replaceChildren();
      trouble.replaceChildren(failure(app, code, () => void fresh.reload()));
    },
  });
  const timer = setInterval(draw, AGE_MS);
  shell(app, '/live', h('h1', null, t('live.title')), h('p', { class: 'lead' }, t('live.more')), count, trouble, place);
  return {
    title: t('live.title'),
    destroy() {
      clearInterval(timer);
      fresh.destroy();
      wire.watch(null);
    },
  };
}

/** @param {App} app @param {LiveGame} one @param {number} now ms since 1970 */
function entry({ i18n }, { session, game: name, ranked, names, bots, scores, progress, since_ms, viewers }, now) {
  const { t, number } = i18n;
  const game = games.get(name);
  const title = t(game?.title ?? '');
  /** @type {import('../games.js').People} */
  const people = { names, chairs: bots.map((bot) => (bot ? 'bot' : 'here')), own: null };
  const alone = names.length === 1;
  const called = names.map((_, seat) => (alone && !names[0] ? t('board.nameless') : nameOf(i18n, people, seat)));
  const player = (/** @type {string} */ its, /** @type {number} */ seat) =>
    h('li', { 'data-bot': bots[seat] }, h('bdi', { class: 'name' }, its), bots[seat] && h('span', { class: 'bot' }, ` ${t('status.bot')}`), !alone && scores[seat] !== undefined && h('span', { class: 'score' }, number(scores[seat])));
  const age = roughSpan(i18n, now - since_ms);
  return h(
    'li',
    { class: 'live-game', 'data-session': session, 'data-game': name },
    h('h2', null, title, ranked && h('span', { class: 'ranked-mark' }, t('ranked'))),
    h('ul', { class: 'live-players' }, called.map(player)),
    h(
      'p',
      { class: 'live-facts' },
      h('span', null, t('live.since', { time: clockTime(i18n, since_ms), age })),
      h('span', { class: 'live-viewers', 'data-role': 'live-viewers' }, icon('eye'), t('live.viewers', { n: viewers })),
    ),
    progress !== null && bar(t('live.progress'), progress, percent(i18n, Math.round(100 * progress))),
    h('a', { class: 'button plain small', href: `/g/${encodeURIComponent(session)}`, 'data-role': 'watch', 'aria-label': t('live.watchWhat', { game: title, names: called.map((its) => `\u2068${its}\u2069`).join(', ') }) }, t('live.watch')),
  );
}

/** @param {string} label @param {number} part 0 … 1 @param {string} text */
function bar(label, part, text) {
  const element = h('progress', { max: 1, value: part, 'aria-label': label });
  return h('p', { class: 'live-progress' }, element, h('span', { 'aria-hidden': 'true' }, text));
}
