/** Sends files and tells how it goes. `fetch` can't tell how much of a body was sent, so this is the older way. */

import { ApiError, csrfToken } from "./api.js";
import { gettext } from "./language.js";

const CUT = { code: "cut", message: gettext("The connection was lost before the end.") };

/**
 * A file for a message, or for all threads of a project.
 * @param {File} file
 * @param {string} name
 * @param {(share: number) => void} onUploaded
 * @param {string} [project] its id
 * @returns {{done: Promise<any>, cancel: () => void}} `done` is the file as the API describes it; it fails with an
 *   ApiError, of status 0 where no answer came
 */
export function uploadFile(file, name, onUploaded, project = "") {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    tellProgress(request, onUploaded);
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText));
      else reject(failureOf(request));
    };
    request.onerror = () => reject(new ApiError(0, CUT));
    request.onabort = () => reject(new ApiError(0, { code: "cancelled", message: gettext("Cancelled.") }));
  });
  const form = new FormData();
  form.append("file", file, name);
  open(request, project ? `files/?project=${project}` : "files/");
  request.send(form);
  return { done, cancel: () => request.abort() };
}

/**
 * A file for the import.
 * @param {File} file
 * @param {{
 *   ids: string,
 *   onUploaded: (share: number) => void,
 *   onWaiting: (why: string) => void,
 *   onProgress: (progress: Row) => void,
 * }} options
 * @returns {{done: Promise<Row>, cancel: () => void}} `done` is what was imported; it fails with an ApiError
 */
export function upload(file, { ids, onUploaded, onWaiting, onProgress }) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    const lines = linesOf((line) => {
      if (line.type === "waiting") onWaiting(line.message);
      else if (line.type === "progress") onProgress(line);
      else if (line.type === "done") resolve(line);
      else reject(new ApiError(200, line.error));
    });
    tellProgress(request, onUploaded);
    request.onprogress = () => request.status === 200 && lines(request.responseText);
    request.onload = () => {
      if (request.status === 200) lines(request.responseText);
      reject(failureOf(request)); // does nothing where the last line has said how it ended
    };
    request.onerror = () => reject(new ApiError(0, CUT));
    request.onabort = () =>
      reject(new ApiError(0, { code: "cancelled", message: gettext("Cancelled. Nothing was imported.") }));
  });
  open(request, `import/?progress=true&ids=${ids}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
  return { done, cancel: () => request.abort() };
}

function tellProgress(request, onUploaded) {
  request.upload.onprogress = ({ loaded, total }) => onUploaded(total ? loaded / total : 1);
}

function open(request, path) {
  request.open("POST", `/api/v1/${path}`);
  request.setRequestHeader("X-CSRFToken", csrfToken());
}

/** Gives each line of a growing text once it is whole. */
function linesOf(give) {
  let read = 0;
  return (text) => {
    for (let end = text.indexOf("\n", read); end >= 0; end = text.indexOf("\n", read)) {
      const line = text.slice(read, end);
      read = end + 1;
      give(JSON.parse(line));
    }
  };
}

function failureOf(request) {
  try {
    return new ApiError(request.status, JSON.parse(request.responseText).error);
  } catch {
    return new ApiError(request.status, CUT);
  }
}
