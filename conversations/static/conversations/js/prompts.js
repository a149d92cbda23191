/** What prompts say once their variables are known, and which of them are meant. Pure. */

/** As the server has it. */
const VARIABLE = /\{\{\s*([\p{L}\p{N}][\p{L}\p{N}\p{M}_ -]{0,39}?)\s*\}\}/gu;

/** @param {string} text @param {Record<string, string>} values those without one stay as they are */
export function filledIn(text, values) {
  return text.replace(VARIABLE, (all, name) => values[name] || all);
}

/** What is looked for where a message begins with a stroke and says nothing else yet; null: nothing. */
export function soughtIn(message) {
  return /^\/([^\n/]{0,60})$/u.exec(message)?.[1].trim().toLocaleLowerCase() ?? null;
}

/**
 * Those with the words in their name, first those whose name begins with them; then those with them in their text.
 * @param {{name: string, text: string}[]} prompts @param {string} sought in small letters
 */
export function matching(prompts, sought) {
  const rank = ({ name, text }) => {
    const at = name.toLocaleLowerCase().indexOf(sought);
    if (at === 0) return 0;
    if (at > 0) return 1;
    return text.toLocaleLowerCase().includes(sought) ? 2 : 3;
  };
  return prompts
    .map((prompt) => ({ prompt, rank: rank(prompt) }))
    .filter((each) => each.rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ prompt }) => prompt);
}
