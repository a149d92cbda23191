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
  return {
    read: (key, fallback) => guarded(() => JSON.parse(localStorage.getItem(prefix + key)) ?? fallback, fallback),
    write: (key, value) =>
      guarded(() => {
        const empty = value === "" || (Array.isArray(value) && value.length === 0);
        if (empty) localStorage.removeItem(prefix + key);
        else localStorage.setItem(prefix + key, JSON.stringify(value));
      }),
    forgetAll: () =>
      guarded(() =>
        Object.keys(localStorage)
          .filter((key) => key.startsWith(prefix) || key === READER)
          .forEach((key) => localStorage.removeItem(key)),
      ),
  };
}
