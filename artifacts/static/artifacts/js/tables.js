/** Tables that came as CSV. Pure. */

const DELIMITERS = [",", ";", "\t"];

/** @returns {boolean} whether the text is a Markdown table rather than CSV */
export function isMarkdown(text) {
  const table = text.trimStart();
  const end = table.indexOf("\n") + 1;
  return table.slice(0, end).includes("|") && /^(?:\s*\|)?\s*:?--/.test(table.slice(end));
}

/** @returns {string[][]} rows of cells, by RFC 4180, with the delimiter that its first line uses most */
export function csvRows(text) {
  const [first] = text.split("\n", 1);
  const delimiter = DELIMITERS.reduce((best, sign) =>
    first.split(sign).length > first.split(best).length ? sign : best,
  );
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|\\r|$)`, "y");
  const rows = [[]];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    rows.at(-1).push(match[1]?.replaceAll('""', '"') ?? match[2]);
    const ended = match[3] !== delimiter && cell.lastIndex < text.length;
    if (match[3] === "") break;
    if (ended) rows.push([]);
  }
  return rows.filter((row) => row.some((value) => value.trim()));
}
