/** Names as browsers resolve them, by the page's import map and by what lies beside what under `/static/`:
 * `node --import ./tests/javascript/importmap.js --test …`. */

import { registerHooks } from "node:module";

const root = new URL("../../", import.meta.url);
const OF_ANOTHER_APP = /^\.\.\/\.\.\/(artifacts|conversations|memory)\/js\//;

registerHooks({
  resolve(specifier, context, next) {
    const path = specifier
      .replace(/^diff\//, "node_modules/diff/libesm/diff/")
      .replace(OF_ANOTHER_APP, "$1/static/$1/js/");
    return next(path === specifier ? specifier : new URL(path, root).href, context);
  },
});
