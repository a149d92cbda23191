export { Openbook, ReplyStream } from "./client.js";
export { ApiError, ConnectionFailed, OpenbookError, ReplyFailed } from "./errors.js";

/** @typedef {import("./progress.js").ReplyEvent} ReplyEvent */
/** @typedef {import("./client.js").MessageOptions} MessageOptions */
/** @typedef {import("./schema.js").Calls} Calls */
