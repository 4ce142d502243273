// Heart to Heart, as the house sees it. Everything about the game is in this folder.
//
// Hooks for tests, in the page:
//   [data-role="table"]          data-version, data-status = play | stuck | won
//   [data-place="1" … "25"]      a card of the heart: data-rank = 1 … 13, data-state = free | covered | empty,
//                                data-selected, data-ring (has a partner), data-dim (does not fit the selected),
//                                data-going (its pair is under way), data-held (still in the air)
//   [data-role="discard"]        data-place="0" and as above; data-count
//   [data-role="stock"]          data-count, data-state = full | empty
//   [data-role="info-time"], info-score, info-moves, info-code
//   [data-role="undo"], new, share, help, settings: the tools; aria-disabled="true" while there is nothing to undo
//   [data-dialog="won"]          won-time, won-score, won-moves, won-counted; buttons won-new (won-result after the deal
//                                of a day), won-replay, won-share
//   [data-role="end"]            in the empty heart, once that is closed: end-new (or end-result), end-replay
//   [data-dialog="stuck"]        buttons stuck-undo, stuck-new
//   [data-kind="mismatch"]       the toast of "Move errors"; a refused action's toast has the code as data-kind
//   [data-role="announcer"]      what screen readers are told
//   html[data-connection]        connecting | open | lost | refused

import './style.css';
import { heartPicture } from './picture.js';
import { rules } from './rules.js';
import { Table } from './table.js';
import { change, places, spread } from './view.js';

/** The code of a deal of the day. */
const DAY = /^\s*HH1-D-(\d{4})(\d{2})(\d{2})\s*$/i;

/** @type {import('../../games.js').Game} */
export const game = {
  name: 'heart-to-heart',
  title: 'hh.title',
  tagline: 'hh.tagline',
  seats: 1,
  // Whatever looks like a code of this family; the server reads it as leniently as it likes.
  readsCode: (code) => /^\s*h\s*h\s*[1i]/i.test(code),
  code: (view) => spread(view).code,
  day: (code) => DAY.exec(code)?.slice(1).join('-') ?? null,
  over: (view) => spread(view).status === 'won',
  settings: [
    { name: 'heart-to-heart.help', fallback: true, label: 'hh.setting.help', hint: 'hh.setting.helpHint' },
    { name: 'heart-to-heart.errors', fallback: false, label: 'hh.setting.errors', hint: 'hh.setting.errorsHint' },
    { name: 'heart-to-heart.winnable', fallback: false, label: 'hh.setting.winnable', hint: 'hh.setting.winnableHint', deals: true },
  ],
  options: (settings) => (settings.get('heart-to-heart.winnable') ? { winnable: true } : {}),
  basics: ['hh.basics.pair', 'hh.basics.stock'],
  keys: [
    ['← ↑ → ↓', 'hh.key.arrows'],
    ['Enter', 'hh.key.enter'],
    ['D, S', 'hh.key.stock'],
    ['U, Ctrl+Z', 'hh.key.undo'],
    ['Esc', 'hh.key.escape'],
  ],
  party: null,
  learn: null,
  example: true,
  picture: () => heartPicture({ free: places }),
  createTable: (host) => new Table(host),
  rules,
  caption(i18n, before, after) {
    const { kind, rank, cards } = change(before, after);
    const { t } = i18n;
    const text = () => {
      if (kind === 'draw' || kind === 'undraw') return t(`hh.step.${kind}`, { rank: t(`rank.${rank}`, { n: 1 }) });
      if (kind === 'recycle' || kind === 'unrecycle') return t(`hh.step.${kind}`);
      if (kind === 'unpair') return t('hh.step.unpair', { ranks: t(`rank.${rank}`, { n: 2 }) });
      if (kind === 'pair') return t(cards.includes(0) ? 'hh.step.pairDiscard' : 'hh.step.pair', { ranks: t(`rank.${rank}`, { n: 2 }) });
      return '';
    };
    return spread(after).status === 'won' ? `${text()} ${t('hh.won')}` : text();
  },
  landmark: (before, after) => change(before, after).kind === 'pair',
  landmarkLabels: { previous: 'hh.previousPair', next: 'hh.nextPair' },
};
