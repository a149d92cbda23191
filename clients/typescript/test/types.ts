/** What the types allow, and what they refuse: checked by `tsc`, and never run. */

import { Openbook } from "../src/index.js";

export async function allowed(openbook: Openbook): Promise<string> {
  const thread = await openbook.call("GET threads/{thread_id}/", { path: { thread_id: "a" } });
  for await (const memory of openbook.all("GET memories/", { query: { tag: "boat" } })) memory.content.trim();
  const { request, message } = await openbook.ask("Hello", { thread: thread.id });
  return thread.title + request + message?.text;
}

export async function refused(openbook: Openbook): Promise<void> {
  // @ts-expect-error a part of the path is missing
  await openbook.call("GET threads/{thread_id}/");
  // @ts-expect-error there is no such filter
  await openbook.call("GET threads/", { query: { colour: "red" } });
  // @ts-expect-error it is no list
  openbook.all("GET limits/");
  // @ts-expect-error it takes a body
  await openbook.call("POST memories/", {});
  // @ts-expect-error there is no such call
  await openbook.call("GET boats/");
}
