/** Puts the page together. */

import { Announcer } from "./announce.js";
import { api } from "./api.js";
import { Attachments } from "./attachments.js";
import { Workbench } from "../../artifacts/js/workbench.js";
import { Book } from "./book.js";
import { Composer } from "./composer.js";
import { ConnectionBar } from "./connection.js";
import { byId, h } from "./dom.js";
import { Drawer } from "./drawer.js";
import { Files } from "./files.js";
import { Forks } from "./forks.js";
import { keepForOffline } from "./installed.js";
import { givenToReplies } from "./given.js";
import { wireDictation } from "./dictating.js";
import { wireImport } from "./importing.js";
import { gettext } from "./language.js";
import { Log } from "./log.js";
import { markWords, unmark } from "./marking.js";
import { ModelChoice } from "./model-choice.js";
import { Notices } from "./notices.js";
import { Models, openAgainMenu } from "./models.js";
import { PromptPicker } from "./prompt-picker.js";
import { Scroll } from "./scroll.js";
import { Sharing } from "./sharing.js";
import { wireShortcuts } from "./shortcuts.js";
import { storeOf } from "./storage.js";
import { TemporaryChat } from "./temporary.js";
import { wireTheme } from "./theme.js";
import { OpenThread } from "./thread.js";
import { wireDragging } from "./thread-dragging.js";
import { printPageOf, ThreadMenu } from "./thread-menu.js";
import { Selection } from "./thread-selection.js";
import { ThreadList } from "./threads.js";
import { Welcome } from "./welcome.js";
import { compareVersions } from "./versions.js";
import { Viewer } from "./viewer.js";
import { useWords } from "./words.js";
import { settleZone } from "./zone.js";

const page = JSON.parse(byId("page").textContent);
useWords(page.words);
/** @type {Thread} */
const NEW = { id: "new", title: "", assistant: null };
const MOST_FILES = 10; // of which is said what replies were given of them
const TITLE_SECONDS = [2, 4, 8, 16];
const NAMED_TURN = /^#turn-(\d{1,9})$/;

const say = (words) => composer.say(words);
const tell = (error) => say(error.message);
const store = storeOf(page.user.id);
const announcer = new Announcer(byId("announcer"));
const models = new Models(page);
const files = new Files();
const attachments = new Attachments(store, files, page.limits);
const book = new Book(page.user, { onTurn: goToTurn });
const drawer = new Drawer();
const sharing = page.share_days ? new Sharing(page.share_days, announcer) : null;
const notices = new Notices(store);
const scroll = new Scroll(byId("scroller"), byId("newest"));
const log = new Log(byId("log"), scroll, {
  files,
  onRetry: (replyId, model) => open.retry(replyId, model),
  onContinue: (replyId) => open.goOn(replyId),
  onRephrase: (text) => composer.put(text),
  nameOfModel: (id, provider) => models.name(id, provider),
  otherModels: {
    are: () => models.of(open.thread.assistant).length > 1,
    open: (button, reply, onChosen) =>
      openAgainMenu(button, models, { ...reply, assistant: open.thread.assistant }, onChosen),
  },
  onBook: (request) => book.open(request),
  onForget: (message) => menu.forgetTurn(open.thread, message),
  onFork: (message) => forks.from(open.thread, message),
  onShare: sharing && ((message) => sharing.thread(open.thread, message)),
  onEdit: (message, text) => open.edit(message, text),
  onVersion: (id) => open.goTo(id),
  onCompare: (message) =>
    compareVersions(open.thread.id, message, {
      nameOfModel: (id, provider) => models.name(id, provider),
      onVersion: (id) => open.goTo(id),
      onError: say,
    }),
  onArtifact: (artifact) => workbench.openArtifact(artifact),
  onDraft: (replyId, toolId) => workbench.openDraft(replyId, toolId),
  onFile: (id, options) => viewer.open(id, options),
  onProblem: say,
  onText: (turn) => announcer.follow(turn.text),
});
const workbench = new Workbench(
  { store, announcer, log },
  {
    onStop: () => composer.stop(),
    onRetry: (replyId, model) => open.retry(replyId, model),
    nameOfModel: (id) => models.name(id),
    onRun: (frame) => open.runPreset(frame),
    onError: say,
    isRunning: () => Boolean(open.running),
  },
);
workbench.panel.onShare = sharing && ((artifact, number) => sharing.artifact(artifact, number));
const viewer = new Viewer(workbench.panel, files, announcer);
const composer = new Composer(
  store,
  page.limits.message_chars,
  { attachments, announcer },
  { onSend: send, onStop: () => open.stop(), onEditLast: () => log.editLast() },
);
new PromptPicker({ announcer }, { onChosen: (text) => composer.replace(text) });
const choice = new ModelChoice({ models, store, composer }, page.answers, {
  reader: () => open,
  assistant: () => welcome.assistant,
  onChanged: threadChanged,
  onPicked: previewWindow,
});
const connection = new ConnectionBar(byId("connection"), {
  onReconnect: () => open.socket.reconnect(),
  onLeave: leaveWithDraft,
});
const welcome = new Welcome(byId("welcome"), page, {
  onExample: (text) => composer.put(text),
  onAssistant: (assistant) => choice.show({ ...open?.thread, assistant: open?.thread.assistant ?? assistant }),
});
const list = new ThreadList({
  onOpen: (thread, position, file, words) => {
    sought = words ?? [];
    go(thread, position);
    if (file) viewer.open(file.id, file);
  },
  onMenu: (thread, button) => menu.open(thread, button),
  onRenamed: threadChanged,
  onTicked: (threads) => selection.show(threads),
  onError: say,
});
const selection = new Selection(
  { list, announcer },
  { onChanged: threadChanged, onDeleted: deleted, onError: say },
);

wireDragging(list.element, {
  idsAt: (id) => list.idsAt(id),
  onDropped: (ids, changes) => selection.drop(ids, changes),
});

const menu = new ThreadMenu(
  { list, drawer, announcer, sharing, showsCosts: page.shows_costs },
  {
    onChanged: threadChanged,
    onCleared: clearedHere,
    onDeleted: deleted,
    onForgotten: forgotten,
    onOpen: go,
    onError: say,
  },
);

const temporaryChat = new TemporaryChat(announcer, {
  onSwitched: (temporary) => {
    open.thread = { ...open.thread, temporary };
    showTitle(open.thread);
    composer.focus();
  },
  onChanged: threadChanged,
  onClosed: ({ id }) => {
    store.forget(id);
    deleted({ id });
  },
  onError: say,
});

const forks = new Forks(list, {
  onForked: (thread, source) => {
    go(thread);
    look(source.id);
  },
  onOpen: go,
  onError: say,
});

/** @type {OpenThread} */
let open;

/** What was looked for in the turn that is opened next. @type {string[]} */
let sought = [];

/** Near the top the turns before load by themselves; looked at anew after each page, as one may not fill the window. */
const nearTop = new IntersectionObserver(([entry]) => entry.isIntersecting && open.earlier(), {
  root: byId("scroller"),
  rootMargin: "600px 0px 0px",
});

/** The gauge and the book of the next message, for the model that is chosen now. */
async function previewWindow() {
  const reader = open;
  const { newest } = book;
  if (!newest || reader.running) return;
  const { temporary } = reader.thread;
  const message = { content: composer.text.value.trim() || "…", files: attachments.readIds, temporary };
  const snapshot = await api.post(`threads/${reader.thread.id}/context/`, message).catch(tell);
  if (snapshot && reader === open && book.newest === newest && !reader.running) book.preview(snapshot);
}

function show(thread) {
  open?.close();
  if (open?.thread.temporary && open.thread.id !== thread.id) store.forget(open.thread.id);
  store.keepInTab(thread.id, Boolean(thread.temporary));
  unmark();
  byId("conversation").ariaBusy = thread.id === "new" ? null : "true"; // until its turns are there
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
      onRunning: (running) => {
        notices.running(running);
        composer.setRunning(running);
      },
      onOver: (text) => notices.ended(open.thread, open.thread.temporary ? "" : text),
      onEnded: (turn) => ended(turn),
      onState: (state) => {
        connection.show(state);
        attachments.setConnected(state === "open");
      },
      onRefused: (text, ids) => composer.put(text, ids),
      onNotOffered: () => choice.notOffered(),
      onError: say,
      onEarlier: showEarlier,
      onLoaded: () => loaded(thread),
      onCleared: cleared,
      onMoved: moved,
      onLoadFailed: (error) => loadFailed(error, thread),
    },
  );
}

/** Opens a thread, at one of its turns if that is named, without loading the page anew. */
function go(thread, position) {
  const turn = position ? `#turn-${position}` : "";
  history.pushState(null, "", thread.id === "new" ? "/" : `/threads/${thread.id}/${turn}`);
  drawer.close();
  if (turn && thread.id === open.thread.id) openNamedTurn();
  else {
    show(thread);
    if (!turn) composer.focus();
  }
}

/** A new conversation that is temporary from its start. */
function startTemporary() {
  go(NEW);
  temporaryChat.toggle();
}

/** From a conversation that is gone to a new one, with what was typed there. */
function leaveWithDraft() {
  const draft = store.read(`draft:${NEW.id}`, "");
  list.remove(open.thread.id);
  composer.renamed(NEW.id);
  go(NEW);
  composer.put(draft);
}

/** Of any conversation, listed or not. */
async function goToTurn(id, position) {
  const thread = list.find(id) ?? (await api.get(`threads/${id}/`).catch(tell));
  if (thread) go(thread, position);
}

/** What is chosen just now counts for it, too. @param {string} text @param {string[]} ids of its files */
async function send(text, ids) {
  const reader = open;
  const changed = await reader.changed;
  reader.changed = null;
  if (reader !== open) {
    store.write(`draft:${reader.thread.id}`, text);
    attachments.putBack(ids, reader.thread.id);
  } else if (changed === false) composer.put(text, ids);
  else sendNow(text, ids);
}

function sendNow(text, ids) {
  const { assistant } = welcome;
  welcome.hide();
  byId("empty-thread").hidden = true;
  showTitle({ ...open.thread, assistant: open.thread.assistant ?? assistant });
  open.send(text, ids, assistant, choice.ofNew(assistant));
}

function named(thread) {
  thread.assistant ??= welcome.assistant;
  thread.model ??= choice.ofNew(thread.assistant);
  choice.forgetNew();
  history.replaceState(null, "", `/threads/${thread.id}/`);
  composer.renamed(thread.id);
  workbench.named(thread.id);
  showTitle(thread);
  list.touch(thread);
  list.select(thread.id);
}

/** A turn came; the first one of a conversation without a title names it. */
function touched({ id, title = open.thread.title }) {
  list.touch(id === open.thread.id ? { ...open.thread, title } : { id, title });
  showEmpty(open.thread.id);
  if (id !== open.thread.id || title === open.thread.title) return;
  open.thread.title = title;
  showTitle(open.thread);
}

function loaded({ id }) {
  byId("conversation").ariaBusy = null;
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
  if (element) {
    scroll.point(element);
    const place = markWords(element, sought);
    if (place) scroll.reveal(place);
    sought = [];
  }
  else composer.say(gettext("The turn that the link names is not in this conversation."));
}

function loadFailed(error, thread) {
  const again = h("button", { type: "button", class: "button", onclick: () => show(thread) }, gettext("Try again"));
  log.element.replaceChildren(
    h(
      "div",
      { class: "turn-note warning" },
      h("p", {}, gettext("This conversation can't be shown. {message}", { message: error.message })),
      again,
    ),
  );
}

/** Where another model answered than was shown, staff have changed what is offered. */
function ended(turn) {
  readWindow(turn.request);
  if (page.titled_by_a_model && turn.element.dataset.position === "2") awaitTitle(open.thread);
  const { thread } = open;
  if (!thread.model || thread.model_note) return;
  const { model, fallback_for: instead } = turn.reply ?? {};
  if (model && !instead && !`/${thread.model}`.endsWith(`/${model}`)) look(thread.id);
}

/** The gauge and the quiet line where the window begins, from the newest recorded request. */
async function readWindow(request) {
  if (!request) return;
  const reader = open;
  const { newest } = book;
  const snapshot = await book.read(request).catch(tell);
  if (!snapshot || reader !== open || book.newest !== newest) return; // another request was made meanwhile
  book.gauge(request, snapshot);
  log.turnOf(request)?.setFacts(snapshot);
  log.markWindow(snapshot.window_begins);
  readGiven(snapshot.files, reader);
}

/** What the replies were given of the thread's files. Threads without files ask for nothing. @param {Row[]} named */
async function readGiven(named, reader) {
  if (!named.length) return;
  const known = named.filter(({ name }) => name).slice(-MOST_FILES);
  const given = await givenToReplies(known).catch(tell);
  if (given && reader === open) log.setGiven(given);
}

function showEmpty(id) {
  byId("empty-thread").hidden = id === "new" || !log.saysNothing;
}

/** @param {Thread} thread */
function showTitle(thread) {
  const { id, title, assistant, remembers, archived } = thread;
  const name = page.assistants.find(({ slug }) => slug === assistant)?.name ?? assistant ?? "";
  byId("title").textContent = title || gettext("New conversation");
  byId("assistant-name").textContent = name;
  choice.show({ ...thread, assistant: assistant ?? welcome.assistant });
  byId("thread-menu").hidden = id === "new";
  byId("unremembered").hidden = remembers !== false || Boolean(thread.temporary);
  store.keepInTab(id, Boolean(thread.temporary));
  temporaryChat.show(thread);
  byId("archived").hidden = !archived;
  forks.showSource(thread);
  log.assistantName = name || gettext("Assistant");
  notices.title(title ? gettext("{title} · Openbook", { title }) : "Openbook");
}

/** Its title, where it is listed, whether it is remembered, or who answers. @param {Thread} thread */
function threadChanged(thread) {
  list.change(thread);
  if (thread.id !== open.thread.id) return;
  Object.assign(open.thread, thread);
  showTitle(open.thread);
}

function deleted({ id }) {
  if (id === open.thread.id) go(NEW);
}

/** What rests on a turn that was forgotten goes, too; the title may have told it. */
function forgotten({ id: thread }, turns, artifacts) {
  for (const id of turns) log.forget(id);
  book.forget();
  if (artifacts) workbench.load();
  look(thread);
}

function clearedHere({ id }) {
  if (id !== open.thread.id) look(id);
  else {
    open.cleared();
    composer.focus();
  }
}

/** Here or elsewhere: what was shown of the open thread is gone. */
function cleared() {
  book.forget();
  if (!log.newestRequest) book.gauge(null);
  log.markWindow(null);
  showEmpty(open.thread.id);
  look(open.thread.id);
}

/** Another branch of the conversation is shown. @param {HTMLElement | null} element its turn that was asked for */
function moved(element) {
  book.forget();
  showEmpty(open.thread.id);
  readWindow(log.newestRequest);
  if (!element) return scroll.toEnd();
  scroll.point(element);
  const steps = /** @type {HTMLButtonElement[]} */ ([...element.querySelectorAll(".version-step")]);
  return steps.find((step) => !step.disabled)?.focus({ preventScroll: true });
}

/** A model names it soon after its first exchange. @param {Thread} thread */
async function awaitTitle({ id, title }) {
  for (const seconds of TITLE_SECONDS) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const thread = await api.get(`threads/${id}/`).catch(() => null);
    if (!thread) return;
    if (thread.title !== title) {
      threadChanged(thread);
      return;
    }
  }
}

/** Its title may have changed. */
function look(id) {
  api.get(`threads/${id}/`).then(threadChanged, tell);
}

/** Back and forward. */
function followAddress() {
  const id = location.pathname.match(/^\/threads\/([0-9a-f-]+)\//)?.[1];
  show(id ? (list.find(id) ?? { id, title: "", assistant: null }) : NEW);
  if (id && !list.find(id)) look(id);
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
  menu.open(list.find(open.thread.id) ?? open.thread, event.currentTarget),
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
  temporary: () => (open.thread.id === "new" ? temporaryChat.toggle() : startTemporary()),
  stop: () => composer.stop(),
  print: () => {
    if (open.thread.id !== "new") location.assign(printPageOf(open.thread));
    return open.thread.id !== "new";
  },
});
addEventListener("beforeunload", (event) => attachments.anyUploading && event.preventDefault());
document.addEventListener("visibilitychange", () => document.hidden || list.renew());
settleZone(page.zone);
keepForOffline();
wireDictation(store, composer, announcer);
show(page.thread ?? NEW);
list.load();
if (!matchMedia("(pointer: coarse)").matches) composer.focus();
