/** The dialog that takes conversations from elsewhere: a file, how far it is, and what came of it. */

import { api } from "./api.js";
import { byId, h, icon } from "./dom.js";
import { upload } from "./uploading.js";
import { count, number } from "./words.js";

const NAMED = 5;
const REFUSED = 10;
const PARTS = ["choice", "progress", "done", "failed"];
const MEGABYTE = 1_000_000;

/** Where the server's words are for programs. */
const FAILURES = {
  cut: () =>
    "The connection was lost before the end. Look at your conversations: if none were added, nothing was imported.",
};

/** @param {{onImported: () => void, onOpen: (thread: Row) => void}} actions */
export function wireImport({ onImported, onOpen }) {
  const dialog = byId("import");
  const [form, input, drop, bar] = ["import-form", "import-file", "import-drop", "import-bar"].map(byId);
  const [close, again, copies] = ["import-close", "import-again", "import-copies"].map(byId);
  let running = null;
  let file = null;

  const show = (part, { another = part === "done" || part === "failed", asCopies = false } = {}) => {
    for (const each of PARTS) byId(`import-${each}`).hidden = each !== part;
    again.hidden = !another;
    copies.hidden = !asCopies;
    close.textContent = part === "progress" ? "Cancel" : "Close";
  };
  const tell = (words, share) => {
    byId("import-state").textContent = words;
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
  };
  const begin = async (chosen, ids = "keep") => {
    if (!chosen || running) return;
    file = chosen;
    byId("import-name").textContent = file.name;
    tell("Uploading…", 0);
    show("progress");
    running = upload(file, {
      ids,
      onUploaded: (share) => tell(uploaded(share, file.size), share < 1 ? share : null),
      onWaiting: () => tell("Waiting until another import or download has ended…", null),
      onProgress: (progress) => tell(stored(progress), progress.of ? progress.threads / progress.of : null),
    });
    try {
      const answer = await running.done;
      onImported();
      byId("import-done").replaceChildren(...(await result(answer, openThread)));
      show("done", { asCopies: Boolean(answer.known?.threads) });
      byId("import-done").focus();
    } catch (error) {
      if (!("code" in error)) throw error;
      byId("import-failed").replaceChildren(...failure(error));
      show("failed");
    } finally {
      running = null;
      input.value = "";
    }
  };
  const openThread = (thread) => {
    dialog.close();
    onOpen(thread);
  };
  const reset = () => {
    show("choice");
    input.focus();
  };

  byId("show-import").addEventListener("click", () => {
    if (!running) show("choice");
    dialog.showModal();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  close.addEventListener("click", () => (running ? running.cancel() : dialog.close()));
  again.addEventListener("click", reset);
  copies.addEventListener("click", () => begin(file, "new"));
  input.addEventListener("change", () => begin(input.files[0]));
  dialog.addEventListener("cancel", (event) => running && event.preventDefault());
  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    dialog.addEventListener(name, (event) => {
      event.preventDefault(); // else the browser opens the file in place of the page
      drop.classList.toggle("over", name === "dragenter" || name === "dragover");
      if (name === "drop" && !byId("import-choice").hidden) begin(event.dataTransfer.files[0]);
    });
  }
}

function uploaded(share, size) {
  if (share >= 1) return "Uploaded. Reading it…";
  const megabytes = (bytes) => number(Math.round((bytes / MEGABYTE) * 10) / 10);
  return `Uploading… ${megabytes(share * size)} of ${megabytes(size)} MB`;
}

/** @param {Row} progress */
function stored({ threads, of, files = 0 }) {
  if (files && !threads) return `Taking in files… ${number(files)} so far`;
  return threads
    ? `Storing… ${number(threads)} of ${count(of, "conversation")}`
    : `Storing ${count(of, "conversation")}…`;
}

/** What was imported, with links to the first few. */
async function result(answer, open) {
  const { memories, left_out: empty, files, files_left_out: missing, files_refused = [] } = answer;
  const { longer = [], known = {}, not_taken: left = [], not_taken_count: leftCount = 0 } = answer;
  const threads = [...answer.threads, ...longer];
  const turns = answer.threads.reduce((sum, { message_count }) => sum + message_count, 0);
  const added = longer.reduce((sum, thread) => sum + thread.added, 0);
  const facts = [
    longer.length &&
      `${count(longer.length, "conversation")} that you had went on: ${count(added, "message")} came to them.`,
    known.threads &&
      `${count(known.threads, "conversation")} ${known.threads === 1 ? "was" : "were"} here already, unchanged.`,
    memories && `${count(memories, "note")} came along.`,
    files && `${count(files, "file")} came along, and ${files === 1 ? "is" : "are"} read in the background.`,
    empty && `${count(empty, "conversation")} without a word in it ${empty === 1 ? "was" : "were"} left out.`,
    threads.length && "What to remember of them is found out after a while.",
  ];
  const firsts = await Promise.all(
    threads.slice(0, NAMED).map(({ id }) => api.get(`threads/${id}/`).catch(() => null)),
  );
  const link = (thread) => {
    const follow = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(thread);
    };
    return h("li", {}, h("a", { href: `/threads/${thread.id}/`, onclick: follow }, thread.title || "New conversation"));
  };
  const links = firsts.filter(Boolean).map(link);
  const more = threads.length - links.length;
  const named = files_refused.slice(0, REFUSED);
  const refused = named.map(({ name, message }) => h("li", {}, h("strong", {}, name), ` – ${message}`));
  const unnamed = missing - named.length;
  return [
    h(
      "p",
      { class: "import-headline" },
      icon("check"),
      answer.threads.length || !(longer.length || known.threads)
        ? `${count(answer.threads.length, "conversation")} with ${count(turns, "message")} ` +
            `${answer.threads.length === 1 ? "is" : "are"} here now.`
        : "No new conversation was in it.",
    ),
    ...facts.filter(Boolean).map((words) => h("p", {}, words)),
    links.length > 0 &&
      h("ul", {}, ...links, more > 0 && h("li", { class: "quiet" }, `and ${number(more)} more, in the list`)),
    left.length > 0 && leftOut(left, leftCount),
    missing > 0 &&
      h(
        "details",
        {},
        h("summary", {}, `${count(missing, "file")} could not be taken`),
        h("p", {}, "The messages say in brackets where each of them stood."),
        h("ul", {}, ...refused, unnamed > 0 && h("li", { class: "quiet" }, `and ${number(unnamed)} more`)),
      ),
  ].filter(Boolean);
}

/** What was not taken, by what it is and where it stands in the file. */
function leftOut(left, total) {
  const named = left.slice(0, REFUSED);
  const rest = total - named.reduce((sum, each) => sum + each.count, 0);
  const rows = named.map(({ place, what, count: many }) =>
    h("li", {}, h("code", {}, place), ` – ${many > 1 ? `${number(many)} ` : ""}${what}`),
  );
  return h(
    "details",
    {},
    h("summary", {}, `${number(total)} ${total === 1 ? "thing was" : "things were"} left out`),
    h("ul", {}, ...rows, rest > 0 && h("li", { class: "quiet" }, `and ${number(rest)} more`)),
  );
}

/** What went wrong and what to do; code in the server's words stands out as such. */
function failure({ code, message }) {
  const words = FAILURES[code]?.() ?? message;
  const parts = words.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
  const safe = code === "cut" || words.includes("othing was imported") ? null : h("p", {}, "Nothing was imported.");
  return [h("p", { class: "import-headline" }, icon("warn"), h("span", {}, ...parts)), safe].filter(Boolean);
}
