// Owns: pages that only say something: not found, gone, wrong.

import { emblem } from '../ui/card.js';
import { pageTitle } from '../router.js';
import { h, unbroken } from '../ui/dom.js';
import { failureText } from '../ui/shell.js';

/**
 * @param {import('../app.js').App} app
 * @param {string} text
 * @param {...(import('../ui/dom.js').Child)} more other ways than home
 * @returns {import('../router.js').Shown}
 */
export function message(app, text, ...more) {
  const { t } = app.i18n;
  const kind = more.some(Boolean) ? 'plain' : 'main';
  app.put(
    h('main', { class: 'message', id: 'main', tabindex: -1 }, emblem('hearts', 'message-heart'), h('h1', null, unbroken(text, t('home.codeExample'))), h('div', { class: 'choices' }, more, h('a', { class: `button ${kind}`, href: '/', 'data-role': 'home' }, t('nav.home')))),
  );
  document.title = pageTitle(text);
  return { title: text };
}

/**
 * What is there until a table is: that the cards are being dealt, or, without a connection, that there is none.
 * @param {import('../app.js').App} app
 * @returns {() => void} to be called when something else is there
 */
export function dealing(app) {
  const { t } = app.i18n;
  let there = '';
  const show = () => {
    const { state } = app.net;
    const away = state === 'lost' || state === 'refused';
    if (there === String(away)) return;
    there = String(away);
    if (!away) return app.put(h('main', { class: 'waiting', id: 'main', tabindex: -1 }, h('p', null, t('play.waiting'))));
    app.put(
      h(
        'main',
        { class: 'message', id: 'main', tabindex: -1, 'data-role': 'no-connection' },
        emblem('hearts', 'message-heart'),
        h('h1', null, t('play.lost')),
        state === 'lost' && h('p', null, t('play.lostMore')),
        h('div', { class: 'choices' }, h('a', { class: 'button main', href: '/', 'data-role': 'home' }, t('nav.home'))),
      ),
    );
  };
  show();
  return app.net.on('state', show);
}

/** Codes of what may be otherwise a moment later. */
const PASSING = new Set(['private', 'crowded', 'unavailable']);

/**
 * Why a game cannot be looked at.
 * @param {import('../app.js').App} app
 * @param {string} code
 */
export function refusal(app, code) {
  const { t } = app.i18n;
  const again = () => app.go(location.pathname);
  if (PASSING.has(code)) return message(app, failureText(app, code), h('button', { type: 'button', class: 'button main', 'data-role': 'retry', onclick: again }, t('retry')));
  if (code !== 'sealed') return message(app, app.codeText(code));
  return message(app, app.codeText(code), h('a', { class: 'button main', href: '/daily', 'data-role': 'to-day' }, t('daily.toDay')));
}

/** @param {import('../app.js').App} app */
export function missing(app) {
  app.wire.leave();
  return message(app, app.i18n.t('missing'));
}
