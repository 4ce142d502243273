// Owns: telling listeners that something happened. Knows nothing of what.

/**
 * @template {Record<string, any>} Events names of events and what each carries
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(detail: any) => void>>} */
  #listeners = new Map();

  /**
   * Calls `listener` at every `name`, until the function returned is called.
   * @template {keyof Events} K
   * @param {K} name
   * @param {(detail: Events[K]) => void} listener
   * @returns {() => void}
   */
  on(name, listener) {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set.add(listener));
    return () => void set.delete(listener);
  }

  /**
   * @template {keyof Events} K
   * @param {K} name
   * @param {Events[K]} detail
   */
  emit(name, detail) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(detail);
  }
}
