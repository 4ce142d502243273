// Owns: the tutorial on the screen.

/** @param {import('../../../games.js').LessonHost} _host @returns {import('../../../games.js').Lesson} */
export function learn(_host) {
  return { onKey: () => false, destroy() {} };
}
