/** Threads by day, in the reader's own time zone: today, yesterday, previous 7 days, then months. */

const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });

function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

/** @param {Date} date @param {Date} now */
export function dayGroup(date, now) {
  const days = Math.round((midnight(now).getTime() - midnight(date).getTime()) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days <= 7) return "Previous 7 days";
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
