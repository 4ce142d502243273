// Owns: what stands around pages that are read: the bar with the ways to the others, failures with
// another try. Must not know: what the pages say.

import { emblem } from './card.js';
import { h } from './dom.js';

/** @typedef {import('../app.js').App} App */

/** The house's pages, and the keys of what they are called. @type {[path: string, label: string][]} */
const PAGES = [
  ['/daily', 'nav.daily'],
  ['/all-time', 'nav.allTime'],
  ['/live', 'nav.live'],
  ['/me', 'nav.me'],
];

/** @param {App} app @param {string} [current] the path of the page that it stands on */
export function ways({ i18n: { t } }, current) {
  return h(
    'nav',
    { class: 'ways', 'aria-label': t('nav.pages') },
    PAGES.map(([path, label]) => h('a', { href: path, 'data-role': `way-${path.slice(1)}`, 'aria-current': path === current && 'page' }, t(label))),
  );
}

/**
 * Puts a page on the screen.
 * @param {App} app
 * @param {string} current
 * @param {...(import('./dom.js').Child | import('./dom.js').Child[])} content
 */
export function shell(app, current, ...content) {
  const brand = h('a', { class: 'brand', href: '/', 'aria-label': app.i18n.t('nav.homeLong') }, emblem('hearts'), 'heartroom');
  app.put(h('div', { class: 'reading ledger' }, h('header', { class: 'home-bar' }, brand, ways(app, current)), h('main', { id: 'main', tabindex: -1 }, ...content)));
}

/** Why something could not be fetched. @param {App} app @param {string} code */
export function failureText(app, code) {
  return code === 'unavailable' ? app.i18n.t('failure.unavailable') : app.codeText(code);
}

/** @param {App} app @param {string} code @param {() => void} retry */
export function failure(app, code, retry) {
  const { t } = app.i18n;
  return h('div', { class: 'failure', role: 'alert', 'data-role': 'failure', 'data-code': code }, h('p', null, failureText(app, code)), h('button', { type: 'button', class: 'button plain', 'data-role': 'retry', onclick: retry }, t('retry')));
}

/** @param {App} app */
export function loading({ i18n: { t } }) {
  return h('p', { class: 'loading', 'data-role': 'loading' }, t('loading'));
}

/**
 * Copies a text, and says whether that went well.
 * @param {App} app
 * @param {string} text
 */
export async function copy({ notices, i18n: { t } }, text) {
  try {
    await navigator.clipboard.writeText(text);
    notices.toast(t('share.copied'), 'copied');
  } catch {
    notices.toast(t('share.notCopied'), 'not-copied');
  }
}
