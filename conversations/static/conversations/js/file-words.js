/** What is said of files. */

import { gettext, ngettext } from "./language.js";
import { number } from "./words.js";

const KINDS = {
  image: gettext("Picture"),
  pdf: "PDF",
  document: gettext("Document"),
  sheet: gettext("Spreadsheet"),
  slides: gettext("Slides"),
  book: gettext("Book"),
  page: gettext("Web page"),
  mail: "E-mail",
  text: gettext("Text"),
};
/** Of a file with several parts: how many they are. */
const PARTS = {
  sheet: (n) => ngettext("{count} sheet", "{count} sheets", n),
  slides: (n) => ngettext("{count} slide", "{count} slides", n),
};
const pagesIn = (n) => ngettext("{count} page", "{count} pages", n);
const READING = {
  sheet: (read, pages) => gettext("Reading, sheet {read} of {pages}", { read, pages }),
  slides: (read, pages) => gettext("Reading, slide {read} of {pages}", { read, pages }),
};
const readingPages = (read, pages) => gettext("Reading, page {read} of {pages}", { read, pages });
const PICTURE = /\.(png|jpe?g|webp|gif|heic|heif|avif|tiff?|bmp)$/i;
const MEBIBYTE = 2 ** 20;
const MOST_NAMED = 3;

/** 1536 → "1.5 KB", as file managers say it. */
export function sizeOf(bytes) {
  if (bytes < 1024) return ngettext("{count} byte", "{count} bytes", bytes);
  const [size, unit] = bytes < MEBIBYTE ? [bytes / 1024, "KB"] : [bytes / MEBIBYTE, "MB"];
  return `${number(size < 10 ? Math.round(size * 10) / 10 : Math.round(size))} ${unit}`;
}

/** Browsers call every picture in the clipboard `image.png`. */
export function nameOf(file, pastedAt = null) {
  if (!pastedAt || !/^image\.\w+$/.test(file.name)) return file.name;
  const [hours, minutes] = [pastedAt.getHours(), pastedAt.getMinutes()].map((part) => String(part).padStart(2, "0"));
  return `${gettext("Screenshot")} ${hours}.${minutes}.${file.name.split(".").at(-1)}`;
}

/** By its name, as long as nothing else is known. */
export function looksLikePicture(name) {
  return PICTURE.test(name);
}

/** Why a file is not even sent, if the page can tell. @param {{size: number}} file @param {number} limit bytes */
export function refusalOf({ size }, limit) {
  if (size > limit) return gettext("Larger than {limit}, which is the most for a file.", { limit: sizeOf(limit) });
  return size ? "" : gettext("The file is empty.");
}

/** How far its reading is. @param {Row} file as `GET files/{id}/` gives it */
export function readingOf({ kind, pages, pages_read: read }) {
  return pages > 1 ? (READING[kind] ?? readingPages)(read, pages) : gettext("Reading");
}

/** `PDF, 300 pages`. @param {Row} file as `GET files/{id}/` gives it */
export function kindOf({ kind, pages }) {
  const name = KINDS[kind] ?? gettext("File");
  return pages > 1 ? `${name}, ${(PARTS[kind] ?? pagesIn)(pages)}` : name;
}

/**
 * `Not read: 2 charts, 3 hidden paragraphs`; of many kinds the first. Empty where nothing was left out.
 * @param {Row} file as `GET files/{id}/` gives it
 */
export function unreadOf({ left_out: entries = [] }) {
  const others = entries.slice(MOST_NAMED).reduce((sum, entry) => sum + entry.count, 0);
  const named = entries.slice(0, MOST_NAMED).map(
    ({ what, count: often }) => `${number(often)} ${what}${often === 1 ? "" : "s"}`,
  );
  if (others) named.push(ngettext("{count} other thing", "{count} other things", others));
  return entries.length ? gettext("Not read: {things}", { things: named.join(", ") }) : "";
}

/** What all parts of a file are together. @param {Row} file as `GET files/{id}/` gives it */
export function allOf({ error, left_out: entries = [] }) {
  return error || entries.length ? gettext("all that could be read") : gettext("all of it");
}

/** Two names, and how many more. @param {string[]} names */
export function namesOf(names) {
  const [first, second, ...more] = names.map((name) => `“${name}”`);
  if (!second) return first;
  if (!more.length) return gettext("{first} and {second}", { first, second });
  const both = { first, second };
  return ngettext("{first}, {second} and {count} other", "{first}, {second} and {count} others", more.length, both);
}
