// Owns: what the page says in passing: toasts, announcements for screen readers, the banner about
// the connection.

import { h } from './dom.js';

const TOAST_MS = 5000;
const MOST_TOASTS = 3;

export class Notices {
  // In the top layer, over dialogs; and in the one that is open, for what is outside of it is neither read nor pressed.
  #root = h('div', { class: 'notices', popover: 'manual' });
  #said = '';
  #toasts = h('div', { class: 'toasts', role: 'status' });
  #live = h('div', { class: 'visually-hidden', 'aria-live': 'polite', 'data-role': 'announcer' });
  #banner = h('div', { class: 'banner', role: 'status', 'data-role': 'banner' });

  /** @param {HTMLElement} place */
  constructor(place) {
    this.#root.append(this.#banner, this.#toasts, this.#live);
    this.moveTo(place);
    // A part of a pixel is one: what makes room for it lies below it.
    new ResizeObserver(() => document.documentElement.style.setProperty('--banner', `${Math.ceil(this.#banner.getBoundingClientRect().height)}px`)).observe(this.#banner);
  }

  /** @param {HTMLElement} place the page, or the dialog that is open */
  moveTo(place) {
    place.append(this.#root);
    this.#root.showPopover?.(); // older browsers know none, and show it as it is
  }

  /**
   * @param {string} text
   * @param {string} [kind] data-kind, for tests: a code, or what it is about
   * @returns {() => void} takes it away before its time
   */
  toast(text, kind) {
    const same = [...this.#toasts.children].find((toast) => toast.textContent === text);
    same?.remove();
    const toast = h('div', { class: 'toast', 'data-kind': kind }, text);
    this.#toasts.append(toast);
    while (this.#toasts.children.length > MOST_TOASTS) this.#toasts.firstChild?.remove();
    setTimeout(() => toast.remove(), TOAST_MS);
    return () => toast.remove();
  }

  /** @param {string} text read out, not shown */
  announce(text) {
    const line = h('div', null, text);
    this.#live.append(line);
    while (this.#live.children.length > 4) this.#live.firstChild?.remove();
    setTimeout(() => line.remove(), 5000);
  }

  /**
   * @param {string} text empty: no banner; what is said already is not said again
   * @param {Node} [more]
   */
  banner(text, more) {
    if (text === this.#said) return;
    this.#said = text;
    this.#banner.replaceChildren(...(text ? [h('span', null, text)] : []), ...(more ? [more] : []));
    this.#banner.toggleAttribute('data-shown', Boolean(text));
    document.documentElement.toggleAttribute('data-banner', Boolean(text)); // what is on the screen makes room
  }
}
