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

export class Router {
  #routes;
  #missing;
  #leaving;
  #titled;
  /** @type {Shown | null} */
  #shown = null;

  /**
   * @param {[pattern: RegExp, page: Page][]} routes
   * @param {Page} missing for any other address
   * @param {() => void} leaving called before another page is put on the screen
   * @param {(title: string, how: How) => void} titled called after a page was put on the screen
   */
  constructor(routes, missing, leaving, titled) {
    this.#routes = routes;
    this.#missing = missing;
    this.#leaving = leaving;
    this.#titled = titled;
  }

  start() {
    addEventListener('popstate', () => this.show());
    document.addEventListener('click', (event) => this.#onClick(event));
    this.#draw('first');
  }

  /** @param {string} path with the query, if there is one @param {{ replace?: boolean }} [how] `replace`: Back does not come here again */
  go(path, { replace = false } = {}) {
    if (replace) history.replaceState(null, '', path);
    else if (path !== location.pathname + location.search) history.pushState(null, '', path);
    this.show();
  }

  /** Shows the page of the present address. */
  show() {
    this.#leaving();
    this.#draw('other');
  }

  /** Draws the page that is there anew, in another language. */
  redraw() {
    this.#draw('same', this.#shown?.kept?.());
  }

  /** @param {How} how @param {unknown} [kept] */
  #draw(how, kept) {
    this.#shown?.destroy?.();
    this.#shown = null;
    const [page, params] = this.#find(location.pathname);
    const shown = page(params, kept);
    // A page may have sent us elsewhere while it was being built.
    this.#shown ??= shown;
    if (this.#shown === shown) this.#titled(shown.title, how);
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
