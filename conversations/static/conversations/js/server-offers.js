/** What connected servers offer to a message: their resources become its files, their prompts its text. */

import { api } from "./api.js";
import { openMenu } from "./dialogs.js";
import { byId } from "./dom.js";
import { gettext } from "./language.js";
import { askFor } from "./prompt-picker.js";

const MOST_SHOWN = 50; // of each kind

/** @typedef {{id: string, name: string}} Server */

export class ServerOffers {
  /**
   * @param {Server[]} servers
   * @param {import("./announce.js").Announcer} announcer
   * @param {{onFile: (file: import("./files.js").UploadedFile) => void, onText: (text: string) => void,
   *   onError: (words: string) => void}} on
   */
  constructor(servers, announcer, on) {
    this.announcer = announcer;
    this.on = on;
    this.button = /** @type {HTMLButtonElement} */ (byId("servers"));
    this.button.addEventListener("click", () => {
      if (servers.length === 1) this.#open(servers[0]);
      else this.#choose(servers);
    });
  }

  /** @param {Server[]} servers */
  #choose(servers) {
    const items = servers.map((server) => ({ label: server.name, run: () => this.#open(server) }));
    openMenu(this.button, items, { atStart: true });
  }

  /** @param {Server} server */
  async #open(server) {
    const path = `mcp-servers/${server.id}/`;
    await this.#asking(server, async () => {
      const lists = [`${path}resources/`, `${path}prompts/`].map((each) => api.get(each));
      const [resources, prompts] = (await Promise.all(lists)).map(({ results }) => results.slice(0, MOST_SHOWN));
      const items = [
        ...resources.map((each) => this.#item(each, () => this.#attach(server, each))),
        ...prompts.map((each) => this.#item(each, () => this.#prompt(server, each))),
      ];
      if (items.length) openMenu(this.button, items, { label: server.name, note: server.name, atStart: true });
      else this.on.onError(gettext("{server} has no files and no prompts.", { server: server.name }));
    });
  }

  #item({ name, description }, run) {
    return { label: name, hint: description.slice(0, 120) || undefined, run };
  }

  #attach(server, { uri, name }) {
    return this.#asking(server, async () => {
      this.on.onFile(await api.post(`mcp-servers/${server.id}/resources/attach/`, { uri, name }));
    });
  }

  async #prompt(server, prompt) {
    const names = prompt.arguments.map(({ name }) => name);
    const values = names.length ? await askFor(prompt.name, names) : {};
    if (!values) return;
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
    await this.#asking(server, async () => {
      const path = `mcp-servers/${server.id}/prompts/${encodeURIComponent(prompt.name)}/`;
      this.on.onText((await api.post(path, { arguments: given })).text);
    });
  }

  /** A server may take seconds. */
  async #asking(server, step) {
    this.announcer.say(gettext("Asking {server} …", { server: server.name }));
    this.button.setAttribute("aria-busy", "true");
    try {
      await step();
    } catch (error) {
      if (!("status" in error)) throw error;
      this.on.onError(error.message);
    } finally {
      this.button.removeAttribute("aria-busy");
    }
  }
}
