/** Reads a reply aloud by the browser's own voices; Esc stops it. Loaded when somebody asks for it. */

import { iconButton } from "./dom.js";
import { gettext } from "./language.js";
import { languageOf, sentencesOf } from "./readable.js";

let stop = () => {};

/**
 * @param {string} markdown
 * @param {HTMLElement} actions where a button stops it meanwhile
 * @param {(words: string) => void} onProblem
 */
export function readAloud(markdown, actions, onProblem) {
  stop();
  const sentences = sentencesOf(markdown, gettext("a formula"));
  if (!sentences.length) {
    onProblem(gettext("There is nothing to be read in this reply but code."));
    return;
  }
  const language = languageOf(sentences.join(" "), navigator.language);
  const end = new AbortController();
  const button = iconButton("stop", gettext("Stop reading"), () => stop(), { "aria-keyshortcuts": "Escape" });
  stop = () => {
    stop = () => {};
    end.abort();
    speechSynthesis.cancel();
    button.remove();
  };
  const { signal } = end;
  // Before the page's own keys: the first Esc stops the voice, not a reply.
  addEventListener("keydown", onEscape, { signal, capture: true });
  addEventListener("pagehide", () => stop(), { signal });
  addEventListener("popstate", () => stop(), { signal });
  actions.append(button);
  button.focus();
  sentences.forEach((sentence, place) => {
    const utterance = Object.assign(new SpeechSynthesisUtterance(sentence), { lang: language });
    if (place === sentences.length - 1) utterance.addEventListener("end", () => stop(), { signal });
    utterance.addEventListener("error", () => failed(onProblem), { signal });
    speechSynthesis.speak(utterance);
  });
}

function onEscape(event) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  stop();
}

function failed(onProblem) {
  stop();
  onProblem(gettext("This browser has no voice that can read it."));
}
