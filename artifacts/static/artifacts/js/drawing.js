/** Diagrams, drawn apart: Mermaid reads a stranger's text in a frame of its own, and a picture comes back. */

import { h } from "../../conversations/js/dom.js";

const ADDRESS = "/artifacts/drawing/";
const SECONDS = 20;

/**
 * @returns {Promise<{svg: string, words: string}>} the picture, and what its text says of it. Rejected with Mermaid's
 *   reason.
 */
export async function drawDiagram(source, { dark }) {
  const frame = h("iframe", {
    class: "drawing-frame",
    src: ADDRESS,
    sandbox: "allow-scripts",
    inert: true,
    tabindex: -1,
    "aria-hidden": "true",
    title: "Drawing",
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
    setTimeout(() => reject(new Error(`It was not drawn within ${SECONDS} seconds.`)), SECONDS * 1000);
  });
  document.body.append(frame);
  try {
    return await drawn;
  } finally {
    end.abort();
    frame.remove();
  }
}
