/** Puts the page together. */

import { Announcer } from "./announce.js";
import { api } from "./api.js";
import { Workbench } from "../../artifacts/js/workbench.js";
import { Book } from "./book.js";
import { clear } from "./clearing.js";
import { Composer } from "./composer.js";
import { ConnectionBar } from "./connection.js";
import { confirmed, openMenu } from "./dialogs.js";
import { byId, h } from "./dom.js";
import { Drawer } from "./drawer.js";
import { forget } from "./forgetting.js";
import { wireImport } from "./importing.js";
import { Log } from "./log.js";
import { Scroll } from "./scroll.js";
import { wireShortcuts } from "./shortcuts.js";
import { storeOf } from "./storage.js";
import { wireTheme } from "./theme.js";
import { OpenThread } from "./thread.js";
import { ThreadList } from "./threads.js";
import { Welcome } from "./welcome.js";
import { useWords } from "./words.js";
import { settleZone } from "./zone.js";

const page = JSON.parse(byId("page").textContent);
useWords(page.words);
const NEW = { id: "new", title: "", assistant: null };
const NAMED_TURN = /^#turn-(\d{1,9})$/;

const store = storeOf(page.user.id);
const announcer = new Announcer(byId("announcer"));
const book = new Book(page.user, { onTurn: goToTurn });
const drawer = new Drawer();
const scroll = new Scroll(byId("scroller"), byId("newest"));
const log = new Log(byId("log"), scroll, {
  onRetry: (replyId, model) => open.retry(replyId, model),
  onContinue: (replyId) => open.goOn(replyId),
  onRephrase: (text) => composer.put(text),
  nameOfModel,
  onBook: (request) => book.open(request),
  onForget: (message) => forgetTurn(message),
  onArtifact: (artifact) => workbench.openArtifact(artifact),
  onDraft: (replyId, toolId) => workbench.openDraft(replyId, toolId),
  onText: (turn) => announcer.follow(turn.text),
});
const workbench = new Workbench(
  { store, announcer, log },
  {
    onStop: () => composer.stop(),
    onRetry: (replyId, model) => open.retry(replyId, model),
    nameOfModel,
    onRun: (frame) => open.runPreset(frame),
    onError: (words) => composer.say(words),
    isRunning: () => Boolean(open.running),
  },
);
const composer = new Composer(store, page.limits.message_chars, { onSend: send, onStop: () => open.stop() });
const connection = new ConnectionBar(byId("connection"), () => open.socket.reconnect());
const welcome = new Welcome(byId("welcome"), page, {
  onExample: (text) => composer.put(text),
  onAssistant: showWhoAnswers,
});
const list = new ThreadList({
  onOpen: go,
  onMenu: threadMenu,
  onRenamed: (thread) => thread.id === open.thread.id && showTitle(thread),
  onError: (words) => composer.say(words),
});

/** @type {OpenThread} */
let open;

/** Near the top the turns before load by themselves; looked at anew after each page, as one may not fill the window. */
const nearTop = new IntersectionObserver(([entry]) => entry.isIntersecting && open.earlier(), {
  root: byId("scroller"),
  rootMargin: "600px 0px 0px",
});

/** What people call a model. */
function nameOfModel(id) {
  return page.models[id] ?? id;
}

/** Said below the message box where no model answers, or one that is not to be relied upon. */
function showWhoAnswers(assistant) {
  const note = page.answers[assistant];
  byId("answers").textContent = note?.short ?? "";
  byId("answers").hidden = !note;
}

function show(thread) {
  open?.close();
  log.clear();
  book.gauge(null);
  composer.setRunning(false);
  composer.open(thread.id);
  showEarlier(false);
  byId("empty-thread").hidden = true;
  if (thread.id === "new") welcome.show();
  else welcome.hide();
  showTitle(thread);
  list.select(thread.id);
  scroll.following = thread.id !== "new"; // the empty state is read from its top
  workbench.open(thread.id === "new" ? null : thread.id);
  open = new OpenThread(
    thread,
    { log, store, book, announcer, workbench },
    {
      onNamed: named,
      onTouched: touched,
      onRunning: (running) => composer.setRunning(running),
      onEnded: (turn) => readWindow(turn.request),
      onState: (state) => connection.show(state),
      onRefused: (text) => composer.put(text),
      onError: (words) => composer.say(words),
      onEarlier: showEarlier,
      onLoaded: () => loaded(thread),
      onCleared: cleared,
      onLoadFailed: (error) => loadFailed(error, thread),
    },
  );
}

/** Opens a thread, at one of its turns if that is named, without loading the page anew. */
function go(thread, position) {
  const turn = position ? `#turn-${position}` : "";
  history.pushState(null, "", thread.id === "new" ? "/" : `/threads/${thread.id}/${turn}`);
  drawer.close();
  if (turn && thread.id === open.thread.id) {
    openNamedTurn();
    return;
  }
  show(thread);
  if (!turn) composer.focus();
}

/** Of any conversation, listed or not. */
async function goToTurn(id, position) {
  try {
    go(list.find(id) ?? (await api.get(`threads/${id}/`)), position);
  } catch (error) {
    composer.say(error.message);
  }
}

function send(text) {
  const { assistant } = welcome;
  welcome.hide();
  byId("empty-thread").hidden = true;
  showTitle({ ...open.thread, assistant: open.thread.assistant ?? assistant });
  open.send(text, assistant);
}

function named(thread) {
  thread.assistant ??= welcome.assistant;
  history.replaceState(null, "", `/threads/${thread.id}/`);
  composer.renamed(thread.id);
  workbench.named(thread.id);
  showTitle(thread);
  list.touch(thread);
  list.select(thread.id);
}

/** A turn came; the first one of a conversation without a title names it. */
function touched({ id, title = open.thread.title }) {
  list.touch({ id, title });
  showEmpty(open.thread.id);
  if (id !== open.thread.id || title === open.thread.title) return;
  open.thread.title = title;
  showTitle(open.thread);
}

function loaded({ id }) {
  showEmpty(id);
  if (log.empty) return;
  welcome.hide();
  scroll.toEnd();
  readWindow(log.newestRequest);
  openNamedTurn();
}

/** A link may name a turn: it is brought into view and marked, however far back it is. */
async function openNamedTurn() {
  const position = NAMED_TURN.exec(location.hash)?.[1];
  if (!position) return;
  const reader = open;
  const element = await reader.reach(position);
  if (reader !== open) return;
  if (element) scroll.point(element);
  else composer.say("The turn that the link names is not in this conversation.");
}

function loadFailed(error, thread) {
  const again = h("button", { type: "button", class: "button", onclick: () => show(thread) }, "Try again");
  log.element.replaceChildren(
    h("div", { class: "turn-note warning" }, h("p", {}, `This thread can't be shown. ${error.message}`), again),
  );
}

/** The gauge and the quiet line where the window begins, from the newest recorded request. */
async function readWindow(request) {
  if (!request) return;
  const reader = open;
  const { newest } = book;
  const snapshot = await book.read(request).catch((error) => composer.say(error.message));
  if (!snapshot || reader !== open || book.newest !== newest) return; // another request was made meanwhile
  book.gauge(request, snapshot);
  log.turnOf(request)?.setFacts(snapshot);
  // Turns that are done with are missing between others too; this line is about what has grown too old.
  const grownOld = ({ kind, reason }) =>
    ["message", "range"].includes(kind) && ["over_budget", "turn_limit"].includes(reason);
  const leftOut = snapshot.items.some(grownOld);
  const first = snapshot.items.find(({ included, kind }) => included && kind === "message");
  log.markWindow(leftOut ? first?.id : null);
}

function showEmpty(id) {
  byId("empty-thread").hidden = id === "new" || !log.saysNothing;
}

/** @param {Thread} thread */
function showTitle({ id, title, assistant, remembers }) {
  const name = page.assistants.find(({ slug }) => slug === assistant)?.name ?? assistant ?? "";
  byId("title").textContent = title || "New thread";
  byId("assistant-name").textContent = name;
  showWhoAnswers(assistant ?? welcome.assistant);
  byId("thread-menu").hidden = id === "new";
  byId("unremembered").hidden = remembers !== false;
  log.assistantName = name || "Assistant";
  document.title = title ? `${title} · Openbook` : "Openbook";
}

function threadMenu(thread, button) {
  openMenu(button, [
    { label: "Rename", run: () => rename(thread) },
    {
      label: "Remember this conversation",
      hint: "Off: it is given no memories, and leaves none.",
      checked: thread.remembers !== false,
      run: () => remember(thread, thread.remembers === false),
    },
    {
      label: "Clear…",
      hint: "Forgets all its turns, keeps the conversation.",
      danger: true,
      run: () => clearThread(thread),
    },
    { label: "Delete…", danger: true, run: () => remove(thread) },
  ]);
}

function rename(thread) {
  drawer.open();
  byId("search").value = "";
  if (!list.find(thread.id)) list.touch(thread);
  list.rename(thread.id);
}

async function remember(thread, remembers) {
  try {
    const changed = await api.patch(`threads/${thread.id}/`, { remembers });
    threadChanged(changed);
    announcer.say(remembers ? "This conversation is remembered." : "This conversation is not remembered.");
  } catch (error) {
    composer.say(error.message);
  }
}

/** Its title, or whether it is remembered. */
function threadChanged({ id, title, remembers }) {
  list.change({ id, title, remembers });
  if (id !== open.thread.id) return;
  Object.assign(open.thread, { title, remembers });
  showTitle(open.thread);
}

async function forgetTurn(message) {
  const { thread } = open;
  const mine = message.role === "user";
  const done = await forget({
    path: `messages/${message.id}/`,
    title: mine ? "Forget what you said here?" : "Forget this reply?",
    lead: "Its place in the conversation stays, its words go, and with them what rests on it:",
  });
  if (!done) return;
  for (const id of [message.id, ...done.turns.map((turn) => turn.message)]) log.forget(id);
  book.forget();
  if (done.artifacts) workbench.load();
  announcer.say("Forgotten.");
  look(thread.id); // its title may have told it
}

async function clearThread(thread) {
  const done = await clear(thread);
  if (!done) return;
  announcer.say("The conversation is cleared.");
  if (thread.id !== open.thread.id) {
    look(thread.id);
    return;
  }
  open.cleared();
  composer.focus();
}

/** Here or elsewhere: what was shown of the open thread is gone. */
function cleared() {
  book.forget();
  if (!log.newestRequest) book.gauge(null);
  log.markWindow(null);
  showEmpty(open.thread.id);
  look(open.thread.id);
}

/** Its title may have changed. */
function look(id) {
  api.get(`threads/${id}/`).then(threadChanged, (error) => composer.say(error.message));
}

async function remove(thread) {
  const title = thread.title || "New thread";
  const recorded = "with what was recorded about its requests";
  const text = `“${title}” and all its turns are deleted, ${recorded}. This can't be undone.`;
  if (!(await confirmed({ title: "Delete this thread?", text, yes: "Delete thread" }))) return;
  try {
    await api.delete(`threads/${thread.id}/`);
  } catch (error) {
    composer.say(error.message);
    return;
  }
  list.remove(thread.id);
  announcer.say(`“${title}” is deleted.`);
  if (thread.id === open.thread.id) go(NEW);
}

/** Back and forward. */
function followAddress() {
  const id = location.pathname.match(/^\/threads\/([0-9a-f-]+)\//)?.[1];
  show(id ? (list.find(id) ?? { id, title: "", assistant: null }) : NEW);
}

byId("earlier").addEventListener("click", () => open.earlier());

function showEarlier(more) {
  const button = byId("earlier");
  nearTop.unobserve(button);
  button.hidden = !more;
  if (more) nearTop.observe(button);
}

addEventListener("popstate", followAddress);
byId("new-thread").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(NEW);
});
byId("thread-menu").addEventListener("click", (event) =>
  threadMenu(list.find(open.thread.id) ?? open.thread, event.currentTarget),
);
byId("sign-out").addEventListener("submit", () => store.forgetAll());
wireTheme(byId("me-menu"));
wireImport({ onImported: () => list.reload(), onOpen: (thread) => go(thread) });
wireShortcuts({
  search: () => {
    drawer.open();
    list.search.focus();
  },
  create: () => go(NEW),
  stop: () => composer.stop(),
});
settleZone(page.zone);
show(page.thread ?? NEW);
list.load();
byId("conversation").removeAttribute("aria-busy");
if (!matchMedia("(pointer: coarse)").matches) composer.focus();
