/** A dialog that asks with what will go for good, and says afterwards what went. */

import { api } from "./api.js";
import { byId, h } from "./dom.js";
import { gettext } from "./language.js";

/**
 * @param {{
 *   look: string,
 *   act: string,
 *   body?: Row,
 *   title: string,
 *   yes: string,
 *   over: string,
 *   typed?: string,
 *   before: (what: Row) => Node[],
 *   after: (done: Row) => Node[],
 *   isNothing?: (what: Row) => boolean,
 * }} asked
 *   `look` and `act` are calls of the API, `over` the title afterwards, `typed` words that must be typed first
 * @returns {Promise<Row | null>} what was done, once the person has read it
 */
export function askForGood({
  look,
  act,
  body,
  title,
  yes: yesWords,
  over,
  typed,
  before,
  after,
  isNothing = () => false,
}) {
  const dialog = byId("forget");
  const [form, yes, close, word, error] = [
    "forget-form",
    "forget-yes",
    "forget-close",
    "forget-word",
    "forget-error",
  ].map(byId);
  let done = null;

  const fail = (failure) => {
    error.textContent = failure?.message ?? "";
    error.hidden = !failure;
  };
  const ready = () => {
    yes.disabled = Boolean(typed) && word.value.trim().toLowerCase() !== typed;
  };
  const lookUp = async () => {
    show(h("p", { class: "quiet" }, gettext("Looking up what would go…")));
    try {
      const what = await api.get(look);
      show(...before(what), ...heldLine(what));
      if (isNothing(what)) return;
      byId("forget-final").hidden = false;
      byId("forget-typed").hidden = !typed;
      ready();
    } catch (failure) {
      show(
        h("button", { type: "button", class: "button", onclick: () => (fail(null), lookUp()) }, gettext("Try again")),
      );
      fail(failure);
    }
  };
  const carryOut = async (event) => {
    event.preventDefault();
    if (yes.disabled || yes.hidden) return;
    yes.disabled = close.disabled = true;
    fail(null);
    try {
      done = await api.post(act, body);
      byId("forget-title").textContent = over;
      byId("forget-typed").hidden = byId("forget-final").hidden = true;
      yes.hidden = true;
      close.textContent = gettext("Close");
      show(...after(done), ...heldLine(done));
    } catch (failure) {
      fail(failure);
      ready();
    }
    close.disabled = false;
    (done ? byId("forget-title") : yes).focus();
  };

  byId("forget-title").textContent = title;
  byId("forget-words").textContent = typed ?? "";
  byId("forget-typed").hidden = byId("forget-final").hidden = true;
  word.value = "";
  yes.textContent = yesWords;
  yes.hidden = false;
  yes.disabled = true;
  close.textContent = gettext("Cancel");
  fail(null);
  form.onsubmit = carryOut;
  word.oninput = ready;
  close.onclick = () => dialog.close();
  dialog.oncancel = (event) => {
    if (close.disabled) event.preventDefault(); // not in the middle of it
  };
  dialog.showModal();
  lookUp();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(done);
  });
}

/** What a legal hold keeps, where one does. */
function heldLine({ held }) {
  return held ? [h("p", { class: "held" }, held)] : [];
}

function show(...parts) {
  byId("forget-body").replaceChildren(...parts);
}
