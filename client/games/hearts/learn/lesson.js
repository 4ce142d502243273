// Owns: the tutorial on the screen: a step a screen, each with a table of its own, and what the reader tries.
// Must not know: the rules. Positions, and what comes of each card, are written down in positions.js.
//
// Hooks for tests:
//   [data-role="lesson"]         data-step = its name, data-number = 1 …, data-done once the reader has done what is asked
//   [data-role="lesson-next"], lesson-back, lesson-again; [data-role="try"] says what to do
//   in it a table as in index.js

import { h, set } from '../../../ui/dom.js';
import { icon } from '../../../ui/icons.js';
import { patched } from '../../../wire.js';
import { Table } from '../table.js';
import { passed } from './passing.js';
import { positions } from './positions.js';
import { STEPS } from './steps.js';

/** @typedef {import('../../../games.js').LessonHost} LessonHost */
/** @typedef {import('../../../wire.js').View} View */
/** @typedef {import('../../../wire.js').Action} Action */

/**
 * @typedef {object} Scene
 * @property {any[]} start a view
 * @property {Record<string, any[][]>} [then] by the card that the reader plays: diffs, one after another
 * @property {any[][]} [watch] diffs to be looked at
 * @property {number[]} [received] cards that the reader is passed
 * @property {number} [leader] who then leads
 */

const READER = 0;
/** From one thing that happens to the next, as bots take their time. */
const STEP_MS = 850;
const FIRST_MS = 900;

class Lesson {
  #host;
  #at = 0;
  /** @type {Table | null} */
  #table = null;
  /** @type {View} */
  #view = [];
  #version = 0;
  /** What the reader has played in this step. @type {number | null} */
  #played = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #board = h('div', { class: 'board lesson-board' });
  #head = h('div', { class: 'lesson-head', 'aria-live': 'polite' });
  #text = h('section', { class: 'lesson-text', 'aria-live': 'polite', 'aria-labelledby': 'lesson-title' });
  #try = h('p', { class: 'lesson-try', 'data-role': 'try' });
  #again;
  #bar = h('div', { class: 'lesson-bar' });
  #back;
  #next;
  #root;
  /** Where the text has to be scrolled, that can be done by keyboard. */
  #scrolls = new ResizeObserver(() => this.#letScroll());

  /** @param {LessonHost} host */
  constructor(host) {
    const { t } = host.i18n;
    this.#host = host;
    this.#again = h('button', { type: 'button', class: 'button plain small', 'data-role': 'lesson-again', onclick: () => this.#begin() }, t('learn.again'));
    this.#back = h('button', { type: 'button', class: 'button plain', 'data-role': 'lesson-back', onclick: () => this.#go(-1) }, t('learn.back'));
    this.#next = h('button', { type: 'button', class: 'button main', 'data-role': 'lesson-next', onclick: () => this.#go(1) }, t('learn.next'));
    this.#root = h(
      'div',
      { class: 'lesson', 'data-role': 'lesson' },
      this.#head,
      this.#board,
      this.#text,
      h('div', { class: 'lesson-do' }, this.#try, this.#again),
      h('nav', { class: 'lesson-nav', 'aria-label': t('learn.steps') }, this.#back, this.#bar, this.#next, host.end),
    );
    this.#bar.append(...STEPS.map((_, i) => h('button', { type: 'button', class: 'lesson-dot', onclick: () => this.#goTo(i) })));
    host.root.append(this.#root);
    this.#at = stepOf(location.hash);
    this.#show();
    this.#scrolls.observe(this.#text);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && event.key === 'PageDown') return this.#go(1);
    if (plain && event.key === 'PageUp') return this.#go(-1);
    return this.#table?.onKey(event) ?? false;
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#scrolls.disconnect();
    this.#table?.destroy();
  }

  // ---- steps

  get #step() {
    return STEPS[this.#at];
  }

  /** @returns {Scene} */
  get #scene() {
    return positions[this.#step.name];
  }

  /** @param {1 | -1} by */
  #go(by) {
    return this.#goTo(this.#at + by);
  }

  /** @param {number} at */
  #goTo(at) {
    if (at < 0 || at >= STEPS.length || at === this.#at) return false;
    this.#at = at;
    history.replaceState(history.state, '', `#${at + 1}`);
    this.#show();
    return true;
  }

  #letScroll() {
    set(this.#text, { tabindex: this.#text.scrollHeight > this.#text.clientHeight ? 0 : null });
  }

  #show() {
    const { t } = this.#host.i18n;
    const { name, paragraphs } = this.#step;
    const last = this.#at === STEPS.length - 1;
    set(this.#root, { 'data-step': name, 'data-number': this.#at + 1 });
    this.#head.replaceChildren(h('p', { class: 'lesson-count' }, t('learn.count', { n: this.#at + 1, of: STEPS.length })), h('h2', { id: 'lesson-title' }, t(`learn.${name}.title`)));
    this.#text.replaceChildren(
      ...Array.from({ length: paragraphs }, (_, i) => h('p', null, t(`learn.${name}.${i + 1}`))),
    );
    this.#text.scrollTop = 0;
    this.#letScroll();
    [...this.#bar.children].forEach((dot, i) =>
      set(dot, { 'aria-current': i === this.#at ? 'step' : null, 'data-past': i < this.#at, 'aria-label': t('learn.goTo', { n: i + 1, title: t(`learn.${STEPS[i].name}.title`) }) }),
    );
    set(this.#back, { 'aria-disabled': this.#at === 0 ? 'true' : null });
    const moved = last && document.activeElement === this.#next;
    this.#next.hidden = last;
    this.#host.end.hidden = !last;
    if (moved) this.#host.end.focus();
    this.#begin();
  }

  // ---- the table

  /** Sets the table of this step, anew. */
  #begin() {
    clearTimeout(this.#timer);
    this.#table?.destroy();
    const { start, watch } = this.#scene;
    this.#view = start;
    this.#version = 1;
    this.#played = null;
    this.#table = this.#newTable();
    this.#table.update({ view: start, version: this.#version, pending: [] });
    this.#sayWhatToDo(false);
    if (watch) this.#timer = setTimeout(() => this.#playOn(watch), FIRST_MS);
  }

  #newTable() {
    const { i18n, settings, notices, pace, sound, codeText } = this.#host;
    const { t } = i18n;
    const names = [t('people.self'), ...[2, 3, 4].map((n) => t('learn.player', { n }))];
    const frame = { board: this.#board, addInfo() {}, setInfo() {}, addTool() {}, enableTool() {} };
    return new Table({
      frame: /** @type {any} */ (frame),
      i18n,
      settings,
      notices,
      interactive: this.#step.does !== 'watch' && this.#step.does !== 'look',
      seat: READER,
      people: () => ({ names, chairs: ['here', 'here', 'here', 'here'], own: READER }),
      timeLeft: () => null,
      pace,
      sound,
      act: (action) => this.#act(action),
      codeText,
      elapsedMs: () => 0,
      newGame() {},
      share() {},
      replay: null,
      go() {},
    });
  }

  /** The reader has done something that the position allows. @param {Action} action */
  #act([verb, ...cards]) {
    const { then, received = [], leader = 0 } = this.#scene;
    if (verb === 'pass') {
      this.#see(passed(this.#view, READER, cards.map(Number), received, leader));
      this.#sayWhatToDo(true);
    } else if (verb === 'play') {
      this.#played = Number(cards[0]);
      this.#playOn(then?.[String(cards[0])] ?? []);
    }
  }

  /** Shows what comes, step by step. @param {any[][]} diffs */
  #playOn([diff, ...rest]) {
    const view = diff && patched(this.#view, diff);
    if (view) this.#see(view);
    if (rest.length) this.#timer = setTimeout(() => this.#playOn(rest), STEP_MS);
    else this.#sayWhatToDo(true);
  }

  /** @param {View} view */
  #see(view) {
    this.#view = view;
    this.#version += 1;
    this.#table?.update({ view, version: this.#version, pending: [] });
  }

  /** @param {boolean} done */
  #sayWhatToDo(done) {
    const { t, has } = this.#host.i18n;
    const { name, does, otherwise } = this.#step;
    const tried = does === 'play' || does === 'pass';
    const advised = this.#played === null || !otherwise?.includes(this.#played);
    const outcome = `learn.${name}.${advised ? 'done' : 'otherwise'}`;
    const key = done && has(outcome) ? outcome : `learn.${name}.try`;
    const praised = done && tried && advised;
    set(this.#root, { 'data-done': done || does === 'look' });
    set(this.#try, { 'data-done': praised, hidden: !has(key) });
    this.#try.replaceChildren(...(has(key) ? [icon(praised ? 'check' : tried ? 'hand' : 'eye'), h('span', null, t(key))] : []));
    if (done && has(key)) this.#host.notices.announce(t(key));
    set(this.#again, { hidden: !done || does === 'look' });
    this.#again.textContent = t(tried ? 'learn.tryAgain' : 'learn.again');
  }
}

/** @param {string} hash of the address */
function stepOf(hash) {
  const at = Number(hash.slice(1)) - 1;
  return Number.isInteger(at) && at >= 0 && at < STEPS.length ? at : 0;
}

/** @param {LessonHost} host @returns {import('../../../games.js').Lesson} */
export function learn(host) {
  return new Lesson(host);
}
