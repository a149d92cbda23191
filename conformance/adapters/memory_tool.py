"""The memory tool of the Anthropic API, as a client has it: the model asks for file commands, the client carries them out.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool. The files are a folder a person, in this process;
the conversation is the client's own list of messages, sent whole each time.
"""

import json
import secrets
from typing import Any

from conformance.adapters.options import Options
from conformance.http import Api
from conformance.memory import Ability, ChatMemory, Evidence, MemoryFailed

MODEL, MAX_TOKENS, ROUNDS = "claude-sonnet-5-5", 2000, 12
TOOL = {"type": "memory_20250818", "name": "memory"}
ROOT = "/memories"

Message = dict[str, Any]


class MemoryFiles:
    """Files by path below ``/memories``, with the tool's commands."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def carry_out(self, command: dict[str, Any]) -> str:
        """What the tool answers; errors are told in words, as its documentation says."""
        path = str(command.get("path") or command.get("old_path") or "")
        if ".." in path or not f"{path}/".startswith(f"{ROOT}/"):
            return f"Error: {path} is not below {ROOT}"
        match command:
            case {"command": "view"}:
                return self._viewed(path)
            case {"command": "create", "file_text": str(text)}:
                self.files[path] = text
                return f"File created successfully at: {path}"
            case {"command": "delete"}:
                self.files = {name: text for name, text in self.files.items() if not f"{name}/".startswith(f"{path}/")}
                return f"Successfully deleted {path}"
            case {"command": "rename", "new_path": str(new)}:
                self.files[new] = self.files.pop(path, "")
                return f"Successfully renamed {path} to {new}"
            case {"command": "str_replace", "old_str": str(old), "new_str": str(new)} if old in self.files.get(
                path, ""
            ):
                self.files[path] = self.files[path].replace(old, new, 1)
                return "The memory file has been edited."
            case {"command": "insert", "insert_line": int(line), "insert_text": str(text)} if path in self.files:
                lines = self.files[path].splitlines()
                self.files[path] = "\n".join([*lines[:line], text.rstrip("\n"), *lines[line:]])
                return f"The file {path} has been edited."
        return f"Error: the command {command.get('command')} can't be carried out for {path}"

    def _viewed(self, path: str) -> str:
        if path in self.files:
            lines = self.files[path].splitlines()
            numbered = [f"{number:6d}\t{line}" for number, line in enumerate(lines, 1)]
            return "\n".join([f"Here's the content of {path} with line numbers:", *numbered])
        names = [f"{len(text)}\t{name}" for name, text in sorted(self.files.items()) if name.startswith(f"{path}/")]
        return "\n".join([f"Here're the files and directories up to 2 levels deep in {path}:", f"0\t{path}", *names])


class MemoryTool(ChatMemory):
    """Judged by what the model read from its files for the message, what stands before it, and what it answered."""

    name = "memory tool"
    abilities = frozenset(
        {
            *(Ability.SAY, Ability.CONTEXT, Ability.PEOPLE),
            *(Ability.EDIT, Ability.NOTES),
        }
    )

    def __init__(self, options: Options) -> None:
        self._api = Api(options.url, {"x-api-key": options.token or "none", "anthropic-version": "2023-06-01"})
        self._folders = {person: MemoryFiles() for person in self.people}
        self._threads: dict[str, list[Message]] = {}
        self._places: dict[str, int] = {}

    def open_thread(self, person: str, *, project: str = "", temporary: bool = False) -> str:
        thread = secrets.token_hex(6)
        self._threads[thread] = []
        return thread

    def say(self, person: str, thread: str, text: str, *, edits: str = "") -> str:
        before = self._threads[thread][: self._places[edits]] if edits else self._threads[thread]
        self._threads[thread] = self._answered(person, [*before, {"role": "user", "content": text}])
        turn = secrets.token_hex(6)
        self._places[turn] = len(before)
        return turn

    def context(self, person: str, thread: str, text: str) -> Evidence:
        asked = [*self._threads[thread], {"role": "user", "content": text}]
        messages = self._answered(person, asked)
        return Evidence(source="context", messages=[*messages[: len(asked) - 1], *messages[len(asked) :]])

    def notes(self, person: str) -> list[str]:
        return [*self._folders[person].files.values()]

    def clear(self) -> None:
        self._folders = {person: MemoryFiles() for person in self.people}
        self._threads.clear()
        self._places.clear()

    def close(self) -> None:
        self._api.close()

    def _answered(self, person: str, messages: list[Message]) -> list[Message]:
        """The messages with what came of the last one: file commands, their results and an answer."""
        for _ in range(ROUNDS):
            body = {"model": MODEL, "max_tokens": MAX_TOKENS, "messages": messages, "tools": [TOOL]}
            content = self._api.call("POST", "/v1/messages", body)["content"]
            messages = [*messages, {"role": "assistant", "content": content}]
            calls = [block for block in content if block["type"] == "tool_use"]
            if not calls:
                return messages
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": self._folders[person].carry_out(call["input"]),
                }
                for call in calls
            ]
            messages = [*messages, {"role": "user", "content": results}]
        raise MemoryFailed(f"No answer after {ROUNDS} rounds: {json.dumps(messages[-1])[:300]}")
