/** What can be done after a reply that did not end well: a button for each way on, the most promising first. */

import { h, icon } from "./dom.js";
import { gettext } from "./language.js";

/**
 * @param {Reply} reply
 * @param {{
 *   onRetry: (replyId: string, model?: string) => void,
 *   onContinue?: (replyId: string) => void,
 *   onRephrase?: () => void,
 *   nameOfModel: (id: string) => string,
 *   otherModels?: OtherModels,
 * }} on
 * @returns {HTMLElement}
 */
export function waysOn(reply, on) {
  const other = reply.fallback_model;
  const known = {
    continue: () => ["down", gettext("Continue"), () => on.onContinue(reply.id)],
    rephrase: () => ["edit", gettext("Put it another way"), () => on.onRephrase()],
    fallback: () =>
      ["retry", gettext("Answer with {other}", { other: on.nameOfModel(other) }), () => on.onRetry(reply.id, other)],
    retry: () => ["retry", gettext("Retry"), () => on.onRetry(reply.id)],
  };
  const buttons = (reply.ways ?? []).map((way, index) => {
    const [name, label, onclick] = known[way]();
    const quiet = way === "retry" && index > 0;
    const button = h(
      "button",
      { type: "button", class: quiet ? "button quiet" : "button", onclick },
      icon(name),
      label,
    );
    if (way === "retry") whenItMay(button, label, reply);
    return button;
  });
  if (on.otherModels?.are() && reply.ways?.includes("retry")) buttons.push(another(reply, on.otherModels, on.onRetry));
  return h("div", { class: "ways" }, ...buttons);
}

/** Any model that may be chosen, by a menu. */
function another(reply, otherModels, onRetry) {
  const choose = () => otherModels.open(button, reply, (model) => onRetry(reply.id, model));
  const button = h(
    "button",
    { type: "button", class: "button quiet", "aria-haspopup": "menu", onclick: choose },
    icon("retry"),
    gettext("Answer with …"),
  );
  return button;
}

function waitOf(seconds) {
  return seconds < 100
    ? gettext("{seconds} s", { seconds })
    : gettext("{minutes} min", { minutes: Math.ceil(seconds / 60) });
}

/**
 * Where the provider asks to wait, the button counts down and can be pressed then.
 * @param {HTMLButtonElement} button @param {string} label @param {Reply} reply
 */
function whenItMay(button, label, { error, ended_at: endedAt }) {
  const wait = error?.details?.retry_after;
  if (!wait) return;
  // A clock that is behind the server's must not make the wait longer.
  const until = Math.min(Date.parse(endedAt) || Date.now(), Date.now()) + wait * 1000;
  const show = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.disabled = left > 0;
    button.lastChild.textContent =
      left > 0 ? gettext("{label} in {time}", { label, time: waitOf(left) }) : label;
    if (left > 0) setTimeout(show, 500);
  };
  show();
}
