// Owns: which games there are: every folder in games/ with an index.js. Nothing else names a game.

/** @typedef {import('./i18n.js').I18n} I18n */
/** @typedef {import('./i18n.js').Text} Text */
/** @typedef {import('./wire.js').View} View */
/** @typedef {import('./wire.js').Action} Action */
/** @typedef {import('./wire.js').Pending} Pending */

/**
 * @typedef {object} GameSetting a switch in the settings dialog
 * @property {string} name begins with the game's name
 * @property {boolean} fallback the value until the player chooses
 * @property {string} label key of its text
 * @property {string} hint key of its explanation
 */

/**
 * @typedef {object} Position what a table is to show
 * @property {View} view
 * @property {number} version
 * @property {readonly Pending[]} pending own actions under way
 * @property {boolean} [jump] not the next position but some other: do not animate every card
 */

/**
 * @typedef {object} TableHost what a table may use of the house
 * @property {import('./ui/frame.js').Frame} frame
 * @property {I18n} i18n
 * @property {import('./storage.js').Settings} settings
 * @property {import('./ui/notices.js').Notices} notices
 * @property {boolean} interactive false: a spectator or a replay looks on
 * @property {() => number} pace factor on the duration of animations, 0 for none
 * @property {(sound: import('./sound.js').Sound) => void} sound
 * @property {(action: Action) => void} act
 * @property {() => number} elapsedMs the game's time
 * @property {() => void} newGame asks where need be, then begins another
 * @property {(code: string) => void} share
 * @property {string | null} replay address of this game's replay, where there can be one
 * @property {(path: string) => void} go
 */

/**
 * @typedef {object} GameTable
 * @property {(position: Position) => void} update
 * @property {(event: KeyboardEvent) => boolean} onKey true: it was for this table
 * @property {() => boolean} underWay whether leaving it would lose something
 * @property {() => void} destroy
 */

/**
 * @typedef {object} Game
 * @property {string} name as in the protocol
 * @property {string} title key of its text
 * @property {string} tagline key of its text
 * @property {(code: string) => boolean} readsCode whether a deal code could be this game's
 * @property {(view: View) => string} code of the deal
 * @property {(view: View) => boolean} [over] whether nothing is left to be played
 * @property {GameSetting[]} settings
 * @property {[keys: string, label: string][]} keys keys of the keyboard, and the key of the text that says what for
 * @property {(i18n: I18n) => HTMLElement} picture for the front page
 * @property {(host: TableHost) => GameTable} createTable
 * @property {(i18n: I18n) => HTMLElement} rules the rules page
 * @property {(i18n: I18n, before: View, after: View) => string} caption of a step of a replay
 * @property {(before: View, after: View) => boolean} landmark whether a replay can be told to skip to this step
 * @property {boolean} example whether the house has a recorded game to show
 */

const modules = /** @type {Record<string, { game: Game }>} */ (import.meta.glob('./games/*/index.js', { eager: true }));
const texts = /** @type {Record<string, { default: Partial<import('./i18n.js').Language> & { texts: Record<string, Text> } }>} */ (
  import.meta.glob(['./texts/*.js', './games/*/texts/*.js'], { eager: true })
);

/** Every game, by its name in the protocol. */
export const games = new Map(Object.values(modules).map(({ game }) => [game.name, game]));

/**
 * Adds all texts, of the house and of its games.
 * @param {I18n} i18n
 */
export function addTexts(i18n) {
  for (const [path, module] of Object.entries(texts)) {
    i18n.add(/([\w-]+)\.js$/.exec(path)?.[1] ?? '', module.default);
  }
}
