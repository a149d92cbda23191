/** What few people use: its scripts are loaded when somebody does, not with the page. */

import { gettext } from "./language.js";

/**
 * A script that is loaded only now.
 * @template Module
 * @param {Promise<Module>} loading `import(…)`, which scripts that are there answer at once
 * @returns {Promise<Module>}
 * @throws {Error} with words for people
 */
export async function loaded(loading) {
  try {
    return await loading;
  } catch (error) {
    const words = gettext("This part of the page could not be loaded. Load the page again once the server is reached.");
    throw new Error(words, { cause: error });
  }
}

export class Extras {
  /** @type {import("./viewer.js").Viewer | null} */
  #viewer = null;
  /** @type {import("./sharing.js").Sharing | null} */
  #sharing = null;
  /** @type {(() => void) | null} */
  #showImport = null;

  /**
   * @param {{
   *   panel: import("../../artifacts/js/panel.js").Panel,
   *   files: import("./files.js").Files,
   *   announcer: import("./announce.js").Announcer,
   *   shareDays: number,
   * }} page `shareDays`: how long a link may last; 0: nothing can be shared
   * @param {{
   *   nameOfModel: (id: string, provider?: string) => string,
   *   onVersion: (id: string) => void,
   *   onImported: () => void,
   *   onOpen: (thread: Row) => void,
   *   onError: (words: string) => void,
   * }} on
   */
  constructor(page, on) {
    this.page = page;
    this.on = on;
  }

  get canShare() {
    return this.page.shareDays > 0;
  }

  /** A file beside the conversation. @type {OpenFile} */
  openFile = (id, options) =>
    this.#use(import("./viewer.js"), ({ Viewer }) => {
      const { panel, files, announcer } = this.page;
      this.#viewer ??= new Viewer(panel, files, announcer);
      this.#viewer.open(id, options);
    });

  /** @param {Thread} thread @param {Message} [message] the last turn that is shown; the newest by default */
  shareThread(thread, message) {
    this.#share((sharing) => sharing.thread(thread, message));
  }

  /** @param {Row} artifact @param {number} number of the version that is shown */
  shareArtifact(artifact, number) {
    this.#share((sharing) => sharing.artifact(artifact, number));
  }

  /** Two answers to one message. @param {string} thread @param {Message} message */
  compare(thread, message) {
    this.#use(import("./comparing.js"), ({ compareVersions }) => compareVersions(thread, message, this.on));
  }

  /** The dialog for conversations from elsewhere. */
  showImport() {
    this.#use(import("./importing.js"), ({ wireImport }) => {
      this.#showImport ??= wireImport(this.on);
      this.#showImport();
    });
  }

  /** @param {(sharing: import("./sharing.js").Sharing) => void} action */
  #share(action) {
    this.#use(import("./sharing.js"), ({ Sharing }) => {
      this.#sharing ??= new Sharing(this.page.shareDays, this.page.announcer);
      action(this.#sharing);
    });
  }

  /**
   * @template Module
   * @param {Promise<Module>} loading
   * @param {(module: Module) => void} action
   */
  async #use(loading, action) {
    try {
      action(await loaded(loading));
    } catch (error) {
      this.on.onError(error.message);
    }
  }
}
