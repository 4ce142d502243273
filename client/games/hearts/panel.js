// Owns: the panel over the felt: what to pass and to whom, the score of a hand, the end of the game.
// Must not know: the rules, the connection.
//
// Hooks for tests: [data-role="panel"] data-panel = pass | passed | scored | over; in it sending, pass-confirm, next, again, replay

import { h, nameTag, set } from '../../ui/dom.js';
import { icon } from '../../ui/icons.js';
import { keepFocus } from '../../ui/keep.js';
import { nameOf } from '../../ui/people.js';
import { renew } from '../../ui/renew.js';
import { faceOf } from './cards.js';
import { WAYS } from './saying.js';
import { sheet } from './sheet.js';

/** @typedef {import('./view.js').Spread} Spread */

/**
 * @typedef {object} PanelHost
 * @property {import('../../i18n.js').I18n} i18n
 * @property {() => import('../../games.js').People} people
 * @property {number | null} seat
 * @property {boolean} interactive
 * @property {number[]} order of the seats, one's own first
 * @property {string | null} replay
 * @property {() => void} pass
 * @property {() => void} next
 * @property {() => void} again
 * @property {(path: string) => void} go
 */

/** @typedef {{ now: Spread, chosen: number, canPass: boolean, passed: boolean, ready: boolean, sending: boolean, settled: boolean }} PanelLook sending: an answer is still to come */

export class Panel {
  #host;
  #seen = '';
  element = h('div', { class: 'panel', 'data-role': 'panel' });

  /** @param {PanelHost} host */
  constructor(host) {
    this.#host = host;
  }

  /** @param {PanelLook} look */
  show(look) {
    const kind = kindOf(look);
    const { now, chosen, ready, sending } = look;
    const people = this.#host.people();
    const seen = [kind, now.handNumber, chosen, ready, sending, now.toAct, people.names, people.chairs].join(' ');
    if (seen === this.#seen) return;
    this.#seen = seen;
    keepFocus(this.element, () => {
      renew(this.element, this.#content(kind, look));
      set(this.element, { 'data-panel': kind || null, hidden: !kind });
    });
  }

  /** The names are not those that were shown any more, or the language is not. */
  forget() {
    this.#seen = '';
  }

  /** @param {string} kind @param {PanelLook} look @returns {Node[]} */
  #content(kind, look) {
    if (kind === 'pass') return this.#pass(look);
    if (kind === 'passed') return [look.sending ? this.#sending() : this.#waitingFor(look.now.toAct)].filter((node) => node !== null);
    if (kind === 'scored') return this.#scored(look);
    if (kind === 'over') return this.#over(look);
    return [];
  }

  /** @param {PanelLook} look */
  #pass({ now, chosen }) {
    const { i18n, seat, people, pass } = this.#host;
    const { t, nodes } = i18n;
    const to = nameTag(nameOf(i18n, people(), ((seat ?? 0) + now.passOffset) % 4));
    const arrow = h('span', { class: 'pass-arrow', 'data-way': WAYS[now.passOffset] }, icon('arrow'));
    const ready = chosen === 3;
    return [
      arrow,
      h('p', { class: 'pass-text' }, nodes('hearts.passTo', { name: to, way: t(`hearts.to.${WAYS[now.passOffset]}`) })),
      h('button', { type: 'button', class: 'button main', 'data-role': 'pass-confirm', 'aria-disabled': ready ? null : 'true', onclick: pass }, ready ? t('hearts.pass') : t('hearts.chosen', { n: chosen })),
    ];
  }

  /** @param {PanelLook} look */
  #scored({ now, ready, sending }) {
    const { i18n, people, order, interactive, next } = this.#host;
    const { t } = i18n;
    const button = () => h('button', { type: 'button', class: 'button main', 'data-role': 'next', onclick: next }, t('hearts.next'));
    return [
      this.#claimed(now),
      this.#moon(now),
      scrolling(sheet(i18n, people(), now, order)),
      sending ? this.#sending() : ready ? this.#waitingFor(now.toAct) : interactive ? button() : null,
    ].filter((node) => node !== null);
  }

  /** @param {PanelLook} look */
  #over({ now }) {
    const { i18n, people, order, seat, interactive, replay, again, go } = this.#host;
    const { t, nodes } = i18n;
    const won = seat !== null && now.winners.includes(seat);
    const names = h('span', null, i18n.listNodes(now.winners.map((winner) => nameTag(nameOf(i18n, people(), winner)))));
    const title = won ? [t(now.winners.length > 1 ? 'hearts.youShare' : 'hearts.youWin')] : nodes('hearts.wins', { n: now.winners.length, names });
    return [
      h('h2', { 'data-role': 'winners' }, title),
      this.#claimed(now),
      this.#moon(now),
      scrolling(sheet(i18n, people(), now, order)),
      h(
        'div',
        { class: 'choices' },
        interactive && h('button', { type: 'button', class: 'button main', 'data-role': 'again', onclick: again }, t('hearts.again')),
        replay && h('button', { type: 'button', class: 'button plain', 'data-role': 'replay', onclick: () => go(replay) }, t('hearts.watchReplay')),
      ),
    ].filter((node) => node !== null);
  }

  /** @param {Spread} now */
  #claimed({ claimed }) {
    if (!claimed) return null;
    const { i18n, people, seat } = this.#host;
    const { t, nodes } = i18n;
    const text = claimed.seat === seat ? [t('hearts.youClaimed')] : nodes('hearts.claimedBy', { name: nameTag(nameOf(i18n, people(), claimed.seat)) });
    return h('div', { class: 'claimed', 'data-role': 'claimed' }, h('p', null, text), h('div', { class: 'claimed-cards', 'aria-hidden': 'true' }, claimed.cards.map((card) => faceOf(card))));
  }

  /** @param {Spread} now */
  #moon({ sheet: lines }) {
    const shooter = lines[lines.length - 1]?.shooter ?? null;
    if (shooter === null) return null;
    const { i18n, people, seat } = this.#host;
    return h('p', { class: 'moon-line', 'data-role': 'moon' }, '☾ ', shooter === seat ? i18n.t('hearts.youShot') : h('span', null, i18n.nodes('hearts.shot', { name: nameTag(nameOf(i18n, people(), shooter)) })));
  }

  #sending() {
    return h('p', { class: 'waiting-for sending', 'data-role': 'sending' }, this.#host.i18n.t('hearts.sending'));
  }

  /** @param {number[]} seats */
  #waitingFor(seats) {
    const { i18n, people, seat } = this.#host;
    const others = seats.filter((other) => other !== seat);
    if (!others.length) return null;
    const names = i18n.listNodes(others.map((other) => nameTag(nameOf(i18n, people(), other))));
    return h('p', { class: 'waiting-for', 'data-role': 'waiting-for' }, i18n.nodes('hearts.waitingFor', { names: h('span', null, names) }));
  }
}

/** A long sheet shows its end. @param {HTMLElement} content */
function scrolling(content) {
  const box = h('div', { class: 'sheet-box' }, content);
  requestAnimationFrame(() => (box.scrollTop = box.scrollHeight));
  return box;
}

/** @param {PanelLook} look */
function kindOf({ now, canPass, passed, settled }) {
  if (now.phase === 'passing') return canPass ? 'pass' : passed ? 'passed' : '';
  if (!settled) return '';
  return now.phase === 'scored' || now.phase === 'over' ? now.phase : '';
}
