// Owns: the address bar: which page an address means, Back and Forward, links inside the house.
// Must not know: what the pages do.

/**
 * @typedef {object} Shown a page on the screen
 * @property {string} title
 * @property {() => unknown} [kept] what it wants to have again when it is drawn anew
 * @property {() => void} [destroy]
 */
/** @typedef {(params: string[], kept?: unknown) => Shown} Page puts itself on the screen; `params` are the address's variable parts */
/** @typedef {'first' | 'other' | 'same'} How a page comes: the first at all, in place of another, drawn anew */
/** @typedef {{ entry: number }} State of an entry of the browser's history: its number */
/** @typedef {{ entry: number, tops: [entry: number, top: number][] }} Places the entry that is shown, and how far others were scrolled */
/** @typedef {{ load: () => Places | null, save: (places: Places) => void }} PlacesKeeper remembers them while the tab is there */

/** So many entries' places are kept: those that were left last. */
const MOST_TOPS = 100;

export class Router {
  #routes;
  #missing;
  #leaving;
  #titled;
  /** @type {Shown | null} */
  #shown = null;
  #keeper;
  /** The number of the entry that is shown. */
  #entry = 0;
  /** How far the pages of other entries were scrolled when they were left, the last one last. @type {Map<number, number>} */
  #tops = new Map();

  /**
   * @param {[pattern: RegExp, page: Page][]} routes
   * @param {Page} missing for any other address
   * @param {() => void} leaving called before another page is put on the screen
   * @param {(title: string, how: How, top: number) => void} titled called after a page was put on the screen; `top`:
   *   how far it was scrolled when it was left, 0 for one that was not there yet
   * @param {PlacesKeeper} keeper over a reload
   */
  constructor(routes, missing, leaving, titled, keeper) {
    this.#routes = routes;
    this.#missing = missing;
    this.#leaving = leaving;
    this.#titled = titled;
    this.#keeper = keeper;
  }

  start() {
    // The browser scrolls before what it scrolls in is there; a page that is loaded anew it can do.
    history.scrollRestoration = 'manual';
    addEventListener('pagehide', () => (history.scrollRestoration = 'auto'));
    addEventListener('pageshow', () => (history.scrollRestoration = 'manual'));
    const kept = this.#keeper.load();
    this.#tops = new Map(kept?.tops);
    // An address that was typed is an entry after that which was shown before.
    this.#entry = /** @type {State | null} */ (history.state)?.entry ?? (kept ? kept.entry + 1 : 0);
    history.replaceState(this.#state(), '');
    this.#save();
    addEventListener('popstate', ({ state }) => this.#return(state));
    document.addEventListener('click', (event) => this.#onClick(event));
    this.#draw('first');
  }

  /** @param {string} path with the query, if there is one @param {{ replace?: boolean }} [how] `replace`: Back does not come here again */
  go(path, { replace = false } = {}) {
    if (replace) history.replaceState(this.#state(), '', path);
    else if (path !== location.pathname + location.search) {
      this.#leave(this.#entry + 1);
      history.pushState(this.#state(), '', path);
    }
    this.#show(0);
  }

  /** Back, Forward, or another hash. @param {State | null} state null: of an entry that there was not before */
  #return(state) {
    this.#leave(state?.entry ?? this.#entry + 1);
    if (!state) history.replaceState(this.#state(), '');
    this.#show((state && this.#tops.get(this.#entry)) ?? 0);
  }

  /** Another entry is shown from now on. @param {number} entry */
  #leave(entry) {
    this.#tops.delete(this.#entry);
    this.#tops.set(this.#entry, scrollY);
    for (const oldest of this.#tops.keys()) if (this.#tops.size > MOST_TOPS) this.#tops.delete(oldest);
    this.#entry = entry;
    this.#save();
  }

  #save() {
    this.#keeper.save({ entry: this.#entry, tops: [...this.#tops] });
  }

  /** Shows the page of the present address. @param {number} top */
  #show(top) {
    this.#leaving();
    this.#draw('other', undefined, top);
  }

  /** @returns {State} */
  #state() {
    return { entry: this.#entry };
  }

  /** Draws the page that is there anew, in another language. */
  redraw() {
    this.#draw('same', this.#shown?.kept?.());
  }

  /** @param {How} how @param {unknown} [kept] @param {number} [top] */
  #draw(how, kept, top = 0) {
    this.#shown?.destroy?.();
    this.#shown = null;
    const [page, params] = this.#find(location.pathname);
    const shown = page(params, kept);
    // A page may have sent us elsewhere while it was being built.
    this.#shown ??= shown;
    if (this.#shown === shown) this.#titled(shown.title, how, top);
  }

  /** @param {string} path @returns {[Page, string[]]} */
  #find(path) {
    for (const [pattern, page] of this.#routes) {
      const match = pattern.exec(path);
      if (match) return [page, match.slice(1).map(decoded)];
    }
    return [this.#missing, []];
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute('download') || link.origin !== location.origin || link.hash) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

/** @param {string} title of a page, '' for the front page */
export function pageTitle(title) {
  return title ? `${title} – heartroom` : 'heartroom';
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
