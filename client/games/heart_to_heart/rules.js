// Owns: the rules page of Heart to Heart.

import { h, unbroken } from '../../ui/dom.js';
import { heartPicture, rowPicture } from './picture.js';

/** The same heart, when its tip and the two cards above it are gone. */
const OPENED = [10, 3, 12, 7, 2, 9, 13, 5, 1, 8, 11, 6, 4, 13, 2, 1, 12, 9, 10, 3, 9, 7, 0, 0, 0];
const FREED = [20, 21, 22];

/**
 * @param {import('../../games.js').I18n} i18n
 * @returns {HTMLElement}
 */
export function rules({ t }) {
  const section = (/** @type {string} */ key, /** @type {number} */ count, /** @type {HTMLElement[]} */ ...pictures) =>
    h(
      'section',
      { class: 'rule' },
      h('h2', null, t(`hh.rules.${key}.title`)),
      h('div', { class: 'rule-text' }, Array.from({ length: count }, (_, i) => h('p', null, unbroken(t(`hh.rules.${key}.${i + 1}`), t('home.codeExample'))))),
      pictures.length > 0 && h('div', { class: 'rule-pictures' }, pictures),
    );
  return h(
    'div',
    { class: 'rules' },
    section('aim', 2, heartPicture()),
    section('free', 3, heartPicture({ ranks: OPENED, free: FREED })),
    section('pairs', 3, rowPicture(4, '=', 4)),
    section('stock', 4, rowPicture('back', '→', 12)),
    section('taps', 4, heartPicture({ ranks: OPENED.with(21, 9), free: FREED, ringed: [21, 22] })),
    section('score', 2),
    section('end', 3),
    section('more', 3),
  );
}
