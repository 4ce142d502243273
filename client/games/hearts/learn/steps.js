// Owns: the steps of Learn Hearts, in their order. Texts are `learn.<name>.title`, `.1` …, `.try` (what the
// reader may do), `.done` and `.otherwise`; positions are in positions.js.

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {number} paragraphs
 * @property {'play' | 'pass' | 'watch' | 'look'} does what the reader does
 * @property {readonly number[]} [otherwise] cards that may be played but are not what the step advises: other words are said then
 */

/** @type {readonly Step[]} */
export const STEPS = [
  { name: 'passing', paragraphs: 3, does: 'pass' },
  { name: 'twoOfClubs', paragraphs: 2, does: 'play' },
  { name: 'firstTrick', paragraphs: 2, does: 'play' },
  { name: 'following', paragraphs: 2, does: 'play' },
  { name: 'discarding', paragraphs: 2, does: 'play', otherwise: [13, 24] },
  { name: 'taking', paragraphs: 2, does: 'play' },
  { name: 'cost', paragraphs: 3, does: 'watch' },
  { name: 'breaking', paragraphs: 3, does: 'play' },
  { name: 'moon', paragraphs: 3, does: 'watch' },
  { name: 'scores', paragraphs: 2, does: 'look' },
  { name: 'end', paragraphs: 2, does: 'watch' },
  { name: 'tips', paragraphs: 4, does: 'play', otherwise: [47] },
  { name: 'omnibus', paragraphs: 3, does: 'play' },
];
