// Owns: asking the server over HTTP (docs/api.md): what is sent, what comes back, what went wrong.
// Must not know: what is done with it.

/**
 * @typedef {object} Place on a board
 * @property {number} rank
 * @property {number} players
 * @property {number} top_percent
 */

/**
 * @typedef {object} Result of a ranked attempt
 * @property {string} date
 * @property {string} session
 * @property {number} time_ms
 * @property {number} moves
 * @property {number} par
 * @property {number} streak days in a row, up to this one; not in a month
 * @property {{ time: Place | null, moves: Place | null }} places not in a month
 */

/**
 * @typedef {object} Day
 * @property {string} date UTC
 * @property {string} code of its deal
 * @property {boolean} ready whether the deal exists
 * @property {boolean} over
 * @property {number} ends_in_ms
 * @property {'new' | 'running' | 'entering' | 'won' | 'missed'} state
 * @property {string | null} session the ranked attempt
 * @property {boolean} open whether the deal may be seen elsewhere than in that
 * @property {number | null} par
 * @property {number} players how many have finished
 * @property {Result | null} result
 */

/** @typedef {{ month: string, today: string, days: Omit<Day, 'ready' | 'ends_in_ms' | 'session'>[] }} Month */

/** @typedef {{ rank: number, player: string, name: string, me: boolean }} Standing whose row of a board it is */
/** @typedef {Standing & { time_ms: number, moves: number, session: string }} DayRow */

/**
 * @typedef {Standing & Totals} AllTimeRow
 * @typedef {object} Totals
 * @property {number} wins
 * @property {number} longest streak
 * @property {number | null} best_ms
 * @property {number | null} best_over_par
 * @property {number | null} average_ms
 * @property {number | null} average_over_par
 */

/**
 * @template Row
 * @typedef {object} Board
 * @property {string} by
 * @property {boolean} [over]
 * @property {boolean} [open]
 * @property {number} players
 * @property {Row[]} rows
 * @property {Row[]} around
 * @property {Place | null} me
 * @property {{ id: string, name: string, members: number } | null} group
 */

/** @typedef {{ player: string, name: string, recovery: boolean, groups: { id: string, name: string, members: number }[] }} Me */
/** @typedef {{ daily: Totals & { streak: number }, games: Record<string, Record<string, number>> }} Stats */
/** @typedef {{ id: string, name: string, member: boolean, count: number, members: { player: string, name: string, me: boolean }[] }} Group */

/**
 * @typedef {object} LiveGame
 * @property {string} session
 * @property {string} game
 * @property {boolean} ranked
 * @property {string[]} names
 * @property {boolean[]} bots
 * @property {number[]} scores
 * @property {number | null} progress
 * @property {number} since_ms
 * @property {number} viewers
 */

const PATIENCE_MS = 15_000;

/** The server refused, or could not be asked; `message` is the code. */
export class ApiError extends Error {}

/**
 * Rejects with `ApiError`.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function get(path, signal) {
  return ask(path, {}, signal, PATIENCE_MS);
}

/**
 * Rejects with `ApiError`.
 * @param {string} path
 * @param {Record<string, unknown>} [body]
 * @param {number} [patienceMs]
 * @returns {Promise<any>}
 */
export function post(path, body = {}, patienceMs = PATIENCE_MS) {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  return ask(path, init, undefined, patienceMs);
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @param {AbortSignal | undefined} signal
 * @param {number} patienceMs
 */
async function ask(path, init, signal, patienceMs) {
  const late = AbortSignal.timeout(patienceMs);
  const response = await fetch(path, { ...init, signal: signal ? AbortSignal.any([signal, late]) : late }).catch(() => null);
  if (!response) throw new ApiError('offline');
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw new ApiError(answer?.code ?? (response.status >= 500 ? 'unavailable' : 'unknown'));
}

/**
 * The address of a board, of a day or of all time.
 * @param {string} of its path
 * @param {string} by
 * @param {string} group '' for all players
 */
export function boardPath(of, by, group) {
  return `${of}?by=${by}${group ? `&group=${encodeURIComponent(group)}` : ''}`;
}
