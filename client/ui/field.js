// Owns: saying what is wrong with what is in a field, and measuring that. Must not know: what is wanted there.

import { h, set, unbroken } from './dom.js';

/**
 * The line that says so, to be put by its field, and a way to say it; an empty text says that nothing is.
 * @param {HTMLInputElement} input learns which line is about it
 * @param {string} role of the line
 * @param {string} [id] of the line
 * @param {string} [whole] a word that it does not break
 */
export function fieldError(input, role, id = role, whole = '') {
  const line = h('p', { class: 'field-error', role: 'alert', id, 'data-role': role });
  set(input, { 'aria-describedby': [input.getAttribute('aria-describedby'), id].filter(Boolean).join(' ') });
  const say = (/** @type {string} */ text) => {
    line.replaceChildren(...(whole ? unbroken(text, whole) : [text]));
    set(input, { 'aria-invalid': text ? 'true' : null });
    if (!text) return;
    input.focus({ preventScroll: true });
    // The browser shows the field that is typed in, but not what is below it.
    for (const part of [line, input]) part.scrollIntoView({ block: 'nearest' });
  };
  return { line, say };
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
