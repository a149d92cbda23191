/** Thumbs on a reply: good at once, bad with a reason; pressed again they tell what was said, and take it back. */

import { api } from "./api.js";
import { byId, h, iconButton } from "./dom.js";
import { gettext } from "./language.js";

const REASONS = {
  wrong: gettext("It is wrong"),
  forgot: gettext("It forgot something"),
  made_up: gettext("It made something up"),
  too_long: gettext("It is too long"),
  unsafe: gettext("It is not safe"),
  other: gettext("Something else"),
};

/**
 * The two buttons for a reply, in its toolbar.
 * @param {Message} message whose `feedback` they keep
 * @returns {HTMLElement}
 */
export function thumbs(message) {
  const up = iconButton("thumb-up", gettext("Good reply"), () => press(1), { class: "icon-button thumb" });
  const down = iconButton("thumb-down", gettext("Bad reply"), () => press(-1), { class: "icon-button thumb" });
  const show = () => {
    up.setAttribute("aria-pressed", String(message.feedback?.value === 1));
    down.setAttribute("aria-pressed", String(message.feedback?.value === -1));
  };
  const press = async (value) => {
    const isGood = value === 1 && message.feedback?.value !== 1;
    const error = isGood ? await say(message, { ...message.feedback, value, reason: "" }) : "";
    if (!isGood || error) await ask(message, value, error);
    show();
  };
  show();
  return h("span", { class: "thumbs", role: "group", "aria-label": gettext("Feedback") }, up, down);
}

/** @returns {Promise<string>} what is wrong; empty: it is said */
async function say(message, { value, reason = "", text = "", show_conversation = false }) {
  const path = `messages/${message.id}/feedback/`;
  try {
    message.feedback = await api.post(path, { value, reason, text, show_conversation });
    return "";
  } catch (error) {
    return error.message;
  }
}

/** @returns {Promise<string>} as `say` does */
async function takeBack(message) {
  try {
    await api.delete(`messages/${message.id}/feedback/`);
  } catch (error) {
    if (error.code !== "feedback_not_found") return error.message;
  }
  delete message.feedback;
  return "";
}

/** Why, and in which words. What was typed stays in the dialog until it is sent. @returns {Promise<void>} */
function ask(message, value, error = "") {
  const dialog = byId("feedback");
  const given = message.feedback?.value === value ? message.feedback : null;
  byId("feedback-title").textContent = value === 1 ? gettext("What was good?") : gettext("What was wrong?");
  byId("feedback-reasons").hidden = value === 1;
  byId("feedback-reasons").replaceChildren(byId("feedback-reasons").firstElementChild, ...reasons(given?.reason));
  byId("feedback-text").value = given?.text ?? "";
  byId("feedback-show").checked = message.feedback?.show_conversation ?? false;
  byId("feedback-back").hidden = !message.feedback;
  fail(error);
  dialog.showModal();
  const after = (problem) => (problem ? fail(problem) : dialog.close());
  byId("feedback-back").onclick = () => takeBack(message).then(after);
  byId("feedback-cancel").onclick = () => dialog.close();
  byId("feedback-form").onsubmit = (event) => {
    event.preventDefault();
    say(message, entered(value)).then(after);
  };
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(), { once: true }));
}

function entered(value) {
  const chosen = byId("feedback-reasons").querySelector(":checked");
  return {
    value,
    reason: value === 1 ? "" : (chosen?.value ?? ""),
    text: byId("feedback-text").value.trim(),
    show_conversation: byId("feedback-show").checked,
  };
}

function reasons(chosen) {
  return Object.entries(REASONS).map(([value, words]) => {
    const radio = h("input", { type: "radio", name: "reason", value, checked: value === chosen });
    return h("label", {}, radio, h("span", {}, words));
  });
}

function fail(words) {
  byId("feedback-error").textContent = words;
  byId("feedback-error").hidden = !words;
}
