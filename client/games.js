// Owns: which games there are: every folder in games/ with an index.js, if the server has the game too.
// Nothing else names a game.

/** @typedef {import('./i18n.js').I18n} I18n */
/** @typedef {import('./i18n.js').Text} Text */
/** @typedef {import('./wire.js').View} View */
/** @typedef {import('./wire.js').Action} Action */
/** @typedef {import('./wire.js').Pending} Pending */
/** @typedef {import('./wire.js').Chair} Chair */

/**
 * @typedef {object} GameSetting a switch in the settings dialog
 * @property {string} name begins with the game's name
 * @property {boolean} fallback the value until the player chooses
 * @property {string} label key of its text
 * @property {string} hint key of its explanation
 * @property {boolean} [deals] whether it is about the deals of new games
 */

/**
 * @typedef {object} TableChoice something to be chosen when a table is made
 * @property {string} name of the option, as in the protocol
 * @property {string} label key of its text
 * @property {string} hint key of its explanation, '' for none
 * @property {[value: number, label: string][] | null} values what there is, each with its key; null for a switch
 * @property {number | boolean} fallback
 */

/**
 * @typedef {object} Waiting whom a game waits for
 * @property {readonly number[]} seats
 * @property {string} moment another one whenever time begins anew
 * @property {number} patience how many turns' worth of time there is
 */

/**
 * @typedef {object} Party what a game with several seats adds
 * @property {TableChoice[]} choices
 * @property {string[]} levels how well its bots play, the best last; texts are `level.…`
 * @property {string} paceHint key of what is to be said of the time for a turn, '' for nothing
 * @property {(view: View) => Waiting} waits
 * @property {(i18n: I18n, view: View) => string[]} facts how the game of this view is played
 */

/** @typedef {{ names: readonly string[], chairs: readonly Chair[], own: number | null }} People who sits where; `own`: the reader's seat */

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
 * @property {number | null} seat the player's own
 * @property {() => People} people
 * @property {() => void} [back] takes the seat back from the bot that plays for the player
 * @property {() => string[]} [facts] how the table is played, for who asks
 * @property {(seat: number) => number | null} timeLeft of the present turn, 1 … 0; null without a limit
 * @property {(action: Action, how?: { anytime?: boolean }) => void} act see `Wire.act`
 * @property {(code: string) => string} codeText
 * @property {() => number} elapsedMs the game's time
 * @property {(sure?: boolean) => void} newGame begins another; where something would be left behind it asks first,
 *   unless that was done already
 * @property {(code: string) => void} share
 * @property {() => void} [result] where the game is the deal of a day: goes to that day's page
 * @property {() => boolean} [ranked] where another game is not to be offered in place of this one
 * @property {string | null} replay address of this game's replay, where there can be one
 * @property {(path: string) => void} go
 * @property {unknown} [kept] what the table kept that stood here before it was drawn anew
 */

/**
 * @typedef {object} GameTable
 * @property {(position: Position) => void} update
 * @property {(event: KeyboardEvent) => boolean} onKey true: it was for this table
 * @property {() => boolean} underWay whether leaving it would lose something
 * @property {() => void} destroy
 * @property {() => unknown} [kept] what the player has at hand, for the table that comes in its place
 * @property {() => void} [peopleChanged]
 * @property {() => void} [tick] called a few times a second
 * @property {(action: Action, code: string) => boolean} [refused] true: there is no need to tell the player
 */

/** @typedef {Pick<GameTable, 'onKey' | 'destroy'>} Lesson a tutorial on the screen */

/**
 * @typedef {object} LessonHost what a tutorial may use of the house
 * @property {HTMLElement} root
 * @property {I18n} i18n
 * @property {import('./storage.js').Settings} settings
 * @property {import('./ui/notices.js').Notices} notices
 * @property {() => number} pace
 * @property {(sound: import('./sound.js').Sound) => void} sound
 * @property {(code: string) => string} codeText
 * @property {HTMLElement} end what comes after the last step
 */

/**
 * @typedef {object} Game
 * @property {string} name as in the protocol
 * @property {string} title key of its text
 * @property {string} tagline key of its text
 * @property {number} seats
 * @property {((code: string) => boolean) | null} readsCode whether a deal code could be this game's; null: it has none
 * @property {(view: View) => string} code of the deal
 * @property {((code: string) => string | null) | null} day the date whose deal of the day has this code; null: none is
 *   dealt from this game
 * @property {(view: View) => boolean} [over] whether nothing is left to be played
 * @property {GameSetting[]} settings
 * @property {(settings: import('./storage.js').Settings) => Record<string, unknown>} [options] of a new game of which
 *   nothing else is said
 * @property {string[]} basics keys of the texts that say how to play it by taps
 * @property {[keys: string, label: string][]} keys keys of the keyboard, and the key of the text that says what for
 * @property {(i18n: I18n) => HTMLElement} picture for the front page
 * @property {(host: TableHost) => GameTable} createTable
 * @property {(i18n: I18n) => HTMLElement} rules the rules page
 * @property {(i18n: I18n, before: View, after: View, people: People) => string} caption of a step of a replay
 * @property {(before: View, after: View) => boolean} landmark whether a replay can be told to skip to this step
 * @property {{ previous: string, next: string }} landmarkLabels keys of the texts for going there
 * @property {Party | null} party
 * @property {((host: LessonHost) => Lesson) | null} learn its tutorial
 * @property {boolean} example whether the house has a recorded game to show
 */

const modules = /** @type {Record<string, { game: Game }>} */ (import.meta.glob('./games/*/index.js', { eager: true }));
const texts = /** @type {Record<string, { default: Partial<import('./i18n.js').Language> & { texts: Record<string, Text> } }>} */ (
  import.meta.glob(['./texts/*.js', './games/*/texts/*.js'], { eager: true })
);

/** The server says in the page which games it has; a page that says nothing stands for all of them. */
const offered = document.querySelector('meta[name="games"]')?.getAttribute('content')?.split(' ').filter(Boolean) ?? [];

/** Every game, by its name in the protocol. */
export const games = new Map(
  Object.values(modules)
    .filter(({ game }) => !offered.length || offered.includes(game.name))
    .map(({ game }) => [game.name, game]),
);

/**
 * Adds all texts, of the house and of its games.
 * @param {I18n} i18n
 */
export function addTexts(i18n) {
  for (const [path, module] of Object.entries(texts)) {
    i18n.add(/([\w-]+)\.js$/.exec(path)?.[1] ?? '', module.default);
  }
}
