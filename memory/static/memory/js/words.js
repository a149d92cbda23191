/** Where a note came from, in the words that the server uses for those it rendered itself. */

import { dateFormat, gettext } from "../../conversations/js/language.js";

/** @param {string} zone @returns {(iso: string) => string} the day of a time, with its year unless that is this one */
export function dayIn(zone, now = new Date()) {
  const parts = (date, options) => dateFormat({ timeZone: zone, ...options }, "en-GB").format(date);
  const year = { year: "numeric" };
  return (iso) => {
    const date = new Date(iso);
    const sameYear = parts(date, year) === parts(now, year);
    return parts(date, { day: "numeric", month: "long", ...(sameYear ? {} : year) });
  };
}

/** Until when a note held; empty where it holds. */
export function endOf({ ended_at: ended, valid_from: from, created_at: at }, day) {
  if (!ended) return "";
  return new Date(ended) <= new Date(from ?? at) ? gettext("Not so") : gettext("Until {day}", { day: day(ended) });
}

/** @param {{origin: string, source: Row | null, created_at: string}} memory @param {(iso: string) => string} day */
export function originOf({ origin, source, created_at: at }, day) {
  if (source) {
    const on = { day: day(source.created_at) };
    return origin === "conversation"
      ? gettext("You said so on {day}", on)
      : gettext("From a conversation on {day}", on);
  }
  if (origin === "hand") return gettext("You wrote it down on {day}", { day: day(at) });
  if (origin === "conversation") return gettext("From a conversation of {day} that is gone", { day: day(at) });
  return gettext("A program added it on {day}", { day: day(at) });
}
