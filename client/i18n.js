// Owns: turning keys into text in the player's language; numbers and times too.
// Must not know: which languages there are (each is a file in texts/, of the house and of each game).

/** @typedef {string | Record<string, string>} Text a text with {placeholders}, or one for each plural category of {n} */
/** @typedef {{ name: string, texts: Record<string, Text> }} Language `name` in the language itself */
/** @typedef {Record<string, string | number | Node>} Params */

/** Languages that read another's texts, where their own are missing. */
const ALIASES = /** @type {Record<string, string>} */ ({ no: 'nb', nn: 'nb' });
const FALLBACK = 'en';

export class I18n {
  /** @type {Map<string, Language>} */
  #languages = new Map();
  #language = FALLBACK;
  #plurals = new Intl.PluralRules(FALLBACK);
  #numbers = new Intl.NumberFormat(FALLBACK);
  #lists = new Intl.ListFormat(FALLBACK);

  /**
   * Adds texts to a language, or a language.
   * @param {string} code BCP 47
   * @param {Partial<Language> & { texts: Record<string, Text> }} more
   */
  add(code, { name, texts }) {
    const known = this.#languages.get(code);
    this.#languages.set(code, { name: name ?? known?.name ?? code, texts: { ...known?.texts, ...texts } });
  }

  /** Every language there is, as [code, name]. */
  get languages() {
    return [...this.#languages].map(([code, { name }]) => [code, name]);
  }

  get language() {
    return this.#language;
  }

  /**
   * Speaks the first of `wanted` that there is.
   * @param {readonly string[]} wanted BCP 47, the best first
   */
  choose(wanted) {
    const codes = wanted.flatMap((tag) => [tag, tag.split('-')[0]]).map((tag) => ALIASES[tag] ?? tag);
    this.#language = codes.find((code) => this.#languages.has(code)) ?? FALLBACK;
    this.#plurals = new Intl.PluralRules(this.#language);
    this.#numbers = new Intl.NumberFormat(this.#language);
    this.#lists = new Intl.ListFormat(this.#language);
  }

  /** @param {string} key */
  has = (key) => this.#text(key) !== undefined;

  /**
   * The text of `key`.
   * @param {string} key
   * @param {Record<string, string | number>} [params]
   * @returns {string}
   */
  t = (key, params = {}) =>
    this.#template(key, params).replace(/\{(\w+)\}/g, (hole, name) => this.#shown(params[name] ?? hole));

  /**
   * The text of `key` as nodes, so that parameters can be elements.
   * @param {string} key
   * @param {Params} params
   * @returns {(string | Node)[]}
   */
  nodes = (key, params) =>
    this.#template(key, params)
      .split(/(\{\w+\})/)
      .map((part) => {
        const value = params[part.slice(1, -1)];
        return value instanceof Node ? value : value === undefined ? part : this.#shown(value);
      });

  /** A, B and C. @param {readonly string[]} items */
  list = (items) => this.#lists.format(items);

  /** The same of elements. @param {readonly Node[]} items @returns {(string | Node)[]} */
  listNodes = (items) => this.#lists.formatToParts(items.map((_, i) => String(i))).map(({ type, value }) => (type === 'element' ? items[Number(value)] : value));

  /** With a minus where it is below 0, not a hyphen. @param {number} n */
  number = (n) => this.#numbers.format(n).replace('-', '−');

  /**
   * A span of time as on a clock: 0:07, 12:34, 1:02:03.
   * @param {number} ms
   */
  time(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
    const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60];
    return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
  }

  /** @param {string} text */
  capitalized = (text) => {
    const first = String.fromCodePoint(text.codePointAt(0) ?? 32);
    return first.toLocaleUpperCase(this.#language) + text.slice(first.length);
  };

  /** @param {string} key @returns {Text | undefined} */
  #text(key) {
    return this.#languages.get(this.#language)?.texts[key] ?? this.#languages.get(FALLBACK)?.texts[key];
  }

  /** @param {string} key @param {Params} params */
  #template(key, params) {
    const text = this.#text(key) ?? key;
    if (typeof text === 'string') return text;
    return text[this.#plurals.select(Number(params.n))] ?? text.other;
  }

  /** @param {string | number | Node} value */
  #shown(value) {
    return typeof value === 'number' ? this.number(value) : String(value);
  }
}
