/** Diagrams within a text: a block of Mermaid becomes a picture once it comes into view. Its source stays at hand. */

import { elements, h, icon } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";
import { pictureOf } from "./drawing.js";

const NEAR = "600px";

/** One after the other: each takes a frame and all of Mermaid. */
let queue = Promise.resolve();
/** @type {Map<Element, () => void>} to be drawn when they come near */
const waiting = new Map();
const nearby = new IntersectionObserver(
  (entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => enqueue(target)),
  { rootMargin: NEAR },
);

/** Below the root, after its code was dressed. @param {ParentNode} root */
export function dressDiagrams(root) {
  for (const code of elements(root, ".code > pre > code.language-mermaid")) {
    const frame = code.closest(".code");
    waiting.set(frame, () => (queue = queue.then(() => draw(frame, code.textContent))));
    nearby.observe(frame);
  }
}

/** Those out of sight, too. Ends when all are pictures, or can't be. */
export async function allDrawn() {
  [...waiting.keys()].forEach(enqueue);
  await queue;
}

function enqueue(frame) {
  nearby.unobserve(frame);
  waiting.get(frame)?.();
  waiting.delete(frame);
}

/** @param {Element} frame of the code @param {string} source */
async function draw(frame, source) {
  if (!frame.isConnected) return;
  const code = frame.querySelector("pre");
  const language = frame.querySelector(".code-language");
  try {
    const picture = h("div", { class: "diagram", tabindex: 0, role: "group", "aria-label": gettext("Diagram") });
    picture.append(await pictureOf(source, gettext("Diagram")));
    language.replaceChildren(gettext("Diagram"));
    language.after(switchOf(picture, code));
    code.hidden = true;
    frame.classList.add("drawn");
    code.before(picture);
  } catch (error) {
    const why = gettext("This diagram can’t be drawn. {reason}", { reason: error.message });
    frame.append(h("p", { class: "diagram-note" }, icon("warn"), why));
  }
}

function switchOf(picture, code) {
  const button = h(
    "button",
    { type: "button", class: "copy-code show-source", "aria-pressed": "false", onclick: toggle },
    icon("kind-code"),
    gettext("Source"),
  );
  function toggle() {
    code.hidden = !code.hidden;
    picture.hidden = !code.hidden;
    button.setAttribute("aria-pressed", String(!code.hidden));
  }
  return button;
}
