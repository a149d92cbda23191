/** A reply as it is read aloud: its words, without Markdown's signs, code and formulas. Pure. */

import { spoken } from "./announce.js";

const FENCES = /^ {0,3}(```+|~~~+)[^]*?(?:^ {0,3}\1[`~]*[ \t]*$|(?![^]))/gm;
const FORMULAS = /\\\[[^]*?\\\]|\$\$[^]*?\$\$|\\\([^\n]*?\\\)|\$(?=[^\s$])[^$\n]*?[^\s\\]\$(?![\p{L}\d$])/gu;
/** `$x$` is read as it is. */
const SHORT_FORMULA = /^(?:\$|\\\()([\p{L}\d]{1,3})(?:\$|\\\))$/u;
const ADDRESSES = /<?https?:\/\/[^\s<>]*[^\s<>.,;:!?)]>?/g;
const LONGEST = 220; // characters: some browsers go silent in longer ones

/**
 * @param {string} markdown
 * @param {string} [formula] what is said in the place of one
 * @returns {string[]} its sentences, or parts of long ones
 */
export function sentencesOf(markdown, formula = "") {
  const lines = markdown
    .replace(FENCES, "\n")
    .replace(FORMULAS, (signs) => SHORT_FORMULA.exec(signs)?.[1] ?? formula)
    .split(/\n(?=[ \t]{0,8}(?:[-*+#|>\n]|\d{1,9}[.)][ \t]))/)
    .map((block) => spoken(block).replace(ADDRESSES, " ").replace(/\s+/g, " ").trim());
  return lines.flatMap((line) => line.match(/[^.!?。！？]+[.!?。！？]*["'”»)]*\s*/gu) ?? []).flatMap(parts);
}

/** @param {string} sentence */
function parts(sentence) {
  const words = sentence.trim();
  if (!/[\p{L}\d]/u.test(words)) return [];
  if (words.length <= LONGEST) return [words];
  const end = Math.max(words.lastIndexOf(", ", LONGEST), words.lastIndexOf(" ", LONGEST)) + 1 || LONGEST;
  return [words.slice(0, end).trim(), ...parts(words.slice(end))];
}

const SCRIPTS = [
  ["ja", /[\p{scx=Hira}\p{scx=Kana}]/gu],
  ["ko", /\p{sc=Hang}/gu],
  ["zh", /\p{sc=Han}/gu],
  ["ar", /\p{sc=Arab}/gu],
  ["he", /\p{sc=Hebr}/gu],
  ["th", /\p{sc=Thai}/gu],
  ["hi", /\p{sc=Deva}/gu],
  ["el", /\p{sc=Grek}{3}/gu],
  ["ru", /\p{sc=Cyrl}/gu],
];
const SMALL_WORDS = {
  en: "the and of to is that in it you for with are this be not on have as can",
  de: "der die das und ist nicht ein eine zu den mit von sie für auf es sich auch dem",
  fr: "le la les des est et que une pour pas vous dans en du qui il sur ce avec",
  es: "el la los que de y es en una por con no para las del se un como más",
};

/**
 * By its letters, or else by its small words.
 * @param {string} text @param {string} otherwise the person's own
 */
export function languageOf(text, otherwise) {
  const script = SCRIPTS.find(([, letters]) => text.match(letters)?.length > text.length / 10)?.[0];
  if (script) return script;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = Object.entries(SMALL_WORDS).map(([language, small]) => {
    const known = new Set(small.split(" "));
    return { language, count: words.filter((word) => known.has(word)).length };
  });
  const own = otherwise.split("-")[0];
  const best = counts.reduce((most, next) => (next.count > most.count ? next : most));
  const ofOwn = counts.find(({ language }) => language === own)?.count ?? 0;
  return best.count > 1 && best.count > ofOwn ? best.language : otherwise;
}
