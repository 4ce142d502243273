// Owns: the rules page of Hearts.

import { h } from '../../ui/dom.js';
import { cardOf } from './cards.js';
import { rowPicture } from './picture.js';

/**
 * @param {import('../../games.js').I18n} i18n
 * @returns {HTMLElement}
 */
export function rules({ t }) {
  const section = (/** @type {string} */ key, /** @type {number} */ count, /** @type {HTMLElement[]} */ ...pictures) =>
    h(
      'section',
      { class: 'rule' },
      h('h2', null, t(`hearts.rules.${key}.title`)),
      h('div', { class: 'rule-text' }, Array.from({ length: count }, (_, i) => h('p', null, t(`hearts.rules.${key}.${i + 1}`)))),
      pictures.length > 0 && h('div', { class: 'rule-pictures' }, pictures),
    );
  return h(
    'div',
    { class: 'rules' },
    section('aim', 2, rowPicture(cardOf(12, 'spades'), cardOf(1, 'hearts'))),
    section('passing', 3, rowPicture(cardOf(12, 'spades'), cardOf(13, 'hearts'), cardOf(1, 'hearts'))),
    section('tricks', 3, rowPicture(cardOf(2, 'clubs'), '→', cardOf(10, 'clubs'))),
    section('first', 2),
    section('broken', 3, rowPicture(cardOf(4, 'diamonds'), '→', cardOf(7, 'hearts'))),
    section('score', 3, rowPicture(cardOf(5, 'hearts'), cardOf(12, 'spades'))),
    section('omnibus', 2, rowPicture(cardOf(11, 'diamonds'))),
    section('end', 2),
    section('table', 4),
  );
}
