// Owns: remembering things in this browser. Works, forgetfully, where storage is blocked or full.

import { Emitter } from './emitter.js';

/**
 * @param {Storage | null} storage
 * @param {string} key
 * @returns {any} what was saved, or undefined
 */
function read(storage, key) {
  try {
    return JSON.parse(storage?.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param {Storage | null} storage @param {string} key @param {unknown} value undefined: forget it */
function write(storage, key, value) {
  try {
    if (value === undefined) storage?.removeItem(key);
    else storage?.setItem(key, JSON.stringify(value));
  } catch {
    // Blocked or full: it lasts as long as this page.
  }
}

/** @param {'localStorage' | 'sessionStorage'} name */
function storageOf(name) {
  try {
    return window[name];
  } catch {
    return null;
  }
}

const ACTIONS_KEY = 'heartroom.pending.';

/** Keeps actions under way over a reload of this tab; sent again they are not applied again. */
export const pendingKeeper = {
  /** @param {string} session @returns {import('./wire.js').Pending[]} */
  load(session) {
    const kept = read(storageOf('sessionStorage'), ACTIONS_KEY + session);
    return Array.isArray(kept) ? kept.map((p) => ({ ...p, sent: false })) : [];
  },
  /** @param {string} session @param {readonly import('./wire.js').Pending[]} pending */
  save(session, pending) {
    write(storageOf('sessionStorage'), ACTIONS_KEY + session, pending.length ? pending : undefined);
  },
  /** @returns {string[]} */
  sessions() {
    const keys = Object.keys(storageOf('sessionStorage') ?? {}).filter((key) => key.startsWith(ACTIONS_KEY));
    return keys.map((key) => key.slice(ACTIONS_KEY.length)).filter((session) => this.load(session).length > 0);
  },
};

const PLACES_KEY = 'heartroom.places';

/** Keeps how far the pages of this tab's history were scrolled over a reload. */
export const placesKeeper = {
  /** @returns {import('./router.js').Places | null} */
  load() {
    const { entry, tops } = read(storageOf('sessionStorage'), PLACES_KEY) ?? {};
    const isTop = (/** @type {unknown} */ pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
    return Number.isInteger(entry) && Array.isArray(tops) && tops.every(isTop) ? { entry, tops } : null;
  },
  /** @param {import('./router.js').Places} places */
  save(places) {
    write(storageOf('sessionStorage'), PLACES_KEY, places);
  },
};

const SETTINGS_KEY = 'heartroom.settings';

/**
 * The player's settings in this browser. Names of a game's settings begin with the game's name.
 * @extends {Emitter<{ change: string }>}
 */
export class Settings extends Emitter {
  /** @type {Record<string, any>} */
  #values = { ...read(storageOf('localStorage'), SETTINGS_KEY) };
  /** @type {Record<string, any>} */
  #defaults;

  /** @param {Record<string, any>} defaults */
  constructor(defaults) {
    super();
    this.#defaults = defaults;
    addEventListener('storage', ({ key }) => {
      if (key !== SETTINGS_KEY) return;
      this.#values = { ...read(storageOf('localStorage'), SETTINGS_KEY) };
      this.emit('change', '*');
    });
  }

  /** @param {string} name */
  get(name) {
    return this.#values[name] ?? this.#defaults[name];
  }

  /** @param {string} name @param {unknown} value */
  set(name, value) {
    this.#values = { ...this.#values, [name]: value };
    write(storageOf('localStorage'), SETTINGS_KEY, this.#values);
    this.emit('change', name);
  }
}
