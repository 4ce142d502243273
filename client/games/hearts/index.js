// Hearts, as the house sees it. Everything about the game is in this folder.
//
// Hooks for tests, in the page:
//   [data-role="table"]          data-version, data-phase = passing | playing | scored | over, data-turn = the seats to
//                                act, data-settled: nothing is on its way any more
//   [data-seat="0" … "3"].seat   a seat: data-status = here | lost | away | bot, data-turn, data-own; in it
//                                [data-role="total"] and [data-role="taken"] (points in this hand, if any)
//   [data-place]                 own | left | across | right: where a seat is
//   [data-role="hand"]           data-mode = pass | play | rest; in it [data-card="0" … "51"] with data-legal = true | false
//                                (on the player's turn), data-chosen, data-fresh (just received), data-going (under way)
//   [data-role="trick"]          in it [data-card][data-seat], with data-led, data-winning, data-held (still in the air)
//   [data-role="broken"]         the sign of broken hearts: data-broken = true | false
//   [data-role="status"]         whose turn it is; data-mine
//   [data-role="panel"]          data-panel = pass | passed | scored | over; in it sending, pass-confirm (aria-disabled until three
//                                are chosen), next, waiting-for, claimed, moon, winners, again, replay
//   [data-role="claim"]          there when the rest can be claimed; its dialog [data-dialog="claim"] has claim-confirm
//   [data-role="sheet"]          see sheet.js; on demand in [data-dialog="sheet"], by the tool [data-role="scores"]
//   [data-dialog="last-trick"]   by the tool [data-role="last-trick"]; its cards are li[data-card][data-seat][data-winning]
//   [data-kind]                  a toast: the code of a refusal, or choose-three, three-chosen, no-pass
//   [data-role="lesson"]         Learn Hearts, see learn/lesson.js
// The seats' clocks, coming back and leaving: see ui/seat.js and pages/play.js; before the start: pages/waiting.js.

import './style.css';
import { learn } from './learn/lesson.js';
import { heartsPicture } from './picture.js';
import { rules } from './rules.js';
import { happened } from './saying.js';
import { Table } from './table.js';
import { plays, spread } from './view.js';

/** Choosing three cards may take as many turns' time. */
const PASSING_PATIENCE = 3;

/** @type {import('../../games.js').Game} */
export const game = {
  name: 'hearts',
  title: 'hearts.title',
  tagline: 'hearts.tagline',
  seats: 4,
  readsCode: null,
  day: null,
  over: (view) => spread(view).phase === 'over',
  code: () => '',
  settings: [{ name: 'hearts.twoTaps', fallback: false, label: 'hearts.setting.twoTaps', hint: 'hearts.setting.twoTapsHint' }],
  basics: ['hearts.basics.pass', 'hearts.basics.play'],
  keys: [
    ['← →', 'hearts.key.arrows'],
    ['Enter', 'hearts.key.enter'],
    ['P', 'hearts.key.pass'],
    ['S', 'hearts.key.scores'],
    ['L', 'hearts.key.lastTrick'],
    ['C', 'hearts.key.claim'],
    ['N', 'hearts.key.next'],
  ],
  party: {
    choices: [
      { name: 'target', label: 'hearts.target', hint: '', values: [[100, 'hearts.points'], [75, 'hearts.points'], [50, 'hearts.points'], [25, 'hearts.points'], [1, 'hearts.oneHand']], fallback: 100 },
      { name: 'omnibus', label: 'hearts.omnibusName', hint: 'hearts.omnibus', values: null, fallback: false },
    ],
    levels: ['easy', 'good'],
    paceHint: 'hearts.paceHint',
    waits(view) {
      const { toAct, phase, handNumber, trickNumber, trick } = spread(view);
      const cards = trick(trickNumber)?.cards.length ?? 0;
      return { seats: toAct, moment: `${phase} ${handNumber} ${trickNumber} ${cards}`, patience: phase === 'passing' ? PASSING_PATIENCE : 1 };
    },
    facts({ t }, view) {
      const { target, omnibus } = spread(view);
      return [target === 1 ? t('hearts.oneHand') : t('hearts.toTarget', { n: target }), ...(omnibus ? [t('hearts.omnibusName')] : [])];
    },
  },
  learn,
  example: false,
  picture: heartsPicture,
  createTable: (host) => new Table(host),
  rules,
  caption: (i18n, before, after, people) => happened(i18n, people, null, before, after).join(' ') || i18n.t('hearts.said.next'),
  landmark: (before, after) => plays(before, after).some(({ last }) => last),
  landmarkLabels: { previous: 'hearts.previousTrick', next: 'hearts.nextTrick' },
};
