/** What a person has switched on or off for this browser. It stays here, and outlasts signing out. */

/** @typedef {{notify: boolean, notifyWords: boolean, dictation: boolean, dictationKnown: boolean}} Settings */

/** @type {Settings} `dictationKnown`: where the sound goes was said once */
const DEFAULTS = { notify: false, notifyWords: false, dictation: true, dictationKnown: false };

/** @param {Store} store @returns {Settings} */
export function settingsOf(store) {
  return { ...DEFAULTS, ...store.read("settings", {}) };
}

/** @param {Store} store @param {Partial<Settings>} changes */
export function changeSettings(store, changes) {
  store.write("settings", { ...settingsOf(store), ...changes });
}

export const canNotify = "Notification" in globalThis;
/** @type {(new () => any) | undefined} */
export const Recognition = /** @type {any} */ (globalThis).SpeechRecognition ?? globalThis.webkitSpeechRecognition;
