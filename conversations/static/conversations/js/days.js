/** Threads by day, in the reader's own time zone: today, yesterday, previous 7 days, then months. */

import { dateFormat, gettext } from "./language.js";

const month = dateFormat({ month: "long", year: "numeric" });

function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

const day = dateFormat({ weekday: "long", day: "numeric", month: "long", year: "numeric" });

/**
 * For each time, the name of its day where a new one begins there; a conversation of today alone names none.
 * @param {string[]} times in the order of the turns
 * @returns {(string | null)[]}
 */
export function newDays(times, now = new Date()) {
  let before = midnight(now).getTime();
  return times.map((iso) => {
    const date = new Date(iso);
    const begins = midnight(date).getTime();
    if (begins === before) return null;
    before = begins;
    return begins === midnight(now).getTime() ? gettext("Today") : day.format(date);
  });
}

/** @param {Date} date @param {Date} now */
export function dayGroup(date, now) {
  const days = Math.round((midnight(now).getTime() - midnight(date).getTime()) / 86_400_000);
  if (days <= 0) return gettext("Today");
  if (days === 1) return gettext("Yesterday");
  if (days <= 7) return gettext("Previous 7 days");
  return month.format(date);
}

/** @template {{updated_at: string}} T @param {T[]} threads newest first @returns {[string, T[]][]} */
export function byDay(threads, now = new Date()) {
  const groups = new Map();
  for (const thread of threads) {
    const name = dayGroup(new Date(thread.updated_at), now);
    groups.set(name, [...(groups.get(name) ?? []), thread]);
  }
  return [...groups];
}
