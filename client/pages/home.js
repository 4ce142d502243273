// Owns: the front page: what can be played, what was begun, who is playing.

import { games } from '../games.js';
import { emblem } from '../ui/card.js';
import { DayCard } from '../ui/day-card.js';
import { h, nameTag } from '../ui/dom.js';
import { fieldError } from '../ui/field.js';
import { keepFocus } from '../ui/keep.js';
import { renew } from '../ui/renew.js';
import { ways } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../games.js').Game} Game */

/** @param {App} app @returns {import('../router.js').Shown} */
export function home(app) {
  const { t } = app.i18n;
  app.wire.leave();
  const who = h('p', { class: 'who' });
  /** @type {Map<string, HTMLElement>} */
  const begun = new Map([...games.keys()].map((name) => [name, h('div', { class: 'begun' })]));
  /** @type {string | null} the day's attempt, which its card goes on with */
  let ranked = null;
  let seen = '';
  const showWelcome = () => {
    const { name = '', sessions: all = [] } = app.wire.welcome ?? {};
    const sessions = all.filter(([session]) => session !== ranked);
    const told = JSON.stringify([name, sessions]);
    if (told === seen) return;
    seen = told;
    keepFocus(who, () => renew(who, whoContent(app, name)));
    for (const [game, place] of begun) {
      const [latest, ...others] = sessions.filter(([, its]) => its === game);
      const link = latest && h('a', { class: 'button plain wide', 'data-role': 'continue', href: address(latest) }, t('home.continue'));
      keepFocus(place, () => renew(place, [link, others.length > 0 && olderGames(app, others)].filter((part) => part instanceof Node)));
    }
  };
  showWelcome();
  const off = app.wire.on('welcome', showWelcome);
  const ofDays = [...games.values()].find((game) => game.day);
  const card = ofDays && new DayCard(app, t(ofDays.title), ({ session }) => {
    ranked = session;
    showWelcome();
  });
  app.wire.watch('daily');
  app.put(
    h(
      'div',
      { class: 'home' },
      h('header', { class: 'home-bar' }, h('h1', { class: 'brand' }, emblem('hearts'), 'heartroom'), ways(app), languageChoice(app)),
      h('main', { id: 'main', tabindex: -1 }, card?.element, [...games.values()].map((game) => gameSection(app, game, /** @type {HTMLElement} */ (begun.get(game.name))))),
      h('footer', { class: 'home-foot' }, who, h('button', { type: 'button', class: 'link', 'data-role': 'settings', onclick: () => app.showSettings() }, t('settings.title'))),
    ),
  );
  return {
    title: '',
    destroy() {
      off();
      card?.destroy();
      app.wire.watch(null);
    },
  };
}

/** @param {[session: string, game: string]} begun */
function address([session]) {
  return `/g/${encodeURIComponent(session)}`;
}

/** All that is not over, but for the latest. @param {App} app @param {[session: string, game: string][]} sessions */
function olderGames({ i18n: { t } }, sessions) {
  const link = (/** @type {[session: string, game: string]} */ begun, /** @type {number} */ i) =>
    h('li', null, h('a', { 'data-role': 'continue-older', href: address(begun) }, t('home.olderGame', { n: i + 2 })));
  return h('details', { class: 'older' }, h('summary', null, t('home.older', { n: sessions.length })), h('ol', null, sessions.map(link)));
}

/** @param {App} app @param {string} name @returns {(Node | string)[]} */
function whoContent(app, name) {
  const { t, nodes } = app.i18n;
  const edit = h('button', { type: 'button', class: 'link', 'data-role': 'name', onclick: () => app.askName() }, t(name ? 'home.rename' : 'home.name'));
  return name ? [h('span', null, nodes('home.who', { name: nameTag(name) })), ' ', edit] : [edit];
}

/** @param {App} app */
function languageChoice(app) {
  const { languages, language, t } = app.i18n;
  const select = h(
    'select',
    { class: 'languages', 'data-role': 'language', 'aria-label': t('settings.language') },
    languages.map(([code, name]) => h('option', { value: code, lang: code, selected: code === language }, name)),
  );
  select.addEventListener('change', () => app.settings.set('language', select.value));
  return select;
}

/** @param {App} app @param {Game} game @param {HTMLElement} begun */
function gameSection(app, game, begun) {
  const { t } = app.i18n;
  const picture = game.picture(app.i18n);
  arrive(picture, app.pace());
  return h(
    'section',
    { class: 'hero', 'data-game': game.name },
    h('div', { class: 'hero-picture' }, picture),
    h(
      'div',
      { class: 'hero-text' },
      h('h2', null, t(game.title)),
      h('p', { class: 'tagline' }, t(game.tagline)),
      h('div', { class: 'hero-play' }, playButtons(app, game), begun),
      h(
        'nav',
        { class: 'hero-links', 'aria-label': t(game.title) },
        game.learn && h('a', { href: `/learn/${game.name}`, 'data-role': 'learn' }, t('nav.learn', { game: t(game.title) })),
        h('a', { href: `/rules/${game.name}`, 'data-role': 'rules' }, t('nav.rules')),
        game.example && h('a', { href: `/examples/${game.name}`, 'data-role': 'example' }, t('nav.example')),
      ),
      game.readsCode && codeForm(app, game),
    ),
  );
}

/** @param {App} app @param {Game} game */
function playButtons(app, game) {
  const { t } = app.i18n;
  if (!game.party) return [h('button', { type: 'button', class: 'button main large', 'data-role': 'play', onclick: () => void app.beginOrTell(game.name) }, t('home.play'))];
  return [
    h('button', { type: 'button', class: 'button main large', 'data-role': 'play', onclick: () => void app.quick(game.name) }, t('home.playNow')),
    h('button', { type: 'button', class: 'button plain', 'data-role': 'make-table', onclick: () => app.askTable(game) }, t('table.make')),
  ];
}

/** @param {App} app @param {Game} game */
function codeForm(app, game) {
  const { i18n } = app;
  const { t } = i18n;
  const input = h('input', { type: 'text', id: `code-${game.name}`, 'data-role': 'code-input', placeholder: t('home.codeExample'), autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', maxlength: 200 });
  const { line, say } = fieldError(i18n, input, 'code-error', `code-error-${game.name}`, t('home.codeExample'));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const code = input.value.trim().replace(/^.*\/d\//, ''); // a link to a deal will do
    if (!code) return say('home.codeWanted', { example: t('home.codeExample') });
    say(null);
    const refused = await app.begin(game.name, { code });
    if (refused) say(app.codeKey(refused));
  };
  return h(
    'form',
    { class: 'code-form', onsubmit: submit },
    h('label', { for: input.id }, t('home.code')),
    h('div', { class: 'code-row' }, input, h('button', { type: 'submit', class: 'button plain', 'data-role': 'code-go' }, t('home.deal'))),
    line,
  );
}

/**
 * The picture's cards come in one by one, from within the picture: from outside, those of a fan would for a moment
 * make the page wider than the screen.
 * @param {HTMLElement} picture
 * @param {number} pace
 */
function arrive(picture, pace) {
  if (!pace) return;
  [...picture.querySelectorAll('.spot')].forEach((spot, i) =>
    spot.animate(
      [
        { transform: 'translateY(60%) rotate(-10deg)', opacity: 0 },
        { transform: 'none', opacity: 1 },
      ],
      { duration: 420 * pace, delay: i * 28 * pace, easing: 'cubic-bezier(.2,.8,.25,1)', fill: 'backwards' },
    ),
  );
}
