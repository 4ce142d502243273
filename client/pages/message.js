// Owns: pages that only say something: not found, gone, wrong.

import { emblem } from '../ui/card.js';
import { pageTitle } from '../router.js';
import { h } from '../ui/dom.js';

/**
 * @param {import('../app.js').App} app
 * @param {string} text
 * @returns {import('../router.js').Shown}
 */
export function message(app, text) {
  const { t } = app.i18n;
  app.root.replaceChildren(
    h('main', { class: 'message', id: 'main', tabindex: -1 }, emblem('hearts', 'message-heart'), h('h1', null, text), h('a', { class: 'button main', href: '/', 'data-role': 'home' }, t('nav.home'))),
  );
  document.title = pageTitle(text);
  return { title: text };
}

/** @param {import('../app.js').App} app */
export function missing(app) {
  app.wire.leave();
  return message(app, app.i18n.t('missing'));
}
