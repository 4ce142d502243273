// Owns: what stands around every table: the bar with its information, the board in the middle, the
// tools; and how they share the screen. Must not know: what is played on the board.

import { emblem } from './card.js';
import { h, set } from './dom.js';
import { icon } from './icons.js';

const HEED_MS = 900;

/**
 * @typedef {object} Tool
 * @property {string} role data-role of the button
 * @property {import('./icons.js').Icon} icon
 * @property {string} label
 * @property {string} [shortcut] of the keyboard, shown with the label
 * @property {() => void} run
 */

export class Frame {
  /** Where the game draws. @type {HTMLElement} */
  board = h('main', { class: 'board', id: 'main', tabindex: -1 });
  #info = h('dl', { class: 'info' });
  #tools = h('section', { class: 'tools' });
  /** @type {ReturnType<typeof setTimeout> | undefined} while the ribbon is to be noticed */
  #heeded;
  #lastSaid = false;
  /** @type {Map<string, HTMLElement>} */
  #values = new Map();
  /** @type {HTMLElement} */
  element;

  /**
   * @param {object} what
   * @param {string} what.title of the page, for those who do not see it
   * @param {string} what.homeLabel
   * @param {string} what.toolsLabel
   */
  constructor({ title, homeLabel, toolsLabel }) {
    this.#tools.setAttribute('aria-label', toolsLabel);
    this.board.setAttribute('aria-label', title);
    this.element = h(
      'div',
      { class: 'frame' },
      h('header', { class: 'bar' }, h('a', { class: 'home-link', href: '/', 'aria-label': homeLabel }, emblem('hearts')), h('h1', null, title), this.#info),
      this.board,
      this.#tools,
    );
  }

  /**
   * Adds an entry to the bar.
   * @param {string} role its value gets data-role `info-…`
   * @param {string} label
   * @param {{ label: string, run: () => void }} [button] makes the value a button
   */
  addInfo(role, label, button) {
    const value = button
      ? h('button', { type: 'button', class: 'info-button', 'data-role': `info-${role}`, title: button.label, onclick: button.run })
      : h('span', { 'data-role': `info-${role}` });
    this.#values.set(role, value);
    this.#info.append(h('div', { class: `info-${role}` }, h('dt', null, label), h('dd', null, value)));
  }

  /**
   * @param {string} role
   * @param {string} text
   * @param {string} [title] more about it
   */
  setInfo(role, text, title) {
    const value = this.#values.get(role);
    if (!value) return;
    if (value.textContent !== text) value.textContent = text;
    if (title !== undefined) set(value, { title: title || null });
  }

  /** @param {Tool} tool */
  addTool({ role, icon: name, label, shortcut, run }) {
    const title = shortcut ? `${label} (${shortcut})` : label;
    this.#tools.append(
      h(
        'button',
        { type: 'button', class: 'tool', 'data-role': role, title, 'aria-keyshortcuts': shortcut, onclick: run },
        icon(name),
        h('span', { class: 'tool-label' }, label),
      ),
    );
  }

  /** @param {string} role @param {boolean} enabled */
  enableTool(role, enabled) {
    const tool = this.#tools.querySelector(`[data-role="${role}"]`);
    if (tool) set(tool, { 'aria-disabled': enabled ? null : 'true' });
  }

  /** Puts something else where the tools are. @param {...Node} nodes */
  replaceTools(...nodes) {
    this.#tools.classList.add('custom');
    this.#tools.replaceChildren(...nodes);
  }

  /**
   * Marks the game as one that is not to be begun again: there is nothing to begin another with.
   * @param {string | null} text '' for one of which that is not quite known; null: it is not so
   * @param {string} [more] about it
   */
  setMark(text, more) {
    this.element.querySelector('.ranked-mark')?.remove();
    this.element.toggleAttribute('data-ranked', text !== null);
    if (text) this.#info.after(h('span', { class: 'ranked-mark', 'data-role': 'ranked-mark', title: more }, text));
  }

  /** How many are watching. @param {number} n @param {string} label */
  setViewers(n, label) {
    this.element.querySelector('.viewers')?.remove();
    if (n) this.element.querySelector('.bar')?.append(h('span', { class: 'viewers', 'data-role': 'viewers', title: label }, icon('eye'), h('span', { class: 'visually-hidden' }, label), h('span', { 'aria-hidden': 'true' }, String(n))));
  }

  /** A line over the board, e.g. who is being watched. @param {...(Node | string)} content empty: none */
  setRibbon(...content) {
    if (this.#lastSaid) return;
    this.element.querySelector('.ribbon')?.remove();
    if (content.length) this.element.append(h('p', { class: 'ribbon', role: 'status', 'data-role': 'ribbon' }, content));
  }

  /** Says there what nothing else is to be said after. @param {string} text */
  setLastRibbon(text) {
    this.setRibbon(text);
    this.#lastSaid = true;
  }

  /** Draws attention to that line for a moment. */
  heedRibbon() {
    const ribbon = this.element.querySelector('.ribbon');
    if (!ribbon) return;
    clearTimeout(this.#heeded);
    ribbon.setAttribute('data-heed', '');
    this.#heeded = setTimeout(() => ribbon.removeAttribute('data-heed'), HEED_MS);
  }
}
