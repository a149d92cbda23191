/** What this browser keeps for one user: drafts, and messages that the server has not confirmed yet. */

const warned = new Set();

function guarded(action, otherwise) {
  try {
    return action();
  } catch (error) {
    // Private windows and full disks refuse; the page then works without drafts.
    if (!warned.has(error.name)) console.info("This browser keeps no drafts.", error);
    warned.add(error.name);
    return otherwise;
  }
}

/** Whose drafts the page without a server shows. */
const READER = "openbook:reader";

/** @param {number} userId who reads here now */
export function storeOf(userId) {
  const prefix = `openbook:${userId}:`;
  guarded(() => localStorage.setItem(READER, String(userId)));
  const ofTab = new Set(); // threads of which nothing outlives the tab
  const placeOf = (key) => (ofTab.has(key.split(":").pop()) ? sessionStorage : localStorage);
  return {
    /** Whether what is kept of a thread goes with this tab. @param {string} thread @param {boolean} only */
    keepInTab: (thread, only) =>
      guarded(() => {
        const from = ofTab.has(thread) ? sessionStorage : localStorage;
        const to = only ? sessionStorage : localStorage;
        if (only) ofTab.add(thread);
        else ofTab.delete(thread);
        if (from === to) return;
        for (const key of Object.keys(from).filter((each) => each.startsWith(prefix) && each.endsWith(`:${thread}`))) {
          to.setItem(key, from.getItem(key));
          from.removeItem(key);
        }
      }),
    /** All that is kept of a thread. @param {string} thread */
    forget: (thread) =>
      guarded(() => {
        const place = placeOf(`:${thread}`);
        for (const key of Object.keys(place)) {
          if (key.startsWith(prefix) && key.endsWith(`:${thread}`)) place.removeItem(key);
        }
      }),
    read: (key, fallback) => guarded(() => JSON.parse(placeOf(key).getItem(prefix + key)) ?? fallback, fallback),
    write: (key, value) =>
      guarded(() => {
        const empty = value === "" || (Array.isArray(value) && value.length === 0);
        if (empty) placeOf(key).removeItem(prefix + key);
        else placeOf(key).setItem(prefix + key, JSON.stringify(value));
      }),
    forgetAll: () =>
      guarded(() =>
        [localStorage, sessionStorage].forEach((place) =>
          Object.keys(place)
            .filter((key) => (key.startsWith(prefix) && key !== `${prefix}settings`) || key === READER)
            .forEach((key) => place.removeItem(key)),
        ),
      ),
  };
}
