/** What a call of a connected server's tool asks: whether it may be made. */

import { api } from "../../conversations/js/api.js";
import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

const ANSWERS = {
  once: gettext("Once"),
  thread: gettext("For this conversation"),
  always: gettext("Always"),
  no: gettext("No"),
};
const REST_MS = 1000;

/** @type {Promise<Row[]> | null} the newest calls, asked for once for all marks that are shown together */
let newest = null;

/** @param {Row} use a tool_use block @returns {Promise<Row | undefined>} its call, if that waits for an answer */
export async function waitingCall({ id, name }) {
  if (!name.includes("__") && name !== "use_tool") return undefined;
  newest ??= api.get("mcp-calls/").then(({ results }) => results);
  setTimeout(() => (newest = null), REST_MS);
  const calls = await newest.catch(() => []); // `/account/servers/` lists them as well
  return calls.find(({ call_id: use, state }) => use === id && state === "asked");
}

/**
 * @param {Row} call
 * @param {Row} use the tool_use block, which holds what would be sent
 * @param {(words: string) => void} onAllowed with what tells the model so
 */
export function permission(call, { name, input }, onAllowed) {
  const said = h("p", { role: "status" });
  const answer = async (value) => {
    try {
      await api.post(`mcp-calls/${call.id}/answer/`, { answer: value });
    } catch (error) {
      said.textContent = error.message;
      return;
    }
    buttons.remove();
    said.textContent = value === "no" ? gettext("It is not called.") : gettext("It may be called.");
    if (value !== "no") onAllowed(gettext("Yes, go ahead."));
  };
  const buttons = h(
    "div",
    { class: "permission-answers" },
    ...Object.entries(ANSWERS).map(([value, words]) =>
      h("button", { type: "button", class: "button", onclick: () => answer(value) }, words),
    ),
  );
  const words = gettext("“{name}” may change something. May it be called?", { name: call.tool });
  return h(
    "div",
    { class: "permission", role: "group", "aria-label": words },
    h("p", {}, words),
    h("pre", { dir: "ltr", tabindex: "0" }, JSON.stringify(name === "use_tool" ? input.input : input, null, 2)),
    buttons,
    said,
  );
}
