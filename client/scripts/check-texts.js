// Checks the texts: every language has every key, with the same placeholders and its own plurals; every
// code of docs/protocol.md has a text; every key that the client asks for literally exists.

import { existsSync, readFileSync, readdirSync } from 'node:fs';

const CLIENT = new URL('../', import.meta.url);
const PROTOCOL = new URL('../docs/protocol.md', CLIENT);
const REFERENCE = 'en';

/** @typedef {import('../i18n.js').Text} Text */

/** @type {string[]} */
const problems = [];

/** Folders with texts: the house's and each game's. */
const folders = ['texts/', ...readdirSync(new URL('games/', CLIENT)).map((game) => `games/${game}/texts/`)].filter((folder) => existsSync(new URL(folder, CLIENT)));

/** @param {string} folder @returns {Promise<Record<string, Record<string, Text>>>} texts by language */
async function load(folder) {
  const files = readdirSync(new URL(folder, CLIENT)).filter((file) => file.endsWith('.js'));
  const modules = await Promise.all(files.map((file) => import(new URL(folder + file, CLIENT).href)));
  return Object.fromEntries(files.map((file, i) => [file.slice(0, -3), modules[i].default.texts]));
}

/** @param {Text} text */
function placeholders(text) {
  const forms = typeof text === 'string' ? [text] : Object.values(text);
  return [...new Set(forms.flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort().join(' ');
}

/** @param {string} folder @param {Record<string, Record<string, Text>>} languages @param {string[]} all */
function compare(folder, languages, all) {
  const reference = languages[REFERENCE];
  for (const language of all) {
    const texts = languages[language];
    if (!texts) {
      problems.push(`${folder}${language}.js is missing`);
      continue;
    }
    for (const key of new Set([...Object.keys(reference), ...Object.keys(texts)])) {
      const where = `${folder}${language}.js ${key}`;
      if (!(key in texts)) problems.push(`${where}: missing`);
      else if (!(key in reference)) problems.push(`${where}: not in ${REFERENCE}`);
      else if (placeholders(texts[key]) !== placeholders(reference[key])) problems.push(`${where}: placeholders differ`);
      else checkPlurals(where, language, texts[key]);
    }
  }
}

/** @param {string} where @param {string} language @param {Text} text */
function checkPlurals(where, language, text) {
  if (typeof text === 'string') return;
  const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories.sort().join(' ');
  const given = Object.keys(text).sort().join(' ');
  if (needed !== given) problems.push(`${where}: has ${given}, needs ${needed}`);
}

/** Every code that the protocol's tables and lists name. */
function protocolCodes() {
  const text = readFileSync(PROTOCOL, 'utf8');
  const section = (/** @type {string} */ from, /** @type {string} */ to) => text.split(from)[1]?.split(to)[0] ?? '';
  const rows = [...section('\n## Codes', '\n## ').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  const lists = [...text.matchAll(/^Codes: ([\s\S]*?)\n\n/gm)].flatMap(([, list]) => [...list.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  return [...rows, ...lists];
}

/** @returns {[file: string, key: string][]} keys that appear literally in calls of t(…) and nodes(…) */
function keysAskedFor() {
  const files = readdirSync(CLIENT, { recursive: true }).filter((file) => file.endsWith('.js') && !/^(node_modules|scripts|tests)\//.test(file));
  return files.flatMap((file) =>
    [...readFileSync(new URL(file, CLIENT), 'utf8').matchAll(/\b(?:t|nodes)\(\s*'([\w.-]+)'/g)].map(([, key]) => /** @type {[string, string]} */ ([file, key])),
  );
}

const loaded = await Promise.all(folders.map(load));
const languages = [...new Set(loaded.flatMap(Object.keys))];
folders.forEach((folder, i) => compare(folder, loaded[i], languages));

const known = new Set(loaded.flatMap((texts) => Object.keys(texts[REFERENCE])));
const codes = protocolCodes();
if (codes.length < 10) problems.push('docs/protocol.md: its codes were not found');
for (const code of codes) if (!known.has(`code.${code}`)) problems.push(`code.${code}: a code of docs/protocol.md without a text`);
for (const [file, key] of keysAskedFor()) if (!known.has(key)) problems.push(`${file}: asks for ${key}, which is no text`);

for (const problem of problems) console.error(problem);
if (problems.length) process.exit(1);
console.log(`${known.size} texts in ${languages.length} languages: complete`);
