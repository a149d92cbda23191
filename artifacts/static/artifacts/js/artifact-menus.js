/** The menus of an artifact: as which file it is taken along, and what is done with it. */

import { openMenu } from "../../conversations/js/dialogs.js";
import { gettext } from "../../conversations/js/language.js";
import { download } from "./download.js";
import { downloadsOf } from "./naming.js";

/**
 * @param {HTMLElement} button
 * @param {{id: string, kind: string, number: number}} shown which version of which artifact
 * @param {(error: Error) => void} onError
 */
export function openDownloads(button, { id, kind, number }, onError) {
  const items = downloadsOf(kind).map(({ format, label }) => ({
    label,
    run: () => download(`artifacts/${id}/export/?as=${format}&version=${number}`).catch(onError),
  }));
  openMenu(button, items);
}

/**
 * @param {HTMLElement} button
 * @param {{number: number, newest: number, isDrawn: boolean, isSourceShown: boolean}} shown
 * @param {{onSource: () => void, onAgain: () => void, onRename: () => void, onShare: (() => void) | null,
 *   onDelete: () => void}} on
 */
export function openMore(button, { number, newest, isDrawn, isSourceShown }, on) {
  const source = isSourceShown ? gettext("Show it drawn") : gettext("Show its source");
  openMenu(button, [
    ...(isDrawn ? [{ label: source, run: on.onSource }] : []),
    ...(number < newest
      ? [{ label: gettext("Make version {number} the newest", { number }), run: on.onAgain }]
      : []),
    { label: gettext("Rename"), run: on.onRename },
    ...(on.onShare ? [{ label: gettext("Share…"), run: on.onShare }] : []),
    { label: gettext("Delete"), danger: true, run: on.onDelete },
  ]);
}
