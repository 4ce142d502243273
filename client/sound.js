// Owns: small sounds, made on the spot. Silent unless the player turned them on.

/** @typedef {'draw' | 'pair' | 'recycle' | 'undo' | 'win' | 'card' | 'take' | 'turn' | 'broken'} Sound */

/** Each sound as notes: [frequency in Hz, start in s, length in s, loudness]. */
const NOTES = /** @type {Record<Sound, [number, number, number, number][]>} */ ({
  draw: [[310, 0, 0.06, 0.1]],
  recycle: [[240, 0, 0.07, 0.08], [290, 0.06, 0.07, 0.08], [350, 0.12, 0.07, 0.08]],
  undo: [[330, 0, 0.06, 0.08], [247, 0.06, 0.08, 0.08]],
  pair: [[659, 0, 0.12, 0.12], [988, 0.07, 0.22, 0.1]],
  card: [[280, 0, 0.05, 0.09]],
  take: [[230, 0, 0.06, 0.07], [280, 0.05, 0.06, 0.07]],
  turn: [[587, 0, 0.09, 0.07], [784, 0.08, 0.12, 0.06]],
  broken: [[392, 0, 0.1, 0.1], [294, 0.09, 0.16, 0.1]],
  win: [[523, 0, 0.2, 0.14], [659, 0.12, 0.2, 0.14], [784, 0.24, 0.2, 0.14], [1047, 0.36, 0.6, 0.14]],
});

/** @type {AudioContext | undefined} */
let context;

/** @param {Sound} sound */
export function play(sound) {
  context ??= new AudioContext();
  void context.resume();
  for (const [frequency, start, length, loudness] of NOTES[sound]) tone(context, frequency, start, length, loudness);
}

/**
 * @param {AudioContext} audio
 * @param {number} frequency
 * @param {number} start
 * @param {number} length
 * @param {number} loudness
 */
function tone(audio, frequency, start, length, loudness) {
  const from = audio.currentTime + start;
  const oscillator = new OscillatorNode(audio, { type: 'triangle', frequency });
  const gain = new GainNode(audio, { gain: 0 });
  gain.gain.setValueAtTime(0, from);
  gain.gain.linearRampToValueAtTime(loudness, from + 0.008);
  gain.gain.exponentialRampToValueAtTime(0.0001, from + length);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(from);
  oscillator.stop(from + length);
}
