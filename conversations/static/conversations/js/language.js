/** The page's language: its texts, its plural forms, and how it writes numbers and times.
 *
 * `gettext("{count} of {most} files", { count, most })`: numbers are written as the language does. The module of a
 * language is made of `locale/<language>/LC_MESSAGES/djangojs.po`; English has none, as it is what the code says. */

export const language = globalThis.document?.documentElement.lang || "en";

/** For `Intl`: of the reader's region where it is of this language, and with the digits that the server writes. */
export const locale = language === "ar" ? "ar-u-nu-latn" : regional(globalThis.document ? navigator.languages : []);

/** @param {readonly string[]} languages those that the browser asks for */
function regional(languages) {
  return languages.find((name) => name.split("-")[0] === language) ?? language;
}

const ENGLISH = { texts: {}, plural: (n) => Number(n !== 1) };

/** Names are resolved beside the module, so that the page needs no import map. Without the catalogue it still works. */
const { texts, plural } =
  language === "en" ? ENGLISH : await import(`../../languages/${language}.js`).catch(() => ENGLISH);

const whole = new Intl.NumberFormat(locale);

export function number(value) {
  return whole.format(value);
}

/** @param {string} text @param {Record<string, any>} values */
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    return value === undefined ? all : typeof value === "number" ? number(value) : value;
  });
}

/** @param {string} text @param {Record<string, any>} [values] */
export function gettext(text, values = {}) {
  return filled(texts[text] ?? text, values);
}

/**
 * The same word may need two translations; the context says which.
 * @param {string} context @param {string} text @param {Record<string, any>} [values]
 */
export function pgettext(context, text, values = {}) {
  return filled(texts[`${context}\u0004${text}`] ?? text, values);
}

/**
 * Write the number as `{count}`.
 * @param {string} one @param {string} many @param {number} count @param {Record<string, any>} [values]
 */
export function ngettext(one, many, count, values = {}) {
  const forms = texts[one];
  const text = Array.isArray(forms) ? forms[plural(count)] : count === 1 ? one : many;
  return filled(text, { count, ...values });
}

/**
 * What went wrong, in the language of the page: the server says it in English, and what a message with figures is made
 * of.
 * @param {{message: string, wording?: {sentences: string[], values: Record<string, any>}}} error
 */
export function errorText({ message, wording }) {
  return wording ? wording.sentences.map((text) => gettext(text, wording.values)).join(" ") : gettext(message);
}

/** For tables of texts that are translated when they are shown: marks, and changes nothing. @param {string} text */
export function gettext_noop(text) {
  return text;
}

/** @param {Intl.DateTimeFormatOptions} options @param {string} [english] the region whose order English pages take */
export function dateFormat(options, english) {
  return new Intl.DateTimeFormat(language === "en" && english ? english : locale, options);
}
