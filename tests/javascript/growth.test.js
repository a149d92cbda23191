// No text may freeze a page: every pattern of our scripts takes time in proportion to what it is given.

import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { test } from "node:test"

import { parse } from "espree"

const SIZE = 4_000
const LEAST_MS = 6
const STEEPEST = 9

const UNITS = [
    ..." \n\t\r\u00a0\u3000.…!?。,;:-–_=+*~`#>|[({<])}\"'“”«»\\/&@$%^aAß1日あ",
    ...["\r\n", "\n\n", " \n", "a\n", "a ", "A ", "a. ", "1. ", "1, ", "a: ", "- ", "> ", "| ", "**"],
    ...["```", "~~~", "---"],
    ...["![", "](", "[](", "[a](", "<!--", "<a ", "</", "&a", "a@", "a.", "a-", "http://", "version "],
    ...["file ", "#memory-"],
    ..."😀0:",
]

/** Each regular expression that stands in a script, and each text that one is made of there, with its place. */
function* patterns() {
    for (const path of globSync("{artifacts,conversations,memory}/static/**/*.js")) {
        const source = readFileSync(path, "utf8")
        const todo = [parse(source, { ecmaVersion: "latest", sourceType: "module", loc: true })]
        while (todo.length > 0) {
            const node = todo.pop()
            if (node?.type === "Literal" && node.regex) {
                const pattern = new RegExp(node.regex.pattern, node.regex.flags);
                yield { place: `${path}:${node.loc.start.line}`, pattern };
            } else if (node?.type === "NewExpression" && node.callee.name === "RegExp") {
                yield { place: path, pattern: null }
            }
            if (node && typeof node === "object") {
                todo.push(...Object.values(node).filter((part) => part && typeof part === "object"))
            }
        }
    }
}

function* repeated(unit) {
    const run = (size) => unit.repeat(Math.ceil(size / unit.length))
    yield run
    yield (size) => `x${run(size)}END`
    yield (size) => `x.\n${run(size)}\nx`
}

function milliseconds(pattern, text) {
    const started = process.cpuUsage()
    text.replace(pattern, "")
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
}

function growth(pattern, text) {
    if (milliseconds(pattern, text(SIZE)) < LEAST_MS) {
        return 0
    }
    const best = (size) => Math.min(...[1, 2, 3].map(() => milliseconds(pattern, text(size))))
    const long = best(SIZE)
    return long < LEAST_MS ? 0 : long / Math.max(best(SIZE / 4), 0.01)
}

test("every pattern takes time in proportion to the text", () => {
    const found = [...patterns()]
    const slow = []
    for (const { place, pattern } of found.filter((each) => each.pattern)) {
        const all = pattern.global || pattern.sticky ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
        const words = pattern.source.match(/[\p{L}\d]+/gu) ?? []
        for (const unit of [...UNITS, ...words]) {
            for (const text of repeated(unit)) {
                if (growth(all, text) > STEEPEST) {
                    slow.push(`${place} ${pattern} ${JSON.stringify(unit)}`)
                }
            }
        }
    }
    assert.ok(found.length > 15)
    assert.deepEqual(slow, [])
})

test("only these scripts make patterns of texts, with no run but of what ends it", () => {
    const made = [...patterns()].filter(({ pattern }) => !pattern).map(({ place }) => place)
    assert.deepEqual([...new Set(made)].sort(), [
        "artifacts/static/artifacts/js/tables.js",
        "conversations/static/conversations/js/announce.js",
        "conversations/static/conversations/js/citations.js",
        "conversations/static/conversations/js/finding.js",
    ])
})
