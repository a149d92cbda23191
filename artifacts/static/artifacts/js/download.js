/** Takes a file from the API along. Not a plain link: an error would be saved as if it were the file. */

import { ApiError } from "../../conversations/js/api.js";
import { h } from "../../conversations/js/dom.js";
import { gettext } from "../../conversations/js/language.js";

/** Raises ApiError. @param {string} path below the API's root */
export async function download(path) {
  const response = await fetch(`/api/v1/${path}`).catch(() => {
    throw new ApiError(0, {
      code: "unreachable",
      message: gettext("The server can't be reached. Check the connection and try again."),
    });
  });
  if (!response.ok) {
    const answer = await response.json().catch(() => null);
    throw new ApiError(
      response.status,
      answer?.error ?? { code: "unexpected", message: gettext("The file could not be made. Try again.") },
    );
  }
  const url = URL.createObjectURL(await response.blob());
  const link = h("a", { href: url, download: nameIn(response.headers.get("Content-Disposition") ?? "") });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function nameIn(disposition) {
  const encoded = disposition.match(/filename\*=utf-8''([^;]+)/i)?.[1];
  return encoded ? decodeURIComponent(encoded) : (disposition.match(/filename="?([^";]+)"?/i)?.[1] ?? "artifact");
}
