/**
 * What the browser keeps for when the server is away: one page, and what that is made of. Nothing else goes into its
 * cache: no page of a person's, no answer of the API. `RELEASE` and `KEPT` are written before this by
 * `conversations/web/installed.py`; where they change, this is another worker, and takes over at once.
 */

const worker = /** @type {any} */ (self);
const NAME = "openbook-offline-";
const CACHE = NAME + RELEASE;
const [OFFLINE] = KEPT;
/** Pages of people; what programs and staff ask for is theirs. */
const NOT_OURS = /^\/(?:api|admin|v1|static|health|metrics)(?:\/|$)/;

worker.addEventListener("install", (event) => {
  // What is asked for beside pages need not come by here.
  event.addRoutes?.([
    ...KEPT.map((path) => ({ condition: { urlPattern: path }, source: "fetch-event" })),
    ...["/static/*", "/api/*"].map((path) => ({ condition: { urlPattern: path }, source: "network" })),
  ]);
  event.waitUntil(keep());
});

worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== worker.location.origin) return;
  if (request.destination === "document" && !NOT_OURS.test(pathname)) event.respondWith(reached(request, OFFLINE));
  else if (KEPT.includes(pathname)) event.respondWith(reached(request, pathname));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.path ?? "/"));
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll(KEPT.map((path) => new Request(path, { cache: "reload" })));
  await worker.skipWaiting();
}

async function takeOver() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(NAME) && name !== CACHE).map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** From the server; where that is away, what is kept in its place. @param {Request} request @param {string} instead */
async function reached(request, instead) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(instead);
    if (kept) return kept;
    throw error;
  }
}

/** In the window that has it open, or in a new one. @param {string} path */
async function show(path) {
  const windows = await worker.clients.matchAll({ type: "window" });
  const there = windows.find(({ url }) => new URL(url).pathname === path);
  return there ? there.focus() : worker.clients.openWindow(path);
}
