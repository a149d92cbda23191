/** The dialog that takes conversations from elsewhere: a file, how far it is, and what came of it. */

import { api } from "./api.js";
import { byId, h, icon } from "./dom.js";
import { gettext, ngettext } from "./language.js";
import { upload } from "./uploading.js";
import { number } from "./words.js";

const NAMED = 5;
const REFUSED = 10;
const PARTS = ["choice", "progress", "done", "failed"];
const MEGABYTE = 1_000_000;

/** Where the server's words are for programs. */
const FAILURES = {
  cut: () =>
    gettext(
      "The connection was lost before the end. Look at your conversations: if none were added, nothing was imported.",
    ),
};

/**
 * @param {{onImported: () => void, onOpen: (thread: Row) => void}} actions
 * @returns {() => void} shows the dialog
 */
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
    close.textContent = part === "progress" ? gettext("Cancel") : gettext("Close");
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
    tell(gettext("Uploading…"), 0);
    show("progress");
    running = upload(file, {
      ids,
      onUploaded: (share) => tell(uploaded(share, file.size), share < 1 ? share : null),
      onWaiting: () => tell(gettext("Waiting until another import or download has ended…"), null),
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
  return () => {
    if (!running) show("choice");
    dialog.showModal();
  };
}

function uploaded(share, size) {
  if (share >= 1) return gettext("Uploaded. Reading it…");
  const megabytes = (bytes) => number(Math.round((bytes / MEGABYTE) * 10) / 10);
  return gettext("Uploading… {megabytes} of {size} MB", { megabytes: megabytes(share * size), size: megabytes(size) });
}

/** @param {Row} progress */
function stored({ threads, of, files = 0 }) {
  if (files && !threads) return gettext("Taking in files… {files} so far", { files: number(files) });
  return threads
    ? ngettext("Storing… {done} of {count} conversation", "Storing… {done} of {count} conversations", of, {
        done: threads,
      })
    : ngettext("Storing {count} conversation…", "Storing {count} conversations…", of);
}

/** What was imported, with links to the first few. */
async function result(answer, open) {
  const { memories, left_out: empty, files, files_left_out: missing, files_refused = [] } = answer;
  const { branches, longer = [], known = {}, not_taken: left = [], not_taken_count: leftCount = 0 } = answer;
  const threads = [...answer.threads, ...longer];
  const turns = answer.threads.reduce((sum, { message_count }) => sum + message_count, 0);
  const added = longer.reduce((sum, thread) => sum + thread.added, 0);
  const facts = [
    longer.length &&
      ngettext(
        "{count} conversation that you had went on: {added} came to it.",
        "{count} conversations that you had went on: {added} came to them.",
        longer.length,
        { added: ngettext("{count} message", "{count} messages", added) },
      ),
    branches &&
      ngettext(
        "{count} other branch came along: ‹ › beside a message goes there.",
        "{count} other branches came along: ‹ › beside a message goes there.",
        branches,
      ),
    known.threads &&
      ngettext(
        "{count} conversation was here already, unchanged.",
        "{count} conversations were here already, unchanged.",
        known.threads,
      ),
    memories && ngettext("{count} note came along.", "{count} notes came along.", memories),
    files &&
      ngettext(
        "{count} file came along, and is read in the background.",
        "{count} files came along, and are read in the background.",
        files,
      ),
    empty &&
      ngettext(
        "{count} conversation without a word in it was left out.",
        "{count} conversations without a word in them were left out.",
        empty,
      ),
    threads.length && gettext("What to remember of them is found out after a while."),
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
    return h(
      "li",
      {},
      h("a", { href: `/threads/${thread.id}/`, onclick: follow }, thread.title || gettext("New conversation")),
    );
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
        ? ngettext(
            "{count} conversation with {messages} is here now.",
            "{count} conversations with {messages} are here now.",
            answer.threads.length,
            { messages: ngettext("{count} message", "{count} messages", turns) },
          )
        : gettext("No new conversation was in it."),
    ),
    ...facts.filter(Boolean).map((words) => h("p", {}, words)),
    links.length > 0 &&
      h("ul", {}, ...links, more > 0 && h("li", { class: "quiet" }, gettext("and {more} more, in the list", { more }))),
    left.length > 0 && leftOut(left, leftCount),
    missing > 0 &&
      h(
        "details",
        {},
        h("summary", {}, ngettext("{count} file could not be taken", "{count} files could not be taken", missing)),
        h("p", {}, gettext("The messages say in brackets where each of them stood.")),
        h(
          "ul",
          {},
          ...refused,
          unnamed > 0 && h("li", { class: "quiet" }, gettext("and {more} more", { more: unnamed })),
        ),
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
    h("summary", {}, ngettext("{count} thing was left out", "{count} things were left out", total)),
    h("ul", {}, ...rows, rest > 0 && h("li", { class: "quiet" }, gettext("and {more} more", { more: rest }))),
  );
}

/** What went wrong and what to do; code in the server's words stands out as such. */
function failure({ code, message }) {
  const words = FAILURES[code]?.() ?? message;
  const parts = words.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
  const safe = code === "cut" || words.includes(gettext("Nothing was imported."))
    ? null
    : h("p", {}, gettext("Nothing was imported."));
  return [h("p", { class: "import-headline" }, icon("warn"), h("span", {}, ...parts)), safe].filter(Boolean);
}
