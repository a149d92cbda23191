/** What is said of files. */

import { count, number } from "./words.js";

const KINDS = {
  image: "Picture",
  pdf: "PDF",
  document: "Document",
  sheet: "Spreadsheet",
  slides: "Slides",
  book: "Book",
  page: "Web page",
  mail: "E-mail",
  text: "Text",
};
const PAGES = { sheet: "sheet", slides: "slide" };
const PICTURE = /\.(png|jpe?g|webp|gif|heic|heif|avif|tiff?|bmp)$/i;
const MEBIBYTE = 2 ** 20;
const MOST_NAMED = 3;

/** 1536 → "1.5 KB", as file managers say it. */
export function sizeOf(bytes) {
  if (bytes < 1024) return count(bytes, "byte");
  const [size, unit] = bytes < MEBIBYTE ? [bytes / 1024, "KB"] : [bytes / MEBIBYTE, "MB"];
  return `${number(size < 10 ? Math.round(size * 10) / 10 : Math.round(size))} ${unit}`;
}

/** Browsers call every picture in the clipboard `image.png`. */
export function nameOf(file, pastedAt = null) {
  if (!pastedAt || !/^image\.\w+$/.test(file.name)) return file.name;
  const [hours, minutes] = [pastedAt.getHours(), pastedAt.getMinutes()].map((part) => String(part).padStart(2, "0"));
  return `Screenshot ${hours}.${minutes}.${file.name.split(".").at(-1)}`;
}

/** By its name, as long as nothing else is known. */
export function looksLikePicture(name) {
  return PICTURE.test(name);
}

/** Why a file is not even sent, if the page can tell. @param {{size: number}} file @param {number} limit bytes */
export function refusalOf({ size }, limit) {
  if (size > limit) return `Larger than ${sizeOf(limit)}, which is the most for a file.`;
  return size ? "" : "The file is empty.";
}

/** How far its reading is. @param {Row} file as `GET files/{id}/` gives it */
export function readingOf({ kind, pages, pages_read: read }) {
  return pages > 1 ? `Reading, ${PAGES[kind] ?? "page"} ${number(read)} of ${number(pages)}` : "Reading";
}

/** `PDF, 300 pages`. @param {Row} file as `GET files/{id}/` gives it */
export function kindOf({ kind, pages }) {
  const name = KINDS[kind] ?? "File";
  return pages > 1 ? `${name}, ${count(pages, PAGES[kind] ?? "page")}` : name;
}

/**
 * `Not read: 2 charts, 3 hidden paragraphs`; of many kinds the first. Empty where nothing was left out.
 * @param {Row} file as `GET files/{id}/` gives it
 */
export function unreadOf({ left_out: entries = [] }) {
  const others = entries.slice(MOST_NAMED).reduce((sum, entry) => sum + entry.count, 0);
  const named = entries.slice(0, MOST_NAMED).map(({ what, count: often }) => count(often, what));
  return entries.length ? `Not read: ${[...named, ...(others ? [count(others, "other thing")] : [])].join(", ")}` : "";
}

/** What all parts of a file are together. @param {Row} file as `GET files/{id}/` gives it */
export function allOf({ error, left_out: entries = [] }) {
  return error || entries.length ? "all that could be read" : "all of it";
}

/** Two names, and how many more. @param {string[]} names */
export function namesOf(names) {
  const [first, second, ...more] = names.map((name) => `“${name}”`);
  if (!second) return first;
  return more.length ? `${first}, ${second} and ${count(more.length, "other")}` : `${first} and ${second}`;
}
