// Owns: the page around a game's rules.

import { games } from '../games.js';
import { emblem } from '../ui/card.js';
import { h } from '../ui/dom.js';
import { missing } from './message.js';

/** @param {import('../app.js').App} app @param {string} name @returns {import('../router.js').Shown} */
export function rules(app, name) {
  const game = games.get(name);
  if (!game) return missing(app);
  app.wire.leave();
  const { t } = app.i18n;
  const title = t('rules.title', { game: t(game.title) });
  app.put(
    h(
      'div',
      { class: 'reading' },
      h('header', { class: 'home-bar' }, h('a', { class: 'brand', href: '/' }, emblem('hearts'), 'heartroom')),
      h(
        'main',
        { id: 'main', tabindex: -1 },
        h('h1', null, title),
        game.rules(app.i18n),
        h(
          'div',
          { class: 'choices' },
          h('button', { type: 'button', class: 'button main', 'data-role': 'play', onclick: () => void (game.party ? app.quick(game.name) : app.beginOrTell(game.name)) }, t(game.party ? 'home.playNow' : 'home.play')),
          game.learn && h('a', { class: 'button plain', href: `/learn/${game.name}`, 'data-role': 'learn' }, t('nav.learn', { game: t(game.title) })),
          game.example && h('a', { class: 'button plain', href: `/examples/${game.name}`, 'data-role': 'example' }, t('nav.example')),
        ),
      ),
    ),
  );
  return { title };
}
