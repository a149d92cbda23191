/** The worker that shows a page of its own when the server is away; browsers offer the chat as an app because of it. */

const WORKER = "/service-worker.js";
const OFTEN = 3_600_000; // milliseconds

/** Once the page is there, as nothing on it needs the worker. */
export function keepForOffline() {
  if (!navigator.serviceWorker) return; // over plain http there is none
  addEventListener("load", () => setTimeout(register, 0), { once: true });
  if (document.readyState === "complete") register();
}

/** Windows that stay open for days hear of a new release, too. */
async function register() {
  try {
    const registration = await navigator.serviceWorker.register(WORKER);
    setInterval(() => registration?.update().catch(() => {}), OFTEN);
  } catch (error) {
    console.info("Nothing is kept for when the server is away.", error);
  }
}
