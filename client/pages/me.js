// Owns: the page of the player's own: name, groups, moving to another device, what is kept of them.
//
// Hooks for tests: me-name, me-rename; group-name, group-make, group-link; recovery-make, recovery-code (in
// [data-dialog="recovery"]), recovery-input, recovery-enter, recovery-error; export; delete, delete-sure

import { ApiError, get, post } from '../api.js';
import { h, nameTag } from '../ui/dom.js';
import { fieldError } from '../ui/field.js';
import { showDialog } from '../ui/dialog.js';
import { copy, failure, loading, shell } from '../ui/shell.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').Me} Me */

/** @param {App} app @returns {import('../router.js').Shown} */
export function me(app) {
  const { t } = app.i18n;
  app.wire.leave();
  const asked = new AbortController();
  const place = h('div', { class: 'me' }, loading(app));
  const load = async () => {
    try {
      const found = /** @type {Me} */ (await get('/api/me', asked.signal));
      if (!asked.signal.aborted) place.replaceChildren(...sections(app, found));
    } catch (error) {
      if (asked.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      place.replaceChildren(failure(app, error.message, () => void load()));
    }
  };
  shell(app, '/me', h('h1', null, t('me.title')), place);
  void load();
  const off = app.wire.on('welcome', ({ name }) => place.querySelector('[data-role="me-name"]')?.replaceChildren(...called(app, name)));
  return {
    title: t('me.title'),
    destroy() {
      off();
      asked.abort();
    },
  };
}

/** @param {App} app @param {Me} its */
function sections(app, its) {
  return [name(app, its), groups(app, its), recovery(app, its), data(app)];
}

/** @param {App} app @param {string} name @returns {(Node | string)[]} */
function called({ i18n: { t } }, name) {
  return name ? [nameTag(name)] : [t('me.nameless')];
}

/** @param {string} role @param {string} title @param {...(import('../ui/dom.js').Child)} content */
function section(role, title, ...content) {
  return h('section', { class: 'me-section', 'data-role': role, 'aria-labelledby': `${role}-title` }, h('h2', { id: `${role}-title` }, title), ...content);
}

/** @param {App} app @param {Me} me */
function name(app, { name }) {
  const { t } = app.i18n;
  return section(
    'me-who',
    t('me.name'),
    h('p', { class: 'big-name', 'data-role': 'me-name' }, called(app, name)),
    h('p', { class: 'hint' }, t('me.nameMore')),
    h('div', { class: 'choices' }, h('button', { type: 'button', class: 'button plain', 'data-role': 'me-rename', onclick: () => app.askName() }, t(name ? 'home.rename' : 'home.name'))),
  );
}

/** @param {App} app @param {Me} me */
function groups(app, { groups }) {
  const { t } = app.i18n;
  const { form } = oneField(app, { role: 'group', label: t('group.name'), action: t('group.make'), wanted: 'code.bad_name', send: async (name) => {
    const { group } = await post('/api/groups', { name });
    app.go(`/join/${encodeURIComponent(group)}`);
  } });
  return section(
    'me-groups',
    t('group.titles'),
    h('p', null, t('group.more')),
    groups.length > 0 &&
      h('ul', { class: 'group-list' }, groups.map(({ id, name, members }) => h('li', null, h('a', { href: `/join/${encodeURIComponent(id)}`, 'data-role': 'group-link' }, nameTag(name)), h('span', { class: 'hint' }, t('group.members', { n: members }))))),
    form,
  );
}

/** @param {App} app @param {Me} me */
function recovery(app, { recovery }) {
  const { t } = app.i18n;
  let had = recovery;
  const has = h('p', { class: 'hint', 'data-role': 'recovery-has' });
  const button = h('button', { type: 'button', class: 'button plain', 'data-role': 'recovery-make', onclick: () => ask() });
  const show = () => {
    has.textContent = had ? `${t('recovery.has')} ${t('recovery.endsOld')}` : t('recovery.hasNone');
    button.textContent = t(had ? 'recovery.makeNew' : 'recovery.make');
  };
  show();
  const make = async () => {
    try {
      const { code } = await post('/api/me/recovery');
      had = true;
      show();
      showCode(app, code);
    } catch (error) {
      tell(app, error);
    }
  };
  const ask = () => {
    if (!had) return void make();
    showDialog({
      role: 'recovery-again',
      title: t('recovery.again'),
      closeLabel: t('close'),
      body: [h('p', null, t('recovery.againMore'))],
      choices: [
        { role: 'recovery-sure', kind: 'main', label: t('recovery.makeNew'), run: () => void make() },
        { role: 'recovery-cancel', label: t('cancel') },
      ],
    });
  };
  const { form } = oneField(app, { role: 'recovery', label: t('recovery.enter'), action: t('recovery.use'), wanted: 'recovery.wanted', code: true, send: async (code) => {
    await post('/api/me/recover', { code });
    // The cookie is another player's now: everything begins anew.
    location.assign('/me');
  } });
  return section(
    'me-recovery',
    t('recovery.title'),
    h('p', null, t('recovery.more')),
    has,
    h('div', { class: 'choices' }, button),
    form,
    h('p', { class: 'hint' }, t('recovery.useMore')),
  );
}

/** @param {App} app @param {string} code */
function showCode(app, code) {
  const { t } = app.i18n;
  showDialog({
    role: 'recovery',
    title: t('recovery.yours'),
    closeLabel: t('close'),
    body: [
      h('p', { class: 'share-code recovery-code', 'data-role': 'recovery-code' }, code),
      h('p', { class: 'warning' }, t('recovery.once')),
      h('div', { class: 'choices' }, h('button', { type: 'button', class: 'button main', 'data-role': 'recovery-copy', onclick: () => void copy(app, code) }, t('recovery.copy'))),
    ],
  });
}

/** @param {App} app */
function data(app) {
  const { t } = app.i18n;
  return section(
    'me-data',
    t('data.title'),
    h('p', null, t('data.more')),
    h(
      'div',
      { class: 'choices' },
      h('a', { class: 'button plain', href: '/api/me/export', download: 'heartroom.json', 'data-role': 'export' }, t('data.export')),
      h('button', { type: 'button', class: 'button plain danger', 'data-role': 'delete', onclick: () => askDelete(app) }, t('data.delete')),
    ),
  );
}

/** @param {App} app */
function askDelete(app) {
  const { t } = app.i18n;
  const sure = async () => {
    try {
      await post('/api/me/delete');
      location.assign('/');
    } catch (error) {
      tell(app, error);
    }
  };
  showDialog({
    role: 'delete',
    title: t('data.sure'),
    closeLabel: t('close'),
    body: [h('p', null, t('data.deleteMore')), h('ul', { class: 'gone-points' }, ['data.gone.boards', 'data.gone.games', 'data.gone.tables', 'data.gone.kept'].map((key) => h('li', null, t(key)))), h('p', { class: 'warning' }, t('data.forGood'))],
    choices: [
      { role: 'delete-cancel', kind: 'main', label: t('data.keep') },
      { role: 'delete-sure', label: t('data.deleteIt'), run: () => void sure() },
    ],
  });
}

/**
 * A form of one line.
 * @param {App} app
 * @param {object} what
 * @param {string} what.role of its parts: …-input, …-enter, …-error
 * @param {string} what.label
 * @param {string} what.action
 * @param {string} what.wanted key of what is said where nothing was typed
 * @param {boolean} [what.code] whether a code is typed, not words
 * @param {(text: string) => Promise<void>} what.send rejects with `ApiError`
 */
function oneField(app, { role, label, action, wanted, code = false, send }) {
  const id = `${role}-input`;
  const input = h('input', { type: 'text', id, 'data-role': id, autocomplete: 'off', ...(code ? { autocapitalize: 'characters', spellcheck: 'false', class: 'code' } : { dir: 'auto', maxlength: 40 }) });
  const { line, say } = fieldError(app.i18n, input, `${role}-error`);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = input.value.trim();
    say(text ? null : wanted);
    if (!text) return;
    try {
      await send(text);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      say(app.codeKey(refusal.message));
    }
  };
  const form = h('form', { class: 'one-field', onsubmit: submit }, h('label', { for: id }, label), h('div', { class: 'code-row' }, input, h('button', { type: 'submit', class: 'button plain', 'data-role': `${role}-enter` }, action)), line);
  return { form };
}

/** @param {App} app @param {unknown} error */
export function tell(app, error) {
  if (!(error instanceof ApiError)) throw error;
  app.notices.toast(app.codeText(error.message), error.message);
}
