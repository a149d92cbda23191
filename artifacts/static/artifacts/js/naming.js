/** What artifacts, their kinds and the model's tools are called on the page. */

import { dateFormat, gettext } from "../../conversations/js/language.js";
import { clock } from "../../conversations/js/words.js";

const KINDS = {
  document: gettext("Document"),
  code: gettext("Code"),
  html: gettext("Page"),
  svg: gettext("Picture"),
  mermaid: gettext("Diagram"),
  table: gettext("Table"),
};
const ORIGINS = { hand: gettext("by hand"), program: gettext("by a program") };
const TABLE_FORMATS = { xlsx: gettext("Excel (XLSX)"), csv: "CSV" };
const FORMATS = { source: gettext("Source"), md: "Markdown", html: "HTML", docx: gettext("Word (DOCX)"), pdf: "PDF" };

export function kindOf({ kind, language }) {
  const name = KINDS[kind] ?? gettext("Artifact");
  return kind === "code" && language ? `${name} · ${language}` : name;
}

/** @returns {string} one line of the list of versions */
export function versionLine({ version: number, origin, created_at: at }) {
  const today = new Date(at).toDateString() === new Date().toDateString();
  const when = today ? clock(at) : dateFormat({ dateStyle: "medium" }).format(new Date(at));
  return [gettext("Version {number}", { number }), when, ORIGINS[origin]].filter(Boolean).join(" · ");
}

/** @returns {{format: string, label: string}[]} how an artifact of that kind can be taken along */
export function downloadsOf(kind) {
  const formats = kind === "table" ? { ...TABLE_FORMATS, ...FORMATS } : FORMATS;
  return Object.entries(formats).map(([format, label]) => ({ format, label }));
}

const DOING = {
  save_artifact: gettext("Writing"),
  read_artifact: gettext("Reading an artifact"),
  read_file: gettext("Reading a file"),
  search_messages: gettext("Searching the conversation"),
  search_web: gettext("Searching the web"),
  fetch_page: gettext("Reading a page"),
  run_python: gettext("Running a program"),
};
const DONE = {
  save_artifact: gettext("Saved"),
  read_artifact: gettext("Read an artifact"),
  read_file: gettext("Read a file"),
  search_messages: gettext("Searched the conversation"),
  search_web: gettext("Searched the web"),
  fetch_page: gettext("Read a page"),
  run_python: gettext("Ran a program"),
};
const FAILED = {
  save_artifact: gettext("Saving did not work"),
  read_artifact: gettext("An artifact could not be read"),
  read_file: gettext("A file could not be read"),
  search_messages: gettext("The conversation could not be searched"),
  search_web: gettext("The web could not be searched"),
  fetch_page: gettext("A page could not be read"),
  run_python: gettext("A program could not be run"),
};

function readable(name) {
  return name.replaceAll("_", " ");
}

/** What a tool is doing now. */
export function doing(name, title, text) {
  const words = text || DOING[name] || gettext("Using “{name}”", { name: readable(name) });
  return `${words.replace(/…$/, "").trimEnd()}${title ? ` “${title}”` : ""} …`;
}

/** What became of a call in a stored turn. @param {Row} use a tool_use block @param {Row} [result] its tool_result */
export function became({ name, input }, result) {
  const text =
    typeof result?.content === "string"
      ? result.content
      : (result?.content ?? []).map((block) => block.text ?? "").join("");
  const title = typeof input?.title === "string" ? input.title : "";
  if (!result && !(name in DOING)) {
    return { words: gettext("Asked the program for “{name}”", { name: readable(name) }) };
  }
  if (!result) return {
    words: gettext("{what} was stopped", { what: doing(name, title).replace(/ …$/, "") }),
    failed: true,
  };
  if (result.is_error) return {
    words: FAILED[name] ?? gettext("“{name}” did not work", { name: readable(name) }),
    failed: true,
  };
  if (name !== "save_artifact") return { words: DONE[name] ?? gettext("Used “{name}”", { name: readable(name) }) };
  const version = Number(text.match(/version (\d+)/)?.[1]) || null;
  const id = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\D*$)/)?.[0] ?? null;
  return {
    words: version
      ? gettext("Saved “{title}”, version {version}", { title, version })
      : gettext("Saved “{title}”", { title }),
    artifact: { id, title, version },
  };
}
