// Owns: building elements. User data only ever becomes text nodes; nothing here parses HTML.

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props */

/**
 * An element. Props are attributes (`true`: present, `false` or nullish: absent), or listeners where
 * the value is a function (`onclick`).
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  return /** @type {any} */ (filled(document.createElement(tag), props, children));
}

/**
 * An SVG element, as `h`.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, props, ...children) {
  return /** @type {any} */ (filled(document.createElementNS(SVG, tag), props, children));
}

/**
 * @param {Element} element
 * @param {Props | null | undefined} props
 * @param {(Child | Child[])[]} children
 */
function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) if (child) element.append(child);
  return element;
}

/**
 * Sets attributes that are not so already; `false` and nullish take them away.
 * @param {Element} element
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value === true ? '' : value)) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * A text in which a word with hyphens is not broken into two lines.
 * @param {string} text
 * @param {string} word
 * @returns {(Node | string)[]}
 */
export function unbroken(text, word) {
  const [first, ...others] = text.split(word);
  return [first, ...others.flatMap((part) => [h('span', { class: 'unbroken' }, word), part])];
}

/**
 * A player's name, which may be written in any direction.
 * @param {string} name
 */
export function nameTag(name) {
  return h('bdi', { class: 'name' }, name);
}
