/** The page of a project: files are added to it, and taken away. Its settings are a form that needs no script. */

import { Announcer } from "./announce.js";
import { api } from "./api.js";
import { Attachments } from "./attachments.js";
import { Chips } from "./chips.js";
import { confirmed } from "./dialogs.js";
import { byId, h, icon } from "./dom.js";
import { kindOf, sizeOf } from "./file-words.js";
import { Files } from "./files.js";
import { gettext, ngettext } from "./language.js";
import { uploadFile } from "./uploading.js";

const { project, limits, reading } = JSON.parse(byId("project-data").textContent);
/** Uploads go on with the page alone; what is uploaded stands in the list. */
const nothing = { read: (_, fallback) => fallback, write: () => {}, forgetAll: () => {} };
const files = new Files();
const announcer = new Announcer(byId("announcer"));
const list = byId("file-list");
const attachments = new Attachments(nothing, files, limits, (file, name, onUploaded) =>
  uploadFile(file, name, onUploaded, project),
);
const chips = new Chips(attachments, announcer, () => byId("attach").focus());

attachments.onChange = (attachment) => {
  if (!attachment) return chips.show();
  chips.update(attachment);
  const { info } = attachment;
  if (info?.status !== "ready") return undefined;
  list.prepend(rowOf(info));
  attachments.settle(attachment);
  return showCount();
};
attachments.open(project);

function add(chosen) {
  tell("");
  const room = limits.files - list.childElementCount - attachments.shown.length;
  const added = attachments.add(chosen.slice(0, Math.max(0, room)));
  chips.added(added);
  if (added.length < chosen.length)
    tell(ngettext("A project holds {count} file at most.", "A project holds {count} files at most.", limits.files));
}

/** @param {import("./files.js").UploadedFile} file */
function rowOf(file) {
  const about = [kindOf(file), sizeOf(file.bytes), file.error?.message].filter(Boolean).join(" · ");
  const name = h("a", { class: "token-name", dir: "auto", href: `/api/v1/files/${file.id}/content/` }, file.name);
  const remove = h(
    "button",
    { type: "button", class: "icon-button", "data-remove": "", "aria-label": removeWords(file.name) },
    icon("close"),
  );
  return h(
    "li",
    { class: "token project-file", "data-file": file.id, "data-name": file.name },
    h("div", {}, name, h("p", { class: "token-about" }, about)),
    remove,
  );
}

function removeWords(name) {
  return gettext("Remove {name}", { name });
}

async function remove(row) {
  const { file: id, name } = row.dataset;
  const question = {
    title: gettext("Remove this file?"),
    text: gettext("“{name}” is deleted for good. No conversation of the project is given it any more.", { name }),
    yes: gettext("Remove file"),
  };
  if (!(await confirmed(question))) return;
  let held;
  try {
    held = (await api.delete(`files/${id}/`))?.held ?? "";
  } catch (error) {
    if (error.status !== 404) {
      tell(error.message);
      return;
    }
  }
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  showCount();
  tell(held ?? "");
  announcer.say(gettext("Removed: “{name}”.", { name }));
  (next?.querySelector("[data-remove]") ?? byId("attach")).focus();
}

function showCount() {
  byId("file-count").textContent = `(${list.childElementCount})`;
  byId("no-files").hidden = list.childElementCount > 0;
}

function tell(words) {
  byId("files-problem").textContent = words;
  byId("files-problem").hidden = !words;
}

const input = /** @type {HTMLInputElement} */ (byId("file-input"));
byId("attach").addEventListener("click", () => input.click());
input.addEventListener("change", () => {
  add([...input.files]);
  input.value = "";
});
list.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest("[data-remove]");
  if (button) remove(button.closest("[data-file]"));
});

const drop = byId("files-section");
const isUploadOn = !byId("attach").hidden;
drop.addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault(); // else the browser opens the file in place of the page
  if (isUploadOn) drop.classList.add("is-over");
  else event.dataTransfer.dropEffect = "none";
});
drop.addEventListener("dragleave", (event) => {
  if (!drop.contains(/** @type {Node} */ (event.relatedTarget))) drop.classList.remove("is-over");
});
drop.addEventListener("drop", (event) => {
  drop.classList.remove("is-over");
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  if (isUploadOn) add([...event.dataTransfer.files]);
});

addEventListener("online", () => attachments.setConnected(true));
addEventListener("offline", () => attachments.setConnected(false));
addEventListener("beforeunload", (event) => {
  if (attachments.anyUploading) event.preventDefault();
});

for (const id of reading) {
  files.watch(id, (file) => {
    const row = list.querySelector(`[data-file="${id}"]`);
    if (file.status === "gone") row?.remove();
    else if (file.status !== "reading") row?.replaceWith(rowOf(file));
  });
}
document.body.dataset.ready = "";
