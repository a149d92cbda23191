/** Diagrams, drawn apart: Mermaid reads a stranger's text in a frame of its own, and a picture comes back. */

import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

const ADDRESS = "/artifacts/drawing/";
const SECONDS = 20;

/**
 * In the page's colours. A picture runs nothing and loads nothing, whatever the text has made of it.
 * @param {string} source
 * @param {string} otherwise what it is called where its text doesn't say
 * @returns {Promise<HTMLImageElement>} Rejected with Mermaid's reason.
 */
export async function pictureOf(source, otherwise) {
  const dark = isDark();
  const { svg, words } = await drawDiagram(source, { dark });
  return h("img", {
    src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
    alt: words || otherwise,
    class: dark ? "drawn-dark" : "drawn-light", // and stays so when the page's colours change
  });
}

function isDark() {
  const theme = getComputedStyle(document.documentElement).colorScheme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** @returns {Promise<{svg: string, words: string}>} the picture, and what its text says of it */
async function drawDiagram(source, { dark }) {
  const frame = h("iframe", {
    class: "drawing-frame",
    src: ADDRESS,
    sandbox: "allow-scripts",
    inert: true,
    tabindex: -1,
    "aria-hidden": "true",
    title: gettext("Drawing"),
  });
  const end = new AbortController();
  const drawn = new Promise((resolve, reject) => {
    const hear = ({ source: sender, data }) => {
      if (sender !== frame.contentWindow) return;
      if (data === "ready")
        frame.contentWindow.postMessage({ source, dark }, "*"); // it has no origin to name
      else if (data.svg) resolve(data);
      else reject(new Error(data.why));
    };
    addEventListener("message", hear, { signal: end.signal });
    const late = () => gettext("It was not drawn within {count} seconds.", { count: SECONDS });
    setTimeout(() => reject(new Error(late())), SECONDS * 1000);
  });
  document.body.append(frame);
  try {
    return await drawn;
  } finally {
    end.abort();
    frame.remove();
  }
}
