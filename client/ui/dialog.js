// Owns: dialogs: one at a time, real <dialog> elements, focus and dismissal.

import { h } from './dom.js';
import { icon } from './icons.js';
import { whereabouts } from './keep.js';

/**
 * @typedef {object} Choice
 * @property {string} label
 * @property {string} [role] data-role of the button, for tests
 * @property {'main' | 'plain'} [kind]
 * @property {() => void} [run] what it does, after the dialog is closed
 */

/**
 * @typedef {object} What
 * @property {string} role data-dialog of the element
 * @property {string} title
 * @property {import('./dom.js').Child[]} [body]
 * @property {Choice[]} [choices]
 * @property {string} closeLabel
 * @property {() => void} [closed]
 */

/**
 * @typedef {object} Open
 * @property {HTMLDialogElement} dialog
 * @property {(() => What) | null} again what it shows, asked anew; null: it stays as it is
 * @property {(() => Element | undefined) | null} opener what had the focus before
 */

/** @type {Open | null} */
let open = null;
/** What is to be done when no dialog stays as it is. @type {(() => void) | null} */
let waiting = null;
let carry = (/** @type {HTMLElement} */ _place) => {};

/**
 * Where a dialog is open nothing outside of it can be used or read.
 * @param {(place: HTMLElement) => void} move is given each dialog when it opens, and the page when it closes, for what
 *   is to be used everywhere
 */
export function withDialogs(move) {
  carry = move;
}

/**
 * Shows a dialog, in place of any other. What a function says is asked anew when the dialog is drawn anew; any other
 * dialog stays as it is until it is closed.
 * @param {What | (() => What)} given
 * @returns {HTMLDialogElement}
 */
export function showDialog(given) {
  closeDialog();
  const again = typeof given === 'function' ? given : null;
  const what = typeof given === 'function' ? given() : given;
  const at = document.activeElement;
  const dialog = h('dialog', { class: 'dialog', 'data-dialog': what.role, 'aria-labelledby': 'dialog-title' }, contentOf(what));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) closeDialog();
  });
  dialog.addEventListener('close', () => {
    if (open?.dialog === dialog) closeDialog();
    what.closed?.();
    if (waiting) whenNoneStays(waiting);
  });
  open = { dialog, again, opener: at && at !== document.body ? whereabouts(at) : null };
  document.body.append(dialog);
  dialog.showModal();
  carry(dialog);
  const first = dialog.querySelector('[autofocus], .choices .main') ?? dialog.querySelector('h2');
  // A dialog higher than the screen opens at its beginning, wherever the focus is.
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  return dialog;
}

/** @param {What} what */
function contentOf({ title, body = [], choices = [], closeLabel }) {
  return [
    h('button', { type: 'button', class: 'dialog-close', 'data-role': 'close', 'aria-label': closeLabel, onclick: closeDialog }, icon('close')),
    h(
      'div',
      { class: 'dialog-body' },
      h('h2', { id: 'dialog-title', tabindex: -1 }, title),
      ...body,
      choices.length > 0 && h('div', { class: 'choices' }, choices.map(choiceButton)),
    ),
  ];
}

/** Draws the dialog that is open anew, if it is one that can be. */
export function redrawDialog() {
  if (!open?.again) return;
  const { dialog, again } = open;
  contentOf(again()).forEach((part, i) => dialog.children[i].replaceWith(part));
}

/**
 * Does something that would take away what is shown, once no dialog is open but one that can be drawn anew.
 * @param {() => void} run
 */
export function whenNoneStays(run) {
  const stays = open !== null && !open.again;
  waiting = stays ? run : null;
  if (!stays) run();
}

/** @param {Choice} choice */
function choiceButton({ label, role, kind = 'plain', run }) {
  const pick = () => {
    closeDialog();
    run?.();
  };
  return h('button', { type: 'button', class: `button ${kind}`, 'data-role': role, onclick: pick }, label);
}

/** Closes the dialog that is open, if any. It is gone at once; `closed` is called a moment later. */
export function closeDialog() {
  if (!open) return;
  const { dialog, opener } = open;
  open = null;
  dialog.close();
  carry(document.body);
  dialog.remove(); // its `close` event is yet to come, and the next dialog may be there before
  // The browser gives the focus back to what had it before, if that is still there.
  if (!opener || document.activeElement !== document.body) return;
  const back = opener() ?? document.getElementById('main');
  if (back instanceof HTMLElement) back.focus({ preventScroll: true });
}

/**
 * Closes the dialog that is open if `part` is in it: what took its time in one dialog does not close the next.
 * @param {Node} part
 */
export function closeDialogOf(part) {
  if (open?.dialog.contains(part)) closeDialog();
}

/** Whether a dialog is open, and has the keyboard. */
export function dialogOpen() {
  return open !== null;
}
