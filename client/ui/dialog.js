// Owns: dialogs: one at a time, real <dialog> elements, focus and dismissal.

import { h } from './dom.js';
import { icon } from './icons.js';

/**
 * @typedef {object} Choice
 * @property {string} label
 * @property {string} [role] data-role of the button, for tests
 * @property {'main' | 'plain'} [kind]
 * @property {() => void} [run] what it does, after the dialog is closed
 */

/** @type {HTMLDialogElement | null} */
let open = null;

/**
 * Shows a dialog, in place of any other.
 * @param {object} what
 * @param {string} what.role data-dialog of the element
 * @param {string} what.title
 * @param {import('./dom.js').Child[]} [what.body]
 * @param {Choice[]} [what.choices]
 * @param {string} what.closeLabel
 * @param {() => void} [what.closed]
 * @returns {HTMLDialogElement}
 */
export function showDialog({ role, title, body = [], choices = [], closeLabel, closed }) {
  closeDialog();
  const heading = h('h2', { id: 'dialog-title', tabindex: -1 }, title);
  const dialog = h(
    'dialog',
    { class: 'dialog', 'data-dialog': role, 'aria-labelledby': 'dialog-title' },
    h('button', { type: 'button', class: 'dialog-close', 'data-role': 'close', 'aria-label': closeLabel, onclick: closeDialog }, icon('close')),
    h(
      'div',
      { class: 'dialog-body' },
      heading,
      ...body,
      choices.length > 0 && h('div', { class: 'choices' }, choices.map(choiceButton)),
    ),
  );
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) closeDialog();
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (open === dialog) open = null;
    closed?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector('[autofocus], .choices .main');
  // A dialog higher than the screen opens at its beginning, wherever the focus is.
  (first instanceof HTMLElement ? first : heading).focus({ preventScroll: true });
  open = dialog;
  return dialog;
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
  const dialog = open;
  open = null;
  dialog?.close();
  dialog?.remove(); // its `close` event is yet to come, and the next dialog may be there before
}

/**
 * Closes the dialog that is open if `part` is in it: what took its time in one dialog does not close the next.
 * @param {Node} part
 */
export function closeDialogOf(part) {
  if (open?.contains(part)) closeDialog();
}

/** Whether a dialog is open, and has the keyboard. */
export function dialogOpen() {
  return open !== null;
}
