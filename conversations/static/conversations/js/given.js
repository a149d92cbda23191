/** Which parts of a file the model was given for a reply, from the record. */

import { api } from "./api.js";
import { gettext } from "./language.js";
import { reasonOf } from "./words.js";

/**
 * @typedef {{parts: string, reason: string}} LeftOut
 * @typedef {Row & {reply: string, position: number, given: string, words: string, left_out: LeftOut[]}} GivenReply as
 *   `GET files/{id}/given/` tells of it
 * @typedef {{state: "given" | "partly" | "elsewhere" | "not", words: string}} Mark
 */

/** @param {string} ranges such as `1-3, 7` @returns {Set<number>} */
export function numbersOf(ranges) {
  return new Set(
    ranges
      .split(", ")
      .filter(Boolean)
      .flatMap((run) => {
        const [first, last = first] = run.split("-").map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => first + index);
      }),
  );
}

/**
 * What became of some parts, such as those of a page, for one of the replies.
 * @param {number[]} parts
 * @param {GivenReply[]} replies
 * @param {string} chosen id of the reply
 * @returns {Mark}
 */
export function markOf(parts, replies, chosen) {
  const reply = replies.find((each) => each.reply === chosen);
  const given = numbersOf(reply?.given ?? "");
  const missing = parts.filter((part) => !given.has(part));
  if (!missing.length && parts.length) return { state: "given", words: gettext("Given for this reply") };
  if (missing.length < parts.length) return { state: "partly", words: gettext("Given in part for this reply") };
  const others = replies.filter((each) => parts.some((part) => numbersOf(each.given).has(part)));
  if (others.some(({ position }) => position < reply?.position))
    return { state: "elsewhere", words: gettext("Given for an earlier reply, not for this one") };
  if (others.length) return { state: "elsewhere", words: gettext("Given for a later reply, not for this one") };
  const reason = reply?.left_out.find((row) => parts.some((part) => numbersOf(row.parts).has(part)))?.reason;
  return {
    state: "not",
    words: reason ? gettext("Not given: {reason}", { reason: reasonOf(reason, "part") }) : gettext("Not given"),
  };
}

/** @param {Row[]} files with id and name @returns {Promise<Map<string, GivenFile[]>>} by reply */
export async function givenToReplies(files) {
  const told = await Promise.all(files.map(({ id }) => api.get(`files/${id}/given/`)));
  const given = new Map();
  files.forEach(({ id, name }, at) => {
    for (const { reply, words, given: ranges } of told[at].replies.filter((each) => each.words)) {
      const [first = null] = numbersOf(ranges);
      given.set(reply, [...(given.get(reply) ?? []), { id, name, words, first }]);
    }
  });
  return given;
}
