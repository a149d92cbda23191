/** Puts the page together. */

import { Announcer } from "./announce.js";
import { api } from "./api.js";
import { Attachments } from "./attachments.js";
import { Workbench } from "../../artifacts/js/workbench.js";
import { Book } from "./book.js";
import { Composer } from "./composer.js";
import { ConnectionBar } from "./connection.js";
import { byId } from "./dom.js";
import { Drawer } from "./drawer.js";
import { Files } from "./files.js";
import { Forks } from "./forks.js";
import { keepForOffline } from "./installed.js";
import { wireDictation } from "./dictating.js";
import { gettext } from "./language.js";
import { Log } from "./log.js";
import { unmark } from "./marking.js";
import { ModelChoice } from "./model-choice.js";
import { Notices } from "./notices.js";
import { Models, openAgainMenu } from "./models.js";
import { Extras } from "./on-demand.js";
import { PromptPicker } from "./prompt-picker.js";
import { NamedTurn, wireEarlier } from "./reaching.js";
import { Renewal } from "./renewal.js";
import { Scroll } from "./scroll.js";
import { ServerOffers } from "./server-offers.js";
import { wireShortcuts } from "./shortcuts.js";
import { storeOf } from "./storage.js";
import { TemporaryChat } from "./temporary.js";
import { wireTheme } from "./theme.js";
import { OpenThread } from "./thread.js";
import { wireDragging } from "./thread-dragging.js";
import { newTitle, ThreadHead } from "./thread-head.js";
import { printPageOf, ThreadMenu } from "./thread-menu.js";
import { Selection } from "./thread-selection.js";
import { ThreadList } from "./threads.js";
import { Welcome } from "./welcome.js";
import { WindowGauge } from "./window-gauge.js";
import { useWords } from "./words.js";
import { settleZone } from "./zone.js";

const page = JSON.parse(byId("page").textContent);
useWords(page.words);
/** @type {Thread} */
const NEW = { id: "new", title: "", assistant: null };

/** There the focus in the message box brings up a keyboard that hides half of the page. */
const isTouched = () => matchMedia("(pointer: coarse)").matches;
const say = (words) => composer.say(words);
const tell = (error) => say(error.message);
const store = storeOf(page.user.id);
const announcer = new Announcer(byId("announcer"));
const models = new Models(page);
const files = new Files();
const attachments = new Attachments(store, files, page.limits);
const book = new Book(page.user, { onTurn: goToTurn });
const drawer = new Drawer();
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
  onShare: page.share_days ? (message) => extras.shareThread(open.thread, message) : null,
  onEdit: (message, text) => {
    open.edit(message, text);
    if (!isTouched()) composer.focus();
  },
  onVersion: (id) => open.goTo(id),
  onCompare: (message) => extras.compare(open.thread.id, message),
  onArtifact: (artifact) => workbench.openArtifact(artifact),
  onDraft: (replyId, toolId) => workbench.openDraft(replyId, toolId),
  onAllowed: (words) => open.send(words, []),
  onFile: (id, options) => extras.openFile(id, options),
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
const extras = new Extras(
  { panel: workbench.panel, files, announcer, shareDays: page.share_days },
  {
    nameOfModel: (id, provider) => models.name(id, provider),
    onVersion: (id) => open.goTo(id),
    onImported: () => list.reload(),
    onOpen: go,
    onError: say,
  },
);
if (extras.canShare) workbench.panel.onShare = (artifact, number) => extras.shareArtifact(artifact, number);
const composer = new Composer(
  store,
  page.limits.message_chars,
  { attachments, announcer },
  { onSend: send, onStop: () => open.stop(), onEditLast: () => log.editLast() },
);
new PromptPicker({ announcer }, { onChosen: (text) => composer.replace(text) });
new ServerOffers(page.servers, announcer, {
  onFile: (file) => {
    files.put(file);
    composer.put("", [file.id]);
  },
  onText: (text) => composer.put(text),
  onError: say,
});
const choice = new ModelChoice({ models, store, composer }, page.answers, {
  reader: () => open,
  assistant: () => welcome.assistant,
  onChanged: threadChanged,
  onPicked: () => gauge.preview(),
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
    namedTurn.seek(words);
    go(thread, position);
    if (file) extras.openFile(file.id, file);
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
  { list, drawer, announcer, canShare: extras.canShare, showsCosts: page.shows_costs },
  {
    onChanged: threadChanged,
    onCleared: (thread) => renewal.clearedHere(thread),
    onDeleted: deleted,
    onForgotten: (thread, turns, artifacts) => renewal.forgotten(thread, turns, artifacts),
    onOpen: go,
    onShare: (thread) => extras.shareThread(thread),
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
    renewal.look(source.id);
  },
  onOpen: go,
  onError: say,
});

const head = new ThreadHead({ assistants: page.assistants, store, notices, forks, temporaryChat });
const gauge = new WindowGauge({ book, log, composer, attachments }, { reader: () => open, onError: tell });
const renewal = new Renewal(
  { log, book, scroll, composer, workbench, gauge },
  { reader: () => open, onChanged: threadChanged, onError: tell },
);
const namedTurn = new NamedTurn(scroll, { reader: () => open, onError: say });
const showEarlier = wireEarlier(() => open.earlier());

/** @type {OpenThread} */
let open;

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
      onCleared: () => renewal.cleared(),
      onMoved: (element) => renewal.moved(element),
      onLoadFailed: (error) => log.failed(error.message, () => show(thread)),
    },
  );
}

/** Opens a thread, at one of its turns if that is named, without loading the page anew. */
function go(thread, position) {
  const turn = position ? `#turn-${position}` : "";
  history.pushState(null, "", thread.id === "new" ? "/" : `/threads/${thread.id}/${turn}`);
  drawer.close();
  if (turn && thread.id === open.thread.id) namedTurn.open();
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
  renewal.showEmpty(open.thread.id);
  if (id !== open.thread.id || title === open.thread.title) return;
  open.thread.title = title;
  showTitle(open.thread);
}

function loaded({ id }) {
  byId("conversation").ariaBusy = null;
  renewal.showEmpty(id);
  if (log.empty) return;
  welcome.hide();
  scroll.toEnd();
  gauge.read(log.newestRequest);
  namedTurn.open();
}

/** Where another model answered than was shown, staff have changed what is offered. */
function ended(turn) {
  gauge.read(turn.request);
  if (page.titled_by_a_model && turn.element.dataset.position === "2") {
    newTitle(open.thread).then((thread) => thread && threadChanged(thread));
  }
  const { thread } = open;
  if (!thread.model || thread.model_note) return;
  const { model, fallback_for: instead } = turn.reply ?? {};
  if (model && !instead && !`/${thread.model}`.endsWith(`/${model}`)) renewal.look(thread.id);
}

/** @param {Thread} thread */
function showTitle(thread) {
  const name = head.show(thread);
  choice.show({ ...thread, assistant: thread.assistant ?? welcome.assistant });
  log.assistantName = name || gettext("Assistant");
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

/** Back and forward. */
function followAddress() {
  const id = location.pathname.match(/^\/threads\/([0-9a-f-]+)\//)?.[1];
  show(id ? (list.find(id) ?? { id, title: "", assistant: null }) : NEW);
  if (id && !list.find(id)) renewal.look(id);
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
byId("show-import").addEventListener("click", () => extras.showImport());
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
if (!isTouched()) composer.focus();
