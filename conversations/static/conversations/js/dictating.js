/** The button for dictation, where the browser has that and the person has not switched it off. */

import { byId } from "./dom.js";
import { gettext } from "./language.js";
import { changeSettings, Recognition, settingsOf } from "./settings.js";

/**
 * @param {Store} store
 * @param {import("./composer.js").Composer} composer
 * @param {import("./announce.js").Announcer} announcer
 */
export function wireDictation(store, composer, announcer) {
  const button = byId("dictate");
  button.hidden = !Recognition || !settingsOf(store).dictation;
  let stop = null;

  const show = (listens) => {
    const label = listens ? gettext("Stop dictating") : gettext("Dictate");
    button.setAttribute("aria-pressed", String(listens));
    button.setAttribute("aria-label", label);
    button.title = label;
    if (listens) announcer.say(gettext("Listening."));
  };

  button.addEventListener("click", async () => {
    if (stop) return stop();
    if (!settingsOf(store).dictationKnown) return explain();
    const { dictate } = await import("./dictation.js");
    composer.say("");
    stop = dictate(composer.text, {
      onEnd: () => {
        stop = null;
        show(false);
        composer.focus();
      },
      onProblem: (words) => composer.say(words),
    });
    return show(true);
  });

  /** Once in each browser, before anything is heard. */
  function explain() {
    changeSettings(store, { dictationKnown: true });
    const where = gettext("Your browser writes down what you say; some send the sound to their maker for that.");
    composer.say(`${where} ${gettext("Press the button again to begin.")}`);
  }

  byId("composer").addEventListener("submit", () => stop?.());
}
