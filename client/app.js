// Owns: what all pages share, and the dialogs that any of them may open.
// Must not know: any game.

import { calm } from './ui/flight.js';
import { closeDialogOf, showDialog } from './ui/dialog.js';
import { h } from './ui/dom.js';
import { fieldError, lengthOf } from './ui/field.js';
import { ApiError, post } from './api.js';
import { games } from './games.js';
import { Refused } from './wire.js';
import { play } from './sound.js';
import { TableForm } from './ui/table-form.js';

/** @typedef {import('./games.js').Game} Game */

/** How long animations take, by the setting's value. */
export const PACES = /** @type {Record<string, number>} */ ({ slow: 1.7, normal: 1, fast: 0.5, off: 0 });

/** Names of the house's settings and their values until the player chooses. */
export const DEFAULTS = {
  language: 'auto',
  pace: 'normal',
  sound: false,
  shortcuts: true,
  ...Object.fromEntries([...games.values()].flatMap(({ settings }) => settings.map(({ name, fallback }) => [name, fallback]))),
};

/** Of a name, in characters as people count them. The server looks at more than that. */
const LONGEST_NAME = 20;

export class App {
  #root;
  /** What becomes of the session that was asked for. @type {Promise<string | null> | null} */
  #going = null;
  /** Whether a page is on the screen: until then the focus is where the browser has put it. */
  arrived = false;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root where pages go
   * @param {import('./i18n.js').I18n} parts.i18n
   * @param {import('./storage.js').Settings} parts.settings
   * @param {import('./wire.js').Wire} parts.wire
   * @param {import('./net.js').Net} parts.net
   * @param {import('./ui/notices.js').Notices} parts.notices
   */
  constructor({ root, i18n, settings, wire, net, notices }) {
    this.#root = root;
    this.i18n = i18n;
    this.settings = settings;
    this.wire = wire;
    this.net = net;
    this.notices = notices;
    /** @type {(path: string, how?: { replace?: boolean }) => void} */
    this.go = () => {};
  }

  /**
   * Puts a page, or what comes in its place, on the screen. Who was at what stood there is at the content of what comes:
   * there the keyboard goes on, and there a screen reader reads.
   * @param {...Node} nodes
   */
  put(...nodes) {
    const at = document.activeElement;
    const here = at === document.body || this.#root.contains(at);
    this.#root.replaceChildren(...nodes);
    if (here && this.arrived) document.getElementById('main')?.focus({ preventScroll: true });
  }

  /** Factor on the duration of animations. */
  pace = () => (calm() ? 0 : (PACES[this.settings.get('pace')] ?? 1));

  /** @param {import('./sound.js').Sound} sound */
  sound = (sound) => {
    if (this.settings.get('sound')) play(sound);
  };

  /**
   * The key of the text of a code of the protocol.
   * @param {string} code
   */
  codeKey(code) {
    const key = `code.${code}`;
    return this.i18n.has(key) ? key : 'code.unknown';
  }

  /**
   * The text of a code of the protocol.
   * @param {string} code
   */
  codeText(code) {
    return this.i18n.t(this.codeKey(code));
  }

  /**
   * Begins a session and goes to it.
   * @param {string} game
   * @param {Record<string, unknown>} options
   * @param {{ replace?: boolean }} [how]
   * @returns {Promise<string | null>} the code of a refusal
   */
  begin(game, options, how) {
    return this.#goTo(() => this.wire.newGame(game, options), how);
  }

  /**
   * The same for whatever answers with a session. Asked again before the answer it is one request; but without a
   * connection the last one holds.
   * @param {() => Promise<string | null>} ask
   * @param {{ replace?: boolean }} [how]
   * @returns {Promise<string | null>}
   */
  #goTo(ask, how) {
    if (this.#going && this.wire.connected) return this.#going;
    this.withdraw();
    const going = this.#follow(ask(), how).finally(() => {
      if (this.#going === going) this.#going = null;
    });
    this.#going = going;
    return going;
  }

  /**
   * @param {Promise<string | null>} asked
   * @param {{ replace?: boolean }} [how]
   * @returns {Promise<string | null>}
   */
  async #follow(asked, how) {
    try {
      const session = await asked;
      if (session !== null) this.go(`/g/${encodeURIComponent(session)}`, how);
      return null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return error.message;
    }
  }

  /** A session that was asked for is no longer waited for: the player has gone elsewhere. */
  withdraw() {
    this.wire.withdraw();
    this.#going = null;
  }

  /**
   * The same, and says so where it is refused.
   * @param {string} game
   * @param {Record<string, unknown>} [options]
   */
  async beginOrTell(game, options = games.get(game)?.options?.(this.settings) ?? {}) {
    const refused = await this.begin(game, options);
    if (refused) this.notices.toast(this.codeText(refused), 'refused');
  }

  /**
   * Takes a seat at a public table of a game, and says so where that is refused.
   * @param {string} game
   */
  async quick(game) {
    const refused = await this.#goTo(() => this.wire.quick(game));
    if (refused) this.notices.toast(this.codeText(refused), 'refused');
  }

  /**
   * Tells the player if something asked of the table is refused.
   * @param {Promise<void>} asked
   * @returns {Promise<boolean>} whether it was done
   */
  async tell(asked) {
    try {
      await asked;
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.notices.toast(this.codeText(error.message), error.message);
      return false;
    }
  }

  /**
   * Asks how a new table is to be, and makes it.
   * @param {Game} game
   */
  askTable(game) {
    const { t } = this.i18n;
    const form = new TableForm(game, this.i18n, this.settings.get(`table.${game.name}`) ?? {});
    const make = async () => {
      const { kept, options, table } = form.read();
      this.settings.set(`table.${game.name}`, kept);
      const refused = await this.#goTo(() => this.wire.newGame(game.name, options, table));
      if (refused) this.notices.toast(this.codeText(refused), 'refused');
    };
    showDialog({
      role: 'table',
      title: t('table.make'),
      closeLabel: t('close'),
      body: [form.element],
      choices: [{ role: 'table-make', kind: 'main', label: t('table.makeIt'), run: () => void make() }],
    });
  }

  /**
   * Asks what to do with the game in progress, then begins another.
   * @param {Game} game
   * @param {string} code of the present deal
   */
  askNewGame(game, code) {
    const { t } = this.i18n;
    showDialog({
      role: 'new',
      title: t('new.title'),
      closeLabel: t('close'),
      body: [
        h('p', null, t('new.more')),
        h('div', { class: 'settings' }, game.settings.filter(({ deals }) => deals).map(({ name, label, hint }) => this.#switch(name, t(label), t(hint)))),
      ],
      choices: [
        { role: 'new-random', kind: 'main', label: t('new.random'), run: () => void this.beginOrTell(game.name) },
        { role: 'new-same', label: t('new.same'), run: () => void this.beginOrTell(game.name, { code }) },
        { role: 'new-cancel', label: t('new.cancel') },
      ],
    });
  }

  /**
   * @param {string} code of a deal
   * @param {string | null} session to watch, if it can be
   */
  share(code, session) {
    const { t } = this.i18n;
    const link = `${location.origin}/d/${encodeURIComponent(code)}`;
    const watch = session && `${location.origin}/g/${encodeURIComponent(session)}`;
    showDialog({
      role: 'share',
      title: t('share.title'),
      closeLabel: t('close'),
      body: [
        h('p', null, t('share.more')),
        h('p', { class: 'share-code', 'data-role': 'share-code' }, code),
        h(
          'div',
          { class: 'choices' },
          this.#copyButton('copy-link', t('share.link'), link, 'main'),
          this.#copyButton('copy-code', t('share.code'), code),
          watch && this.#copyButton('copy-watch', t('share.watch'), watch),
          'share' in navigator && h('button', { type: 'button', class: 'button plain', 'data-role': 'share-native', onclick: (/** @type {Event} */ { currentTarget }) => this.#hand(link, currentTarget) }, t('share.native')),
        ),
        h('p', { class: 'share-link' }, link),
        session && this.#privacy(session),
      ],
    });
  }

  /**
   * The link to a day, for others to try it too.
   * @param {string} date
   * @param {string} session the player's own attempt
   */
  shareDay(date, session) {
    const { t } = this.i18n;
    const link = `${location.origin}/daily/${date}`;
    showDialog({
      role: 'share',
      title: t('daily.shareTitle'),
      closeLabel: t('close'),
      body: [
        h('p', null, t('daily.shareMore')),
        h(
          'div',
          { class: 'choices' },
          this.#copyButton('copy-link', t('share.link'), link, 'main'),
          'share' in navigator && h('button', { type: 'button', class: 'button plain', 'data-role': 'share-native', onclick: (/** @type {Event} */ { currentTarget }) => this.#hand(link, currentTarget) }, t('share.native')),
        ),
        h('p', { class: 'share-link' }, link),
        this.#privacy(session),
      ],
    });
  }

  /**
   * The switch of who may look on, for a player at the table while the game goes on.
   * @param {string} session
   */
  #privacy(session) {
    const { t } = this.i18n;
    const table = this.wire.table;
    const game = table && games.get(table.game);
    if (!table || table.session !== session || table.seat === null || game?.over?.(table.view)) return null;
    const box = h('input', { type: 'checkbox', role: 'switch', 'data-role': 'private', checked: table.settings.closed });
    box.addEventListener('change', async () => {
      try {
        await post(`/api/sessions/${encodeURIComponent(session)}/private`, { private: box.checked });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        closeDialogOf(box);
        this.notices.toast(error.message === 'not_seated' ? t('private.notHost') : this.codeText(error.message), error.message);
      }
    });
    return h('label', { class: 'setting' }, h('span', null, t('private'), h('small', null, t('private.hint'))), box);
  }

  /**
   * The link to a table: to watch, or to come back to.
   * @param {string} session
   */
  shareTable(session) {
    const { t } = this.i18n;
    const link = `${location.origin}/g/${encodeURIComponent(session)}`;
    showDialog({
      role: 'share',
      title: t('table.share'),
      closeLabel: t('close'),
      body: [
        h('p', null, t('table.shareMore')),
        h(
          'div',
          { class: 'choices' },
          this.#copyButton('copy-watch', t('share.link'), link, 'main'),
          'share' in navigator && h('button', { type: 'button', class: 'button plain', 'data-role': 'share-native', onclick: (/** @type {Event} */ { currentTarget }) => this.#hand(link, currentTarget) }, t('share.native')),
        ),
        h('p', { class: 'share-link' }, link),
        this.#privacy(session),
      ],
    });
  }

  /** @param {string} role @param {string} label @param {string} text @param {string} [kind] */
  #copyButton(role, label, text, kind = 'plain') {
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        closeDialogOf(button);
        this.notices.toast(this.i18n.t('share.copied'), 'copied');
      } catch {
        this.notices.toast(this.i18n.t('share.notCopied'), 'not-copied');
      }
    };
    const button = h('button', { type: 'button', class: `button ${kind}`, 'data-role': role, onclick: copy }, label);
    return button;
  }

  /** @param {string} url @param {EventTarget | null} part of the dialog that it is done in */
  #hand(url, part) {
    navigator.share({ title: document.title, url }).then(
      () => {
        if (part instanceof Node) closeDialogOf(part);
      },
      () => {},
    );
  }

  showSettings() {
    showDialog(() => this.#settingsDialog());
  }

  /** @returns {import('./ui/dialog.js').What} */
  #settingsDialog() {
    const { t, languages } = this.i18n;
    const own = [...games.values()].filter(({ settings }) => settings.length).flatMap((game) => [
      h('h3', null, t(game.title)),
      ...game.settings.map(({ name, label, hint }) => this.#switch(name, t(label), t(hint))),
    ]);
    const privacy = this.wire.table && this.#privacy(this.wire.table.session);
    return {
      role: 'settings',
      title: t('settings.title'),
      closeLabel: t('close'),
      body: [
        h(
          'div',
          { class: 'settings' },
          ...(privacy ? [h('h3', null, t('settings.thisGame')), privacy] : []),
          ...own,
          h('h3', null, t('settings.general')),
          this.#choice('language', t('settings.language'), [['auto', t('settings.auto')], ...languages]),
          this.#choice('pace', t('settings.pace'), Object.keys(PACES).map((pace) => [pace, t(`settings.pace.${pace}`)])),
          this.#switch('sound', t('settings.sound'), ''),
          this.#switch('shortcuts', t('settings.shortcuts'), t('settings.shortcutsHint')),
        ),
      ],
    };
  }

  /** @param {string} name @param {string} label @param {string} hint */
  #switch(name, label, hint) {
    const box = h('input', { type: 'checkbox', role: 'switch', 'data-setting': name, checked: this.settings.get(name) });
    box.addEventListener('change', () => this.settings.set(name, box.checked));
    return h('label', { class: 'setting' }, h('span', null, label, hint && h('small', null, hint)), box);
  }

  /** @param {string} name @param {string} label @param {string[][]} options [value, text] */
  #choice(name, label, options) {
    const present = this.settings.get(name);
    const select = h(
      'select',
      { 'data-setting': name },
      options.map(([value, text]) => h('option', { value, selected: value === present }, text)),
    );
    select.addEventListener('change', () => this.settings.set(name, select.value));
    return h('label', { class: 'setting' }, h('span', null, label), select);
  }

  /** @param {Game} game */
  showHelp(game) {
    const { t } = this.i18n;
    const keys = [...game.keys, ...(game.party ? [] : [['N', 'key.new']]), ['H, ?', 'key.help']];
    const list = h('dl', { class: 'keys' }, keys.map(([key, label]) => h('div', null, h('dt', null, key.split(', ').flatMap((k, i) => [i > 0 && ' ', h('kbd', null, k)])), h('dd', null, t(label)))));
    // where a finger is all that there is, there is hardly a keyboard
    const unlikely = !matchMedia('(any-pointer: fine)').matches;
    showDialog({
      role: 'help',
      title: t('help.title'),
      closeLabel: t('close'),
      body: [
        h('p', null, t(game.tagline)),
        ...game.basics.map((key) => h('p', null, t(key))),
        ...(unlikely ? [h('details', null, h('summary', null, t('help.keys')), list)] : [h('h3', null, t('help.keys')), list]),
      ],
      choices: [
        { role: 'help-rules', kind: 'main', label: t('nav.rules'), run: () => this.go(`/rules/${game.name}`) },
        ...(game.learn ? [{ role: 'help-learn', label: t('nav.learn', { game: t(game.title) }), run: () => this.go(`/learn/${game.name}`) }] : []),
        ...(game.example ? [{ role: 'help-example', label: t('nav.example'), run: () => this.go(`/examples/${game.name}`) }] : []),
      ],
    });
  }

  askName() {
    const { i18n } = this;
    const { t } = i18n;
    const input = h('input', {
      type: 'text',
      'data-role': 'name-input',
      autocomplete: 'nickname',
      autofocus: true,
      dir: 'auto',
      'aria-describedby': 'name-hint',
      value: this.wire.welcome?.name ?? '',
    });
    const error = fieldError(i18n, input, 'name-error');
    const save = async () => {
      error.say(null);
      const name = input.value.trim();
      if (lengthOf(name) > LONGEST_NAME) return error.say('code.bad_name');
      try {
        await this.wire.setName(name);
        closeDialogOf(input);
      } catch (refusal) {
        if (!(refusal instanceof Refused)) throw refusal;
        error.say(this.codeKey(refusal.message === 'too_large' ? 'bad_name' : refusal.message));
      }
    };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') void save();
    });
    showDialog({
      role: 'name',
      title: t('name.title'),
      closeLabel: t('close'),
      body: [
        h('label', { class: 'field' }, h('span', null, t('name.label')), input),
        h('p', { id: 'name-hint', class: 'hint' }, t('name.hint')),
        error.line,
        h('div', { class: 'choices' }, h('button', { type: 'button', class: 'button main', 'data-role': 'name-save', onclick: save }, t('name.save'))),
      ],
    });
  }
}
