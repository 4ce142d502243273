// Owns: the page around a game's tutorial. It needs no connection.

import { games } from '../games.js';
import { emblem } from '../ui/card.js';
import { dialogOpen } from '../ui/dialog.js';
import { h } from '../ui/dom.js';
import { missing } from './message.js';

/** @param {import('../app.js').App} app @param {string} name @returns {import('../router.js').Shown} */
export function learn(app, name) {
  const game = games.get(name);
  if (!game?.learn) return missing(app);
  app.wire.leave();
  const { i18n, settings, notices, pace, sound } = app;
  const { t } = i18n;
  const root = h('main', { id: 'main', tabindex: -1 });
  const title = t('nav.learn', { game: t(game.title) });
  app.put(
    h('div', { class: 'lesson-page' }, h('header', { class: 'home-bar' }, h('a', { class: 'brand', href: '/' }, emblem('hearts'), 'heartroom'), h('h1', { class: 'lesson-title' }, title)), root),
  );
  const end = h('button', { type: 'button', class: 'button main', 'data-role': 'play', onclick: () => void app.quick(game.name) }, t('home.playNow'));
  const lesson = game.learn({ root, i18n, settings, notices, pace, sound, codeText: (code) => app.codeText(code), end });
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
    if (dialogOpen() || typing || event.defaultPrevented) return;
    if (lesson.onKey(event)) event.preventDefault();
  };
  addEventListener('keydown', onKey);
  return {
    title,
    destroy() {
      removeEventListener('keydown', onKey);
      lesson.destroy();
    },
  };
}
