/** Writes into the message box what is said, by the browser's own recognition. Loaded when somebody asks for it. */

import { gettext } from "./language.js";
import { Recognition } from "./settings.js";

const PROBLEMS = {
  "not-allowed": () =>
    gettext("The microphone is not allowed here. Allow it for this page in the browser, then try again."),
  "service-not-allowed": () => gettext("This browser does not take dictation here."),
  "audio-capture": () => gettext("No microphone is there."),
  network: () => gettext("The browser’s dictation can’t be reached. Type, or try again later."),
  "language-not-supported": () => gettext("This browser does not take dictation in its language."),
};

/** @param {string} before @param {string} words @param {string} after @returns {string} with blanks between them */
export function withWords(before, words, after) {
  const said = words.trim();
  if (!said) return before + after;
  const lead = before && !/\s$/.test(before) ? " " : "";
  const trail = after && !/^[\s.,;:!?)]/.test(after) ? " " : "";
  return before + lead + said + trail + after;
}

/**
 * @param {HTMLTextAreaElement} box
 * @param {{onEnd: () => void, onProblem: (words: string) => void}} on
 * @returns {() => void} ends it
 */
export function dictate(box, { onEnd, onProblem }) {
  const before = box.value.slice(0, box.selectionStart);
  const after = box.value.slice(box.selectionEnd);
  const end = new AbortController();
  const { signal } = end;
  const recognition = Object.assign(new Recognition(), {
    continuous: true,
    interimResults: true,
    lang: navigator.language,
  });
  const stop = () => recognition.stop();
  recognition.onresult = ({ results }) => {
    const words = [...results].map(([best]) => best.transcript).join("");
    box.value = withWords(before, words, after);
    box.selectionStart = box.selectionEnd = box.value.length - after.length;
    box.dispatchEvent(new Event("input")); // the draft is kept, and the box grows
  };
  recognition.onerror = ({ error }) => PROBLEMS[error] && onProblem(PROBLEMS[error]());
  recognition.onend = () => {
    end.abort();
    onEnd();
  };
  addEventListener("keydown", escaped, { signal, capture: true });
  document.addEventListener("visibilitychange", () => document.hidden && stop(), { signal });
  recognition.start();
  return stop;

  /** Before the page's own keys: the first Esc ends what listens, not a reply. */
  function escaped(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    stop();
  }
}
