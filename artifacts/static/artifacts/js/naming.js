/** What artifacts, their kinds and the model's tools are called on the page. */

import { clock } from "../../conversations/js/words.js";

const KINDS = { document: "Document", code: "Code", html: "Page", svg: "Picture", mermaid: "Diagram", table: "Table" };
const ORIGINS = { hand: "by hand", program: "by a program" };
const TABLE_FORMATS = { xlsx: "Excel (XLSX)", csv: "CSV" };
const FORMATS = { source: "Source", md: "Markdown", html: "HTML", docx: "Word (DOCX)", pdf: "PDF" };

export function kindOf({ kind, language }) {
  const name = KINDS[kind] ?? "Artifact";
  return kind === "code" && language ? `${name} · ${language}` : name;
}

/** @returns {string} one line of the list of versions */
export function versionLine({ version: number, origin, created_at: at }) {
  const today = new Date(at).toDateString() === new Date().toDateString();
  const when = today ? clock(at) : new Date(at).toLocaleDateString(undefined, { dateStyle: "medium" });
  return [`Version ${number}`, when, ORIGINS[origin]].filter(Boolean).join(" · ");
}

/** @returns {{format: string, label: string}[]} how an artifact of that kind can be taken along */
export function downloadsOf(kind) {
  const formats = kind === "table" ? { ...TABLE_FORMATS, ...FORMATS } : FORMATS;
  return Object.entries(formats).map(([format, label]) => ({ format, label }));
}

const DOING = {
  save_artifact: "Writing",
  read_artifact: "Reading an artifact",
  read_file: "Reading a file",
  search_messages: "Searching the conversation",
};
const DONE = {
  save_artifact: "Saved",
  read_artifact: "Read an artifact",
  read_file: "Read a file",
  search_messages: "Searched the conversation",
};
const FAILED = {
  save_artifact: "Saving did not work",
  read_artifact: "An artifact could not be read",
  read_file: "A file could not be read",
  search_messages: "The conversation could not be searched",
};

function readable(name) {
  return name.replaceAll("_", " ");
}

/** What a tool is doing now. */
export function doing(name, title, text) {
  const words = text || DOING[name] || `Using “${readable(name)}”`;
  return `${words.replace(/…$/, "").trimEnd()}${title ? ` “${title}”` : ""} …`;
}

/** What became of a call in a stored turn. @param {Row} use a tool_use block @param {Row} [result] its tool_result */
export function became({ name, input }, result) {
  const text =
    typeof result?.content === "string"
      ? result.content
      : (result?.content ?? []).map((block) => block.text ?? "").join("");
  const title = typeof input?.title === "string" ? input.title : "";
  if (!result) return { words: `${doing(name, title).replace(/ …$/, "")} was stopped`, failed: true };
  if (result.is_error) return { words: FAILED[name] ?? `“${readable(name)}” did not work`, failed: true };
  if (name !== "save_artifact") return { words: DONE[name] ?? `Used “${readable(name)}”` };
  const version = Number(text.match(/version (\d+)/)?.[1]) || null;
  const id = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\D*$)/)?.[0] ?? null;
  return {
    words: `${DONE[name]} “${title}”${version ? `, version ${version}` : ""}`,
    artifact: { id, title, version },
  };
}
