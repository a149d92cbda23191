/** Which signs in a text are mathematics, and what they say. Pure. */

const BRACKETS = /^(?:\\\([^\n]{1,2000}?\\\)|\\\[[^\n]{1,2000}?\\\])/;
const DOLLARS = /^(?:\$\$[^$\n]{1,2000}\$\$|\$(?=[^\s$])(?:\\\$|[^$\n]){0,500}?(?<=[^\s\\])\$(?![\p{L}\d$]))/u;
const BLOCK = /^ {0,3}(?:\\\[[\s\S]{1,5000}?\\\]|\$\$[^$]{1,5000}\$\$)[ \t]*(?:\n+|$)/;
/** `$5, or 5$`: an amount, then words of a sentence. */
const AMOUNT = /^[+-]?\d[\d.,–-]*[^\w\s\\^{}=+*/<>]*\s/;
const WORDS_OF_MATHS = /\\[a-z]+\s*(?:\{[^{}]*\})?/gi;

/** @param {string} text within dollars */
function isMoney(text) {
  return AMOUNT.test(text) && /\p{L}{2}/u.test(text.replace(WORDS_OF_MATHS, ""));
}

/**
 * The formula within a line that begins here, if one does and ends.
 * @param {string} source
 * @param {string} [before] the character before it: in `US$` and `a$` a dollar begins none
 */
export function formulaAt(source, before = "") {
  const brackets = BRACKETS.exec(source)?.[0];
  if (brackets || /[\p{L}\d$\\]/u.test(before)) return brackets;
  const dollars = DOLLARS.exec(source)?.[0];
  return dollars && !isMoney(texOf(dollars).tex) ? dollars : undefined;
}

/** The formula of its own lines that begins here. @param {string} source @returns {string | undefined} */
export function blockFormulaAt(source) {
  return BLOCK.exec(source)?.[0];
}

/** @param {string} formula with its signs @returns {{tex: string, display: boolean}} */
export function texOf(formula) {
  const display = /^(?:\\\[|\$\$)/.test(formula);
  const length = formula.startsWith("$") && !display ? 1 : 2;
  return { tex: formula.slice(length, -length).trim(), display };
}

/** Where the letters of an alphabet begin: capitals, small letters, digits; `null` where it has none. */
const ALPHABETS = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e, null],
  "bold-italic": [0x1d468, 0x1d482, null],
  script: [0x1d49c, 0x1d4b6, null],
  fraktur: [0x1d504, 0x1d51e, null],
  "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
  "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2],
  "bold-sans-serif": [0x1d5d4, 0x1d5ee, 0x1d7ec],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
};
/** Letters that Unicode had before it got the alphabets. */
const OLDER = {
  italic: { h: "ℎ" },
  script: { B: "ℬ", E: "ℰ", F: "ℱ", H: "ℋ", I: "ℐ", L: "ℒ", M: "ℳ", R: "ℛ", e: "ℯ", g: "ℊ", o: "ℴ" },
  fraktur: { C: "ℭ", H: "ℌ", I: "ℑ", R: "ℜ", Z: "ℨ" },
  "double-struck": { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" },
};

/** Letters of one of mathematics' alphabets: browsers no longer make them of a `mathvariant`. */
export function inAlphabet(text, variant) {
  const alphabet = ALPHABETS[variant];
  if (!alphabet) return text;
  return text.replace(/[A-Za-z\d]/g, (sign) => {
    const kind = sign <= "9" ? 2 : sign <= "Z" ? 0 : 1;
    const first = alphabet[kind];
    if (OLDER[variant]?.[sign]) return OLDER[variant][sign];
    return first === null ? sign : String.fromCodePoint(first + sign.charCodeAt(0) - "Aa0".charCodeAt(kind));
  });
}
