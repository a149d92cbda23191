/** Bare names, as the pages' import map resolves them: `node --import ./tests/javascript/importmap.js --test …`. */

import { registerHooks } from "node:module";

const root = new URL("../../", import.meta.url);

registerHooks({
  resolve(specifier, context, next) {
    const at = specifier.startsWith("diff/") ? new URL(`node_modules/diff/libesm/${specifier}`, root).href : specifier;
    return next(at, context);
  },
});
