// Owns: saying what is wrong with what is in a field, also when it is drawn anew, and measuring that.
// Must not know: what is wanted there.

import { h, set, unbroken } from './dom.js';

/** @typedef {{ key: string, params?: Record<string, string> }} Said of which a language makes a text */

/** What is said of a field, and how it is said without taking the reader there. @type {WeakMap<Element, { said: Said | null, show: (said: Said | null) => void }>} */
const fields = new WeakMap();

/**
 * The line that says so, to be put by its field, and a way to say it.
 * @param {import('../i18n.js').I18n} i18n
 * @param {HTMLInputElement} input learns which line is about it
 * @param {string} role of the line
 * @param {string} [id] of the line
 * @param {string} [whole] a word that it does not break
 */
export function fieldError({ t }, input, role, id = role, whole = '') {
  const line = h('p', { class: 'field-error', role: 'alert', id, 'data-role': role });
  set(input, { 'aria-describedby': [input.getAttribute('aria-describedby'), id].filter(Boolean).join(' ') });
  const show = (/** @type {Said | null} */ said) => {
    const text = said ? t(said.key, said.params) : '';
    line.replaceChildren(...(whole ? unbroken(text, whole) : [text]));
    set(input, { 'aria-invalid': text ? 'true' : null });
    fields.set(input, { said, show });
  };
  /** @param {string | null} key of the text, null: nothing is wrong @param {Record<string, string>} [params] */
  const say = (key, params) => {
    show(key === null ? null : { key, params });
    if (key === null) return;
    input.focus({ preventScroll: true });
    // The browser shows the field that is typed in, but not what is below it.
    for (const part of [line, input]) part.scrollIntoView({ block: 'nearest' });
  };
  fields.set(input, { said: null, show });
  return { line, say };
}

/** What is said of a field. @param {Element} field @returns {Said | null} */
export function saidOf(field) {
  return fields.get(field)?.said ?? null;
}

/**
 * Says it of what stands for that field now, in the language that is spoken now.
 * @param {Element | undefined} field
 * @param {Said} said
 * @returns {boolean} whether there is such a field
 */
export function sayAgain(field, said) {
  const its = field && fields.get(field);
  its?.show(said);
  return its !== undefined;
}

/**
 * How many characters a text has as people count them, with blanks as the server keeps them. 0 where the browser cannot
 * tell.
 * @param {string} text
 */
export function lengthOf(text) {
  if (!('Segmenter' in Intl)) return 0;
  const kept = text.normalize('NFC').trim().replace(/\s+/g, ' ');
  return [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(kept)].length;
}
