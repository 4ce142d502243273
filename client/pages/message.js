// Owns: pages that only say something: not found, gone, wrong.

import { emblem } from '../ui/card.js';
import { pageTitle } from '../router.js';
import { h } from '../ui/dom.js';

/**
 * @param {import('../app.js').App} app
 * @param {string} text
 * @param {...(import('../ui/dom.js').Child)} more other ways than home
 * @returns {import('../router.js').Shown}
 */
export function message(app, text, ...more) {
  const { t } = app.i18n;
  app.root.replaceChildren(
    h('main', { class: 'message', id: 'main', tabindex: -1 }, emblem('hearts', 'message-heart'), h('h1', null, text), h('div', { class: 'choices' }, more, h('a', { class: `button ${more.length ? 'plain' : 'main'}`, href: '/', 'data-role': 'home' }, t('nav.home')))),
  );
  document.title = pageTitle(text);
  return { title: text };
}

/**
 * Why a game cannot be looked at.
 * @param {import('../app.js').App} app
 * @param {string} code
 */
export function refusal(app, code) {
  if (code !== 'sealed') return message(app, app.codeText(code));
  return message(app, app.codeText(code), h('a', { class: 'button main', href: '/daily', 'data-role': 'to-day' }, app.i18n.t('daily.toDay')));
}

/** @param {import('../app.js').App} app */
export function missing(app) {
  app.wire.leave();
  return message(app, app.i18n.t('missing'));
}
