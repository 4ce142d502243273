// Owns: tabs: a row of choices of which one's panel is shown.

import { h, set } from './dom.js';

/**
 * @param {object} what
 * @param {string} what.label what is chosen, for those who do not see it
 * @param {string} what.panel id of the panel's element, which gets to know its tab
 * @param {[value: string, text: string][]} what.choices
 * @param {string} what.chosen
 * @param {(value: string) => void} what.pick
 */
export function tabs({ label, panel, choices, chosen, pick }) {
  const buttons = choices.map(([value, text]) => h('button', { type: 'button', class: 'tab', role: 'tab', id: `${panel}-${value}`, 'data-tab': value, 'aria-controls': panel, onclick: () => choose(value) }, text));
  const show = (/** @type {string} */ value) => {
    for (const button of buttons) {
      const selected = button.dataset.tab === value;
      set(button, { 'aria-selected': String(selected), tabindex: selected ? 0 : -1 });
    }
    const its = document.getElementById(panel);
    if (its) set(its, { 'aria-labelledby': `${panel}-${value}` });
  };
  const choose = (/** @type {string} */ value) => {
    show(value);
    pick(value);
  };
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const at = buttons.findIndex((button) => button === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const button = buttons[(to + buttons.length) % buttons.length];
    button.focus();
    choose(button.dataset.tab ?? '');
  };
  const element = h('div', { class: 'tabs', role: 'tablist', 'aria-label': label, onkeydown }, buttons);
  show(chosen);
  return element;
}

/** The panel of such tabs. @param {string} id @param {string} chosen @param {...Node} content */
export function tabPanel(id, chosen, ...content) {
  return h('div', { class: 'tab-panel', role: 'tabpanel', id, 'aria-labelledby': `${id}-${chosen}` }, content);
}
