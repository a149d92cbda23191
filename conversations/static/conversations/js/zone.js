/** The time zone in which a person's days begin: taken from the browser once, until the person chooses. */

import { api } from "./api.js";

export function ownZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @param {string | null} chosen @returns {Promise<string | null>} the zone that was set just now, if one was */
export async function settleZone(chosen) {
  if (chosen) return null;
  try {
    return (await api.patch("preferences/", { time_zone: ownZone() })).time_zone;
  } catch (error) {
    console.info("This browser's time zone was not taken.", error); // days begin in UTC until one is chosen
    return null;
  }
}
