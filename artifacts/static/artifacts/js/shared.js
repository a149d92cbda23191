/** What somebody shared, rendered as the chat does it. Without this it stands there as it was written. */

import { dressCode, dressTables } from "../../conversations/js/code.js";
import { renderWritten } from "../../conversations/js/markdown.js";
import { Prose } from "../../conversations/js/prose.js";
import { renderVersion } from "./view.js";

/** @param {HTMLElement} element */
function renderTurn(element) {
  const text = element.textContent;
  element.replaceChildren();
  element.classList.remove("unrendered");
  if (element.dataset.markdown === "reply") {
    new Prose(element).finish(text);
    return;
  }
  element.append(renderWritten(text));
  dressCode(element, { growing: false });
  dressTables(element);
}

/** @param {HTMLElement} element */
function renderArtifact(element) {
  const { artifact: kind, language } = element.dataset;
  const content = element.textContent;
  element.classList.remove("unrendered");
  element.replaceChildren(renderVersion({ id: "", title: document.title, kind, language, number: 0, content }));
}

/** @type {NodeListOf<HTMLElement>} */
const turns = document.querySelectorAll("[data-markdown]");
turns.forEach(renderTurn);
/** @type {NodeListOf<HTMLElement>} */
const artifacts = document.querySelectorAll("[data-artifact]");
artifacts.forEach(renderArtifact);
