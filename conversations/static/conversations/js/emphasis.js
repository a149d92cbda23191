/**
 * Emphasis in Chinese, Japanese and Korean. CommonMark lets `**` end only where a space or punctuation follows, and
 * these are written without spaces: in `**「強調」**です` and `**강조(말)**는` nothing would be emphasised.
 */

import { Tokenizer } from "marked";

const SPACE = /\s/;
const CJK = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\uff01-\uffee]/u;

/** Whether signs between these two characters may begin an emphasis as well as end one. */
function isWithinCjk(before, after) {
  return !!before && !!after && !SPACE.test(before) && !SPACE.test(after) && (CJK.test(before) || CJK.test(after));
}

function characterBefore(text, index) {
  const last = text.charCodeAt(index - 1);
  const isHalf = last >= 0xdc00 && last < 0xe000;
  return text.slice(Math.max(0, index - (isHalf ? 2 : 1)), index);
}

function characterAt(text, index) {
  return index < text.length ? String.fromCodePoint(/** @type {number} */ (text.codePointAt(index))) : "";
}

/**
 * What Marked looks for signs in: what stands beside signs within such text counts as a letter, not as punctuation.
 *
 * @param {string} masked @returns {string} as long as it was
 */
function emStrongMask(masked) {
  if (!CJK.test(masked)) return masked;
  const units = masked.split("");
  for (const { index, 0: signs } of masked.matchAll(/\*+|~+/g)) {
    const end = index + signs.length;
    const before = characterBefore(masked, index);
    const after = characterAt(masked, end);
    if (isWithinCjk(before, after)) {
      units.fill("x", index - before.length, index).fill("x", end, end + after.length);
    }
  }
  return units.join("");
}

/** The character before the signs, or none where it should not keep them from beginning an emphasis. */
function relevant(before, source) {
  const signs = /^(?:\*+|~+)/.exec(source)?.[0].length;
  return signs && isWithinCjk(before, characterAt(source, signs)) ? "" : before;
}

/** @type {import("marked").MarkedExtension} */
export const CJK_EMPHASIS = {
  hooks: { emStrongMask },
  tokenizer: {
    emStrong(source, masked, before = "") {
      return Tokenizer.prototype.emStrong.call(this, source, masked, relevant(before, source));
    },
    del(source, masked, before = "") {
      return Tokenizer.prototype.del.call(this, source, masked, relevant(before, source));
    },
  },
};
