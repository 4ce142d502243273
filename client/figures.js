// Owns: how dates, spans of time and differences are written.
// Must not know: what they are of. A *date* is a UTC date, "2026-11-30"; a *month* "2026-11".

/** @typedef {import('./i18n.js').I18n} I18n */

export const DAY_MS = 86_400_000;

/** The reader's own variety of the language that is spoken: dates are not written alike in all of them. @param {I18n} i18n */
function locale({ language }) {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

/** @param {string} date when it begins, ms since 1970 */
export function startOf(date) {
  return Date.parse(`${date}T00:00:00Z`);
}

/** @param {string} date @param {number} days */
export function shifted(date, days) {
  return new Date(startOf(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Whether a text is a date that there is. @param {string} text */
export function isDate(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(startOf(text)) && shifted(text, 0) === text;
}

/**
 * The days next to a date.
 * @param {string} date
 * @param {readonly string[]} days of its month, in order
 * @param {string | null} today the last day that there is yet
 * @returns {{ before: string | null, after: string | null }}
 */
export function neighbours(date, days, today) {
  const before = days.filter((day) => day < date).at(-1) ?? null;
  const after = days.find((day) => day > date) ?? null;
  return { before: before ?? (today !== null && today < date ? today : null), after };
}

/** Today, as far as this device knows. */
export function todayHere() {
  return new Date().toISOString().slice(0, 10);
}

/** @param {string} month @param {number} months */
export function shiftedMonth(month, months) {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** @param {string} month @returns {string[]} its dates */
export function datesOf(month) {
  const first = startOf(`${month}-01`);
  const count = (startOf(`${shiftedMonth(month, 1)}-01`) - first) / DAY_MS;
  return Array.from({ length: count }, (_, i) => shifted(`${month}-01`, i));
}

/** @param {string} date 0 for a Monday … 6 */
export function weekday(date) {
  return (new Date(startOf(date)).getUTCDay() + 6) % 7;
}

/** @param {I18n} i18n @param {string} date @param {Intl.DateTimeFormatOptions} how */
function written(i18n, date, how) {
  return new Intl.DateTimeFormat(locale(i18n), { timeZone: 'UTC', ...how }).format(startOf(date));
}

/** Monday, 30 November 2026. @param {I18n} i18n @param {string} date */
export function longDate(i18n, date) {
  return written(i18n, date, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** 30 November 2026. @param {I18n} i18n @param {string} date */
export function dateText(i18n, date) {
  return written(i18n, date, { day: 'numeric', month: 'long', year: 'numeric' });
}

/** November 2026. @param {I18n} i18n @param {string} month */
export function monthText(i18n, month) {
  return written(i18n, `${month}-01`, { month: 'long', year: 'numeric' });
}

/** Nov. @param {I18n} i18n @param {string} date */
export function monthName(i18n, date) {
  return written(i18n, date, { month: 'short' }).replace(/\.$/, '');
}

/** The days of the week, Monday first. @param {I18n} i18n @param {'short' | 'long'} weekday */
export function weekdays(i18n, weekday) {
  return Array.from({ length: 7 }, (_, i) => written(i18n, shifted('2024-01-01', i), { weekday }));
}

/** A time of day where the reader is. @param {I18n} i18n @param {number} ms since 1970 */
export function clockTime(i18n, ms) {
  return new Intl.DateTimeFormat(locale(i18n), { hour: 'numeric', minute: '2-digit' }).format(ms);
}

/** The same with the day. @param {I18n} i18n @param {number} ms since 1970 */
export function momentText(i18n, ms) {
  return new Intl.DateTimeFormat(locale(i18n), { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' }).format(ms);
}

/** A result's time, cut to the tenth of a second, as the boards compare it: 3:03.4. @param {I18n} i18n @param {number} ms */
export function exactTime(i18n, ms) {
  const tenths = Math.floor(ms / 100);
  const seconds = new Intl.NumberFormat(locale(i18n), { minimumIntegerDigits: 2, minimumFractionDigits: 1, maximumFractionDigits: 1 }).format((tenths % 600) / 10);
  const minutes = Math.floor(tenths / 600);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  return minutes < 60 ? `${minutes}:${seconds}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${seconds}`;
}

/** +6, 0, −2; to the tenth. @param {I18n} i18n @param {number} n */
export function signed(i18n, n) {
  return new Intl.NumberFormat(locale(i18n), { signDisplay: 'exceptZero', maximumFractionDigits: 1 }).format(n);
}

/** @param {I18n} i18n @param {number} n to the tenth */
export function average(i18n, n) {
  return new Intl.NumberFormat(locale(i18n), { maximumFractionDigits: 1 }).format(n);
}

/** @param {I18n} i18n @param {number} n of a hundred */
export function percent(i18n, n) {
  return new Intl.NumberFormat(locale(i18n), { style: 'percent' }).format(n / 100);
}

/** 12 min. @param {I18n} i18n @param {number} ms */
export function roughSpan(i18n, ms) {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const unit = (/** @type {number} */ n, /** @type {string} */ unit) => new Intl.NumberFormat(locale(i18n), { style: 'unit', unit, unitDisplay: 'short' }).format(n);
  return minutes < 60 ? unit(minutes, 'minute') : minutes < 48 * 60 ? unit(Math.floor(minutes / 60), 'hour') : unit(Math.floor(minutes / 1440), 'day');
}
