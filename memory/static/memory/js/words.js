/** Where a note came from, in the words that the server uses for those it rendered itself. */

/** @param {string} zone @returns {(iso: string) => string} the day of a time, with its year unless that is this one */
export function dayIn(zone, now = new Date()) {
  const parts = (date, options) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options }).format(date);
  const year = { year: "numeric" };
  return (iso) => {
    const date = new Date(iso);
    const sameYear = parts(date, year) === parts(now, year);
    return parts(date, { day: "numeric", month: "long", ...(sameYear ? {} : year) });
  };
}

/** @param {{origin: string, source: Row | null, created_at: string}} memory @param {(iso: string) => string} day */
export function originOf({ origin, source, created_at: at }, day) {
  if (source)
    return `${origin === "conversation" ? "You said so" : "From a conversation"} on ${day(source.created_at)}`;
  if (origin === "hand") return `You wrote it down on ${day(at)}`;
  if (origin === "conversation") return `From a conversation of ${day(at)} that is gone`;
  return `A program added it on ${day(at)}`;
}
