"""The types and calls of the clients, made from the schema: `make clients`.

Reads the OpenAPI document as JSON from standard input and writes what ``written`` names. Raises ``ValueError`` for what the
schema holds and a client has no word for.
"""

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLIENTS = Path(__file__).parent.parent / "clients"
ROOT = "/api/v1/"
METHODS = ("get", "post", "put", "patch", "delete")
VERBS = {"retrieve": "get", "destroy": "delete", "partial_update": "update"}
"""How drf-spectacular calls what a client calls so."""
STREAM, UPLOAD = "text/event-stream", "multipart/form-data"
"""What the clients send and read by functions of their own."""
NOTE = "Made from the schema by `make clients`; not written by hand."
WIDTH = 120

Schema = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """``path`` is below the root of the API, with ``{names}``; ``answers`` are schemas, ``None`` of an empty one."""

    name: str
    method: str
    path: str
    about: str
    query: list[tuple[str, Schema]]
    body: Schema | None
    answers: list[Schema | None]
    is_binary: bool

    @property
    def path_names(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)


def operations(schema: Schema) -> Iterator[Operation]:
    """Those that take and give JSON, or give a file."""
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods and not _is_special(methods[method]):
                yield _operation(path.removeprefix(ROOT), method, methods[method])


def _is_special(described: Schema) -> bool:
    body = described.get("requestBody", {}).get("content", {})
    return UPLOAD in body or any(STREAM in answer.get("content", {}) for answer in _successes(described))


def _successes(described: Schema) -> list[Schema]:
    return [answer for status, answer in described["responses"].items() if status.startswith("2")]


def _operation(path: str, method: str, described: Schema) -> Operation:
    body = described.get("requestBody", {}).get("content", {}).get("application/json")
    contents = [answer.get("content") or {} for answer in _successes(described)]
    return Operation(
        name=_name(described["operationId"]),
        method=method.upper(),
        path=path,
        about=described.get("description", "").split("\n\n")[0].replace("\n", " "),
        query=[(each["name"], each["schema"]) for each in described.get("parameters", []) if each["in"] == "query"],
        body=body and body["schema"],
        answers=[content["application/json"]["schema"] if "application/json" in content else None for content in contents],
        is_binary=any(content and not any("json" in media for media in content) for content in contents),
    )  # fmt: skip


def _name(operation_id: str) -> str:
    name = operation_id.removeprefix("api_v1_")
    for theirs, ours in VERBS.items():
        name = re.sub(f"_{theirs}$", f"_{ours}", name)
    return name


def _reference(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _page_of(name: str) -> str | None:
    match = re.fullmatch(r"Paginated(\w+)List", name)
    return match and match[1]


class Language:
    """How a type is written in one of the languages."""

    names: Mapping[str, str]

    def type(self, schema: Schema) -> str:
        if "$ref" in schema:
            name = _reference(schema)
            return self.page(item) if (item := _page_of(name)) else self.component(name)
        if "allOf" in schema:
            (only,) = schema["allOf"]
            return self.type(only)
        if "oneOf" in schema:
            return self.any_of([self.type(each) for each in schema["oneOf"]])
        if "enum" in schema:
            return self.literal(schema["enum"])
        kinds = schema.get("type")
        if kinds is None:
            return self.names["any"]
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return self.any_of([self._kind(kind, schema) for kind in kinds])

    def _kind(self, kind: str, schema: Schema) -> str:
        if kind == "array":
            return self.list_of(self.type(schema["items"]))
        if kind == "object":
            if "properties" in schema:
                raise ValueError(f"A shape without a name: {sorted(schema['properties'])}")
            return self.map_of(self.type(schema.get("additionalProperties") or {}))
        return self.names[kind]

    def any_of(self, types: list[str]) -> str:
        """Each once, and that it is nothing last."""
        nothing = (self.names["null"], self.names["nothing"])
        return " | ".join(sorted(dict.fromkeys(types), key=nothing.__contains__))

    def page(self, item: str) -> str:
        raise NotImplementedError

    def component(self, name: str) -> str:
        raise NotImplementedError

    def literal(self, values: list[Any]) -> str:
        raise NotImplementedError

    def list_of(self, item: str) -> str:
        raise NotImplementedError

    def map_of(self, value: str) -> str:
        raise NotImplementedError


class Python(Language):
    names = {
        "string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "any": "Any",
        "nothing": "None",
    }  # fmt: skip

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def page(self, item: str) -> str:
        return f"Page[{self.prefix}{item}]"

    def component(self, name: str) -> str:
        return self.prefix + name

    def literal(self, values: list[Any]) -> str:
        return f"Literal[{', '.join(map(_quoted, values))}]"

    def list_of(self, item: str) -> str:
        return f"list[{item}]"

    def map_of(self, value: str) -> str:
        return f"dict[str, {value}]"


class TypeScript(Language):
    names = {
        "string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
        "any": "unknown", "nothing": "undefined",
    }  # fmt: skip

    def page(self, item: str) -> str:
        return f"Page<{item}>"

    def component(self, name: str) -> str:
        return name

    def literal(self, values: list[Any]) -> str:
        return " | ".join(map(_quoted, values))

    def list_of(self, item: str) -> str:
        return f"Array<{item}>"

    def map_of(self, value: str) -> str:
        return f"Record<string, {value}>"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _components(schema: Schema) -> Iterator[tuple[str, Schema]]:
    yield from ((name, each) for name, each in sorted(schema["components"]["schemas"].items()) if not _page_of(name))


def python_types(schema: Schema) -> str:
    python = Python()
    lines = [f'"""The shapes of the API. {NOTE}"""', "", "from __future__ import annotations", ""]
    lines += ["from typing import Any, Literal, NotRequired, TypedDict", ""]
    for name, shape in _components(schema):
        if "properties" not in shape:
            lines += ["", f"type {name} = {python.type(shape)}"]
            continue
        lines += ["", f"class {name}(TypedDict):"]
        for field, each in shape["properties"].items():
            type = python.type(each)
            lines.append(f"    {field}: {type if field in shape.get('required', ()) else f'NotRequired[{type}]'}")
    return _formatted("\n".join(lines) + "\n")


def python_calls(schema: Schema) -> str:
    lines = [f'"""The calls of the API, for ``send`` and ``all`` of a client. {NOTE}"""', ""]
    lines += [
        "from typing import Literal",
        "",
        "from openbook import types",
        "from openbook.call import Call, Page, part",
    ]
    for operation in operations(schema):
        lines += ["", "", *_python_call(operation)]
    return _formatted("\n".join(lines) + "\n")


def _python_call(operation: Operation) -> list[str]:
    python = Python("types.")
    parameters = [f"{name}: str | int" for name in operation.path_names]
    parameters += [f"body: {python.type(operation.body)}"] if operation.body else []
    parameters += ["*"] if operation.query else []
    parameters += [
        f"{_identifier(name)}: {python.any_of([python.type(each), 'None'])} = None" for name, each in operation.query
    ]
    answer = "bytes" if operation.is_binary else _answer(operation, python)
    path = re.sub(r"{(\w+)}", r"{part(\1)}", operation.path)
    values = [_quoted(operation.method), ("f" if operation.path_names else "") + _quoted(path)]
    if operation.query:
        values.append(f"query={{{', '.join(f'{_quoted(name)}: {_identifier(name)}' for name, _ in operation.query)}}}")
    values += ["body=body"] if operation.body else []
    values += ["is_binary=True"] if operation.is_binary else []
    about = textwrap.wrap(operation.about.replace("\\", "\\\\"), WIDTH - 10)
    return [
        f"def {operation.name}({', '.join(parameters)}) -> Call[{answer}]:",
        *textwrap.indent('"""' + "\n".join(about) + '"""', "    ").split("\n"),
        f"    return Call({', '.join(values)})",
    ]


def _answer(operation: Operation, language: Language) -> str:
    nothing = language.names["nothing"]
    return language.any_of([nothing if each is None else language.type(each) for each in operation.answers])


def _identifier(name: str) -> str:
    """``as`` is a word of Python's own."""
    return f"{name}_" if name in {"as", "from", "is", "in"} else name


def _formatted(source: str) -> str:
    """As the project's formatter writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--config", str(CLIENTS.parent / "pyproject.toml"), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def typescript(schema: Schema) -> str:
    language = TypeScript()
    lines = [f"/** The shapes and calls of the API. {NOTE} */", ""]
    lines += [
        "export interface Page<T> {",
        "  next: string | null;",
        "  previous: string | null;",
        "  results: T[];",
        "}",
    ]
    for name, shape in _components(schema):
        if "properties" not in shape:
            lines += ["", *_wrapped(f"export type {name} =", language.type(shape), ";")]
            continue
        lines += ["", f"export interface {name} {{"]
        for field, each in shape["properties"].items():
            mark = "" if field in shape.get("required", ()) else "?"
            lines += _wrapped(f"  {field}{mark}:", language.type(each), ";")
        lines.append("}")
    lines += ["", "export interface Calls {"]
    for operation in operations(schema):
        lines += _typescript_call(operation)
    return "\n".join([*lines, "}", ""])


def _typescript_call(operation: Operation) -> list[str]:
    language = TypeScript()
    answer = _answer(operation, language)
    path = "; ".join(f"{name}: string | number" for name in operation.path_names)
    lines = [
        f"  /** {line}" if at == 0 else f"   * {line}" for at, line in enumerate(textwrap.wrap(operation.about, 110))
    ]
    lines[-1] += " */"
    lines += [
        f'  "{operation.method} {operation.path}": {{',
        f"    path: {{ {path} }};" if path else "    path: object;",
    ]
    lines.append("    query: {" if operation.query else "    query: object;")
    for name, each in operation.query:
        lines += _wrapped(f"      {name}?:", language.type(each), ";")
    lines += ["    };"] if operation.query else []
    lines.append(f"    body: {language.type(operation.body) if operation.body else 'undefined'};")
    return [*lines, f"    answer: {'Blob' if operation.is_binary else answer};", "  };"]


def _wrapped(before: str, type: str, after: str) -> list[str]:
    """One line, or one for each of several words."""
    if len(before) + len(type) + 2 <= WIDTH:
        return [f"{before} {type}{after}"]
    margin = " " * (len(before) - len(before.lstrip()) + 2)
    words = type.split(" | ")
    return [before, *(f"{margin}| {word}" for word in words[:-1]), f"{margin}| {words[-1]}{after}"]


def written(schema: Schema) -> dict[Path, str]:
    """Each file with its text."""
    return {
        CLIENTS / "python/openbook/types.py": python_types(schema),
        CLIENTS / "python/openbook/calls.py": python_calls(schema),
        CLIENTS / "typescript/src/schema.ts": typescript(schema),
    }


def main() -> None:
    for path, text in written(json.load(sys.stdin)).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
