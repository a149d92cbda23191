/** Projects as groups of the list: the first few, closed; the threads of one are asked for when it is opened. */

import { api } from "./api.js";
import { h, icon } from "./dom.js";
import { gettext } from "./language.js";
import { FEW_PROJECTS, FIRST_PROJECTS, pageOfProject } from "./thread-groups.js";

const ALL_PAGES = "projects/?counts=false&page_size=200";

export class ProjectGroups {
  /** @type {import("./thread-groups.js").Project[]} */
  projects = [];
  areMore = false; // than those, which are the first few
  #open = new Set();
  #next = new Map();
  #showsAll = false;

  /**
   * @param {{
   *   read: (path: string) => Promise<{results: Thread[], next: string | null}>,
   *   onCome: (threads: Thread[]) => void,
   *   onChanged: () => void,
   *   onError: (words: string) => void,
   * }} on `read`: a page of threads as they are now; `onCome`: threads of a project were read; `onChanged`: the list
   *   has to be shown anew
   */
  constructor(on) {
    this.on = on;
  }

  async load() {
    const { results, next } = await api.get(FIRST_PROJECTS);
    const first = new Set(results.map(({ id }) => id));
    if (next && (this.#showsAll || [...this.#open].some((id) => !first.has(id)))) await this.loadAll();
    else {
      this.projects = results;
      this.areMore = Boolean(next);
    }
  }

  async loadAll() {
    const projects = [];
    for (let path = ALL_PAGES; path; ) {
      const { results, next } = await api.get(path);
      projects.push(...results);
      path = next;
    }
    this.projects = projects;
    this.areMore = false;
  }

  /** All of them, of which the first few may be all that was loaded. */
  async all() {
    if (this.areMore) await this.loadAll();
    return this.projects;
  }

  /** @param {{project: import("./thread-groups.js").Project, threads: Thread[]}[]} groups */
  section(groups, row) {
    if (!groups.length) return null;
    const isShown = ({ project }, index) => this.#showsAll || index < FEW_PROJECTS || this.#open.has(project.id);
    const shown = groups.filter(isShown);
    return h(
      "section",
      { class: "day" },
      h("h2", {}, gettext("Projects")),
      h(
        "ul",
        {},
        ...shown.map((group) => this.#group(group, row)),
        this.#rest(this.areMore || shown.length < groups.length),
      ),
    );
  }

  #group({ project, threads }, row) {
    const isOpen = this.#open.has(project.id);
    const toggle = h(
      "button",
      {
        type: "button",
        class: "project-toggle",
        "aria-expanded": String(isOpen),
        onclick: () => this.#toggle(project),
      },
      icon(isOpen ? "choose" : "next"),
      h("span", { class: `project-dot colour-${project.colour}`, "aria-hidden": "true" }),
      h("span", { class: "title", dir: "auto" }, project.name),
    );
    return h(
      "li",
      { class: "project", "data-project": project.id },
      toggle,
      isOpen &&
        h(
          "ul",
          { class: "project-threads" },
          ...threads.map(row),
          this.#foot(project, threads),
          h("li", {}, this.#link(project)),
        ),
    );
  }

  #foot(project, threads) {
    if (this.#next.get(project.id))
      return h("li", {}, this.#button(gettext("Show older"), () => this.#read(project, this.#next.get(project.id))));
    return !threads.length && h("li", { class: "list-note" }, gettext("No conversations in this project yet."));
  }

  #link({ id }) {
    return h("a", { class: "button quiet", href: `/projects/${id}/` }, gettext("Files and settings"));
  }

  #rest(areMore) {
    return areMore && h("li", {}, this.#button(gettext("Show all projects"), () => this.#showAll()));
  }

  async #showAll() {
    try {
      await this.all();
      this.#showsAll = true;
      this.on.onChanged();
    } catch (error) {
      this.on.onError(error.message);
    }
  }

  #button(words, onclick) {
    return h("button", { type: "button", class: "button quiet", onclick }, words);
  }

  async #toggle(project) {
    if (this.#open.delete(project.id)) return this.on.onChanged();
    this.#open.add(project.id);
    this.on.onChanged();
    return this.#next.has(project.id) || this.#read(project, pageOfProject(project.id));
  }

  async #read(project, path) {
    try {
      const { results, next } = await this.on.read(path);
      this.#next.set(project.id, next);
      this.on.onCome(results);
    } catch (error) {
      this.on.onError(error.message);
    }
  }
}
