/** Which threads the list shows, and in which groups. Pure. */

import { byDay } from "./days.js";
import { gettext } from "./language.js";

/**
 * What is listed: all but the archived ones, the archived ones, or those with a tag.
 * @typedef {{kind: "all"} | {kind: "archived"} | {kind: "tag", tag: string}} View
 */

/** @type {View} */
export const ALL = { kind: "all" };
/** @type {View} */
export const ARCHIVED = { kind: "archived" };

const MOST_PINNED = 200;
const PAGE = 50;

export const FEW_PROJECTS = 8; // that are shown before somebody asks for all
export const FIRST_PROJECTS = `projects/?counts=false&page_size=${FEW_PROJECTS}`;

/** The first pages to ask for; only the last of them goes on. @param {View} view @returns {string[]} */
export function firstPages(view) {
  if (view.kind === "archived") return [`threads/?archived=true&page_size=${PAGE}`];
  if (view.kind === "tag")
    return [`threads/?archived=false&tag=${encodeURIComponent(view.tag)}&page_size=${PAGE}`];
  return [
    `threads/?archived=false&pinned=true&page_size=${MOST_PINNED}`,
    `threads/?archived=false&pinned=false&project=none&page_size=${PAGE}`,
  ];
}

/** @param {string} project its id */
export function pageOfProject(project) {
  return `threads/?archived=false&pinned=false&project=${project}&page_size=${PAGE}`;
}

/** @param {View} view @param {Thread} thread */
export function belongs(view, thread) {
  if (view.kind === "archived") return Boolean(thread.archived);
  if (thread.archived) return false;
  return view.kind === "all" || (thread.tags ?? []).includes(view.tag);
}

/** @param {View} view @returns {string} */
export function nameOf(view) {
  if (view.kind === "archived") return gettext("Archived");
  return view.kind === "tag" ? view.tag : gettext("All conversations");
}

/**
 * The threads of before and those that came, each once and as it is now, the one that was active last first.
 * @param {View} view @param {Thread[]} before @param {Thread[]} come
 */
export function merged(view, before, come) {
  const all = new Map(before.map((thread) => [thread.id, thread]));
  for (const thread of come) all.set(thread.id, { ...all.get(thread.id), ...thread });
  return [...all.values()]
    .filter((thread) => thread.updated_at && belongs(view, thread))
    .sort((one, other) => other.updated_at.localeCompare(one.updated_at));
}

/**
 * What the list shows from top to bottom: pinned threads, projects with what was loaded of them, and the rest by day.
 * @typedef {{id: string, name: string, colour: string}} Project
 * @param {any[]} threads newest first
 * @param {Project[]} projects that are loaded, by name
 * @param {boolean} areMore whether there are others: where a thread is in none of these, it is in one of them
 * @returns {{pinned: Thread[], projects: {project: Project, threads: Thread[]}[], days: [string, Thread[]][]}}
 */
export function groupsOf(threads, projects, areMore = false, now = new Date()) {
  const pinned = threads.filter((thread) => thread.pinned);
  const others = threads.filter((thread) => !thread.pinned);
  const ids = new Set(projects.map(({ id }) => id));
  return {
    pinned,
    projects: projects.map((project) => ({
      project,
      threads: others.filter((thread) => thread.project === project.id),
    })),
    days: byDay(
      others.filter(({ project }) => !project || (!areMore && !ids.has(project))),
      now,
    ),
  };
}
