/** Pictures that were uploaded, as the server shows them: without what they told of place and camera. */

import { h } from "./dom.js";

/** Whether its picture can be shown. @param {Row} [info] as `GET files/{id}/` gives it */
export function hasPicture(info) {
  return info?.kind === "image" && info.status === "ready" && info.parts > 0;
}

/** @param {string} id @param {string} alt */
export function thumbnail(id, alt) {
  return h("img", { src: pictureOf(id), alt, loading: "lazy", decoding: "async" });
}

export function pictureOf(id) {
  return `/api/v1/files/${id}/parts/1/picture/`;
}
