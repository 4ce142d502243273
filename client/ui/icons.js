// Owns: the line icons of buttons.

import { svg } from './dom.js';

const PATHS = /** @type {const} */ ({
  undo: 'M8 5 3.5 9.5 8 14M4 9.5h10a5.5 5.5 0 0 1 0 11H9',
  new: 'M12 5v14M5 12h14',
  share: 'M12 15V3.5M8 7l4-3.5L16 7M5.5 11.5v8h13v-8',
  help: 'M9 9.2a3.1 3.1 0 1 1 4.6 2.7c-1 .6-1.6 1.2-1.6 2.4M12 18v.2',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.6v4.8M9 14.6v4.8',
  recycle: 'M19.5 9A8 8 0 0 0 5 8M4.5 3.8V8.2h4.4M4.5 15A8 8 0 0 0 19 16M19.5 20.2v-4.4h-4.4',
  play: 'M8 5.5v13l10.5-6.5z',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  back: 'M15 5.5 8.5 12l6.5 6.5',
  forward: 'M9 5.5l6.5 6.5L9 18.5',
  previousPair: 'M18.5 6 12 12l6.5 6M11.5 6 5 12l6.5 6',
  nextPair: 'M5.5 6l6.5 6-6.5 6M12.5 6l6.5 6-6.5 6',
  start: 'M6 6v12M18 6l-8 6 8 6',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z',
  link: 'M10 14a4 4 0 0 0 5.7.2l3.2-3.2a4 4 0 0 0-5.7-5.7L11.7 6.8M14 10a4 4 0 0 0-5.7-.2L5.1 13a4 4 0 0 0 5.7 5.7l1.5-1.5',
  leave: 'M13.5 4.5H5.5v15h8M10 12h10M16.5 8.5 20 12l-3.5 3.5',
  person: 'M12 4.5a3.7 3.7 0 1 0 0 7.4 3.7 3.7 0 0 0 0-7.4zM4.8 20c.7-4 3.6-5.6 7.2-5.6s6.5 1.6 7.2 5.6',
  bot: 'M12 3.5v3M6 6.5h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zM9 11.2v1.6M15 11.2v1.6M9.5 15.7h5M4 11H2.5M20 11h1.5',
  lost: 'M3 3l18 18M5 12.5a10 10 0 0 1 4-2.4M14 10a10 10 0 0 1 5 2.5M8.5 16a5 5 0 0 1 5.5-1M2.5 9a14 14 0 0 1 4-2.6M11 5.5A14 14 0 0 1 21.5 9M12 19.5v.1',
  scores: 'M6 3.5h12v17H6zM9 8h6M9 12h6M9 16h3',
  trick: 'M4.5 8.5l7-2 3 10.5-7 2zM13 5h6.5v11H16',
  arrow: 'M12 20V5M5.5 11.5 12 5l6.5 6.5',
  close: 'M6 6l12 12M18 6 6 18',
});

/** @typedef {keyof typeof PATHS} Icon */

/** @param {Icon} name */
export function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: PATHS[name] }));
}
