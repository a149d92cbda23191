/** The ways by which files come to a message besides the button: dropped anywhere on the conversation, or pasted. */

import { byId } from "./dom.js";
import { gettext } from "./language.js";

/**
 * @param {(files: File[], pastedAt?: Date) => void} onFiles @param {(words: string) => void} onRefused
 * @param {boolean} isOn whether files may come at all: else nothing takes them, and the page stays
 */
export function wireDropping(onFiles, onRefused, isOn) {
  const conversation = byId("conversation");
  const frame = byId("drop-frame");
  const show = (shown) => {
    frame.hidden = !shown;
  };
  document.addEventListener("dragover", (event) => {
    if (!bringsFiles(event) || event.defaultPrevented) return;
    event.preventDefault(); // else the browser opens the file in place of the page
    const here = isOn && conversation.contains(/** @type {Node} */ (event.target));
    event.dataTransfer.dropEffect = here ? "copy" : "none";
    show(here);
  });
  document.addEventListener("dragleave", (event) => !event.relatedTarget && show(false));
  document.addEventListener("drop", (event) => {
    show(false);
    if (!bringsFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    if (!isOn || !conversation.contains(/** @type {Node} */ (event.target))) return;
    const { files, folders } = droppedOf(event.dataTransfer);
    if (folders) onRefused(gettext("A folder can't be attached. Choose the files in it."));
    if (files.length) onFiles(files);
  });
  document.addEventListener("paste", (event) => {
    const { clipboardData: data, target } = event;
    if (!isOn || !data.files.length || hasOwnText(data) || isOtherField(/** @type {Element} */ (target))) return;
    event.preventDefault();
    onFiles([...data.files], new Date());
  });
}

function bringsFiles({ dataTransfer }) {
  return dataTransfer?.types.includes("Files") && !document.querySelector("dialog[open]");
}

/** @param {DataTransfer} data */
function droppedOf(data) {
  const entries = [...data.items].filter(({ kind }) => kind === "file");
  const isFolder = entries.map((item) => Boolean(item.webkitGetAsEntry?.()?.isDirectory));
  return { files: [...data.files].filter((_, index) => !isFolder[index]), folders: isFolder.some(Boolean) };
}

/** Tables and documents bring a picture of themselves along; their text is what is meant. */
function hasOwnText({ types }) {
  return types.includes("text/plain") && types.includes("text/html");
}

function isOtherField(target) {
  return Boolean(target?.closest?.("input, textarea:not(#text), [contenteditable], dialog"));
}
