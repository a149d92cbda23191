/** Pictures that were uploaded, as the server shows them: without what they told of place and camera. */

import { h } from "./dom.js";

/** Whether its picture can be shown. @param {Row} [info] as `GET files/{id}/` gives it */
export function hasPicture(info) {
  return info?.kind === "image" && info.status === "ready" && info.parts > 0;
}

/** Whether a small picture of its first page can be shown. @param {Row} [info] */
export function hasFirstPage(info) {
  return info?.kind === "pdf" && info.status === "ready" && info.parts > 0;
}

/** @param {string} id @param {string} alt */
export function thumbnail(id, alt) {
  return h("img", { src: `/api/v1/files/${id}/thumbnail/`, alt, loading: "lazy", decoding: "async" });
}

/** As large as models are given it. */
export function pictureOf(id, part = 1) {
  return `/api/v1/files/${id}/parts/${part}/picture/`;
}
