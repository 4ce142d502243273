// Owns: the form of a new table of a game with several seats.
// Must not know: any game; what can be chosen comes with it.

import { h } from './dom.js';

/** @typedef {import('../games.js').Game} Game */
/** @typedef {import('../games.js').TableChoice} TableChoice */
/** @typedef {import('../i18n.js').I18n} I18n */

/** Seconds a turn; 0 for no limit. */
const PACES = [15, 30, 60, 0];
const PACE = 30;

export class TableForm {
  #t;
  /** What was chosen last time. @type {Record<string, any>} */
  #last;
  /** @type {Map<string, () => any>} */
  #fields = new Map();
  element;

  /** @param {Game} game @param {I18n} i18n @param {Record<string, any>} last */
  constructor(game, { t }, last) {
    this.#t = t;
    this.#last = last;
    const levels = [...(game.party?.levels ?? [])].reverse();
    this.element = h(
      'div',
      { class: 'settings' },
      (game.party?.choices ?? []).map((choice) => this.#own(choice)),
      this.#choice('pace', t('table.pace'), game.party?.paceHint ? t(game.party.paceHint) : '', PACES.map((pace) => [pace, pace ? t('table.seconds', { n: pace }) : t('table.unlimited')]), PACE),
      this.#choice('level', t('table.level'), '', levels.map((level) => [level, t(`level.${level}`)]), levels[0]),
      this.#switch('public', t('table.public'), t('table.publicHint'), false),
    );
  }

  /** What is chosen now. @returns {{ kept: Record<string, any>, options: Record<string, any>, table: import('../wire.js').TableOptions }} */
  read() {
    const kept = Object.fromEntries([...this.#fields].map(([name, value]) => [name, value()]));
    const { pace, level, public: open, ...options } = kept;
    return { kept, options, table: { pace, public: open, level } };
  }

  /** @param {TableChoice} choice */
  #own({ name, label, hint, values, fallback }) {
    const t = this.#t;
    const more = hint && t(hint);
    if (!values) return this.#switch(name, t(label), more, Boolean(fallback));
    return this.#choice(name, t(label), more, values.map(([value, key]) => [value, t(key, { n: value })]), fallback);
  }

  /** @param {string} name @param {string} label @param {string} hint @param {boolean} fallback */
  #switch(name, label, hint, fallback) {
    const box = h('input', { type: 'checkbox', role: 'switch', 'data-option': name, checked: this.#last[name] ?? fallback });
    this.#fields.set(name, () => box.checked);
    return h('label', { class: 'setting' }, h('span', null, label, hint && h('small', null, hint)), box);
  }

  /** @param {string} name @param {string} label @param {string} hint @param {(readonly [any, string])[]} values @param {unknown} fallback */
  #choice(name, label, hint, values, fallback) {
    const wanted = this.#last[name] ?? fallback;
    const present = values.some(([value]) => value === wanted) ? wanted : fallback;
    const select = h('select', { 'data-option': name }, values.map(([value, text]) => h('option', { value: String(value), selected: value === present }, text)));
    this.#fields.set(name, () => values[select.selectedIndex][0]);
    return h('label', { class: 'setting' }, h('span', null, label, hint && h('small', null, hint)), select);
  }
}
