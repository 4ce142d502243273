// Owns: what a reader has at hand when a page, or a part of it, is drawn anew: the focus, what was typed and chosen and
// what is said of it, the caret, how far was scrolled; and where the focus goes in what is new. Must not know: what is drawn.

import { saidOf, sayAgain } from './field.js';

/** What tells an element from others; where it has nothing of this, its class must do. */
const MARKS = ['id', 'href', 'data-role', 'data-setting'];
/** What comes so late is no longer waited for. */
const PATIENCE_MS = 10_000;

let stop = () => {};
/** Whether the reader has done anything here yet. */
let begun = false;

/** Called once, before there is a page. */
export function attend() {
  for (const event of ['keydown', 'pointerdown']) addEventListener(event, () => (begun = true), { capture: true, once: true });
}

/**
 * Finds an element, or what stands for it when it was drawn anew: what has its marks, at its place among all that have.
 * @param {Element} element
 * @returns {() => Element | undefined}
 */
export function whereabouts(element) {
  const has = (/** @type {string} */ name) => element.hasAttribute(name);
  const marks = MARKS.some(has) ? MARKS.filter(has) : ['class'].filter(has);
  const like = element.localName + marks.map((name) => `[${name}="${CSS.escape(element.getAttribute(name) ?? '')}"]`).join('');
  const at = [...document.querySelectorAll(like)].indexOf(element);
  return () => (element.isConnected ? element : document.querySelectorAll(like)[at]);
}

/**
 * Whether the reader has come to what `part` is in, and may be taken to `part` itself. Who has opened a link and done
 * nothing yet may not: browsers would mark the place as if a key had been pressed, also for a finger.
 * @param {Element} part
 */
export function comesTo(part) {
  const at = document.activeElement;
  return at !== null && at !== document.body && at.contains(part) && begun;
}

/** @param {Element | undefined} element @returns {boolean} whether it has the focus now */
function focus(element) {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  return element !== undefined && document.activeElement === element;
}

/**
 * Does `change` to what is in `root`; what had the focus there, or what stands for it now, has it afterwards.
 * @param {HTMLElement} root
 * @param {() => void} change
 */
export function keepFocus(root, change) {
  const at = document.activeElement;
  const find = at && root.contains(at) ? whereabouts(at) : null;
  change();
  if (find) focus(find());
}

/**
 * Does `redraw`, and puts back what the reader had at hand; where that comes only when something has been fetched,
 * then, unless the reader does something before.
 * @param {() => void} redraw
 */
export function keepAtHand(redraw) {
  stop();
  const due = [...picked(), ...changed(), ...said(), ...focused(), ...scrolled()];
  redraw();
  putAllBack(due);
}

/**
 * Scrolls a page to where it was when it was left, as far as it is there; the rest when that has been fetched, unless
 * the reader does something before.
 * @param {number} top
 */
export function scrollBack(top) {
  stop();
  putAllBack([
    () => {
      scrollTo(0, top);
      return Math.abs(scrollY - top) < 1;
    },
  ]);
}

/** @param {(() => boolean)[]} due functions that say whether they have done so */
function putAllBack(due) {
  const putBack = () => {
    due = due.filter((again) => !again());
    if (!due.length) stop();
  };
  const late = new MutationObserver(putBack);
  const left = new AbortController();
  const timer = setTimeout(() => stop(), PATIENCE_MS);
  stop = () => {
    late.disconnect();
    left.abort();
    clearTimeout(timer);
  };
  for (const event of ['keydown', 'pointerdown', 'wheel']) addEventListener(event, () => stop(), { capture: true, passive: true, signal: left.signal });
  late.observe(document.body, { childList: true, subtree: true });
  putBack();
}

/** The reader has gone elsewhere: nothing more is put back. */
export function letGo() {
  stop();
}

// What is to be put back.

/** @returns {(() => boolean)[]} */
function focused() {
  const at = document.activeElement;
  if (!at || at === document.body) return [];
  const find = whereabouts(at);
  const caret = caretOf(at);
  return [
    () => {
      const again = find();
      const done = focus(again);
      if (done && caret && again instanceof HTMLInputElement) again.setSelectionRange(...caret);
      return done;
    },
  ];
}

/**
 * Where in a field is typed, and what of it is selected.
 * @param {Element} field
 * @returns {[start: number, end: number, direction: 'forward' | 'backward' | 'none'] | null} null: it is none to type in
 */
function caretOf(field) {
  if (!(field instanceof HTMLInputElement) || field.selectionStart === null) return null;
  return [field.selectionStart, field.selectionEnd ?? field.selectionStart, field.selectionDirection ?? 'none'];
}

/** Tabs that were picked, and what was unfolded. @returns {(() => boolean)[]} */
function picked() {
  return [...document.querySelectorAll('[role="tab"][aria-selected="true"], details[open]')].map((element) => {
    const find = whereabouts(element);
    return () => pick(find());
  });
}

/** @param {Element | undefined} element */
function pick(element) {
  if (element instanceof HTMLDetailsElement) element.open = true;
  else if (element instanceof HTMLElement && element.ariaSelected !== 'true') element.click();
  return element !== undefined;
}

/** What was typed and chosen, but for settings: those are kept elsewhere. @returns {(() => boolean)[]} */
function changed() {
  /** @type {(HTMLInputElement | HTMLSelectElement)[]} */
  const fields = [...document.querySelectorAll(/** @type {'input'} */ ('input:not([type="checkbox"])')), ...document.querySelectorAll('select')];
  return fields.filter((field) => !field.dataset.setting && isChanged(field)).map((field) => {
    const [find, { value }] = [whereabouts(field), field];
    return () => enter(find(), value);
  });
}

/** @param {HTMLInputElement | HTMLSelectElement} field */
function isChanged(field) {
  return field instanceof HTMLInputElement ? field.value !== field.defaultValue : !field.selectedOptions[0]?.defaultSelected;
}

/** @param {Element | undefined} field @param {string} value */
function enter(field, value) {
  if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) return false;
  if (field.value === value) return true;
  field.value = value;
  for (const event of ['input', 'change']) field.dispatchEvent(new Event(event));
  return field.value === value;
}

/** What is wrong with what was typed. @returns {(() => boolean)[]} */
function said() {
  return [...document.querySelectorAll('[aria-invalid]')].flatMap((field) => {
    const [find, what] = [whereabouts(field), saidOf(field)];
    return what ? [() => sayAgain(find(), what)] : [];
  });
}

/** @returns {(() => boolean)[]} */
function scrolled() {
  return [...document.querySelectorAll('*')].filter(({ scrollTop }) => scrollTop > 0).map((element) => {
    const [find, { scrollTop }] = [whereabouts(element), element];
    return () => {
      const again = find();
      if (again) again.scrollTop = scrollTop;
      return again !== undefined && Math.abs(again.scrollTop - scrollTop) < 1;
    };
  });
}
