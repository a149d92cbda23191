"""Streams as servers send them that don't keep to what their protocols say, each with what is to be made of it.

Each was seen: in the issues of servers, gateways and other clients, or at a server itself. Above a stream stand reports of it
that were looked up, as ``owner/repository#number`` of GitHub's issues and pull requests.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from conversations.providers.base import (
    Finished,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
)

TEXT = "Hello wörld."
CALL = ("save", {"title": "Größe"})
ARGUMENTS = json.dumps(CALL[1], ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is made of a stream. ``end`` is its stop reason, or the code of its failure."""

    text: str = TEXT
    thoughts: tuple[str, ...] = ()
    calls: tuple[tuple[str, dict[str, Any] | None], ...] = ()
    end: str = "end_turn"
    usage: tuple[int, int] = (0, 0)


@dataclass(frozen=True, kw_only=True)
class OddStream:
    body: bytes
    told: Told
    content_type: str = "text/event-stream"


def told_by(events: Iterable[ProviderEvent], failed: str = "") -> Told:
    """Also holds that thoughts and calls are told as the provider promises: begun, then piece by piece, then whole."""
    text, thoughts, calls, end, usage = "", list[str](), list[tuple[str, dict[str, Any] | None]](), failed, Usage()
    thinking: str | None = None
    written: dict[str, str] = {}
    for event in events:
        assert not end or failed, "something came after the end"
        match event:
            case TextDelta():
                text += event.text
            case ThinkingStarted():
                assert thinking is None
                thinking = ""
            case ThinkingDelta():
                assert thinking is not None
                thinking += event.text
            case ThinkingDone():
                assert event.block["thinking"] == thinking
                thoughts, thinking = [*thoughts, thinking or ""], None
            case ToolStarted():
                written[event.id] = ""
            case ToolDelta():
                written[event.id] += event.json
            case ToolCalled():
                assert (
                    event.input is None or (json.loads(written[event.id]) if written[event.id] else {}) == event.input
                )
                calls.append((event.name, event.input))
            case Finished():
                end, usage = event.stop_reason, event.usage
    return Told(
        text=text,
        thoughts=tuple(thoughts),
        calls=tuple(calls),
        end=end,
        usage=(usage.input_tokens, usage.output_tokens),
    )


def sse(*objects: Any, end: str = "\n\n", field: str = "data: ") -> bytes:
    """Events, of which a text stands for itself."""
    told = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in objects)
    return "".join(f"{field}{line}{end}" for line in told).encode()


# Chat Completions

DONE = "[DONE]"
USAGE = {"prompt_tokens": 20, "completion_tokens": 7}


def chunk(delta: Any = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def said(text: str, reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return chunk({"content": text, **delta}, reason)


def calls(*pieces: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return chunk({"tool_calls": list(pieces)}, reason)


def piece(arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Of a call: ``name`` belongs to its function."""
    function = {"name": more.pop("name")} if "name" in more else {}
    return {**more, "function": function | ({} if arguments is None else {"arguments": arguments})}


def harmony(*parts: str) -> bytes:
    """The answer of gpt-oss, cut within its marks."""
    text = "".join(parts)
    return sse(*(said(text[at : at + 5]) for at in range(0, len(text), 5)), chunk(reason="stop"), DONE)


HELLO = (said("Hello "), said("wörld."))
ROLE = chunk({"role": "assistant", "content": ""})
END = chunk(reason="stop")
MESSAGE = {"role": "assistant", "content": TEXT}
WHOLE = {
    "id": "c",
    "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": USAGE,
}
FIGURES = {"choices": [], "usage": USAGE}
THOUGHT = Told(thoughts=("So.",))
CALLED = Told(text="", calls=(CALL,), end="tool_use")
TWICE = Told(text="", calls=(CALL, CALL), end="tool_use")
SAID_AND_CALLED = Told(calls=(CALL,), end="tool_use")
FIGURED = Told(usage=(20, 7))
FINISHED_CALL = chunk(reason="tool_calls")


def chat(body: bytes, told: Told | None = None, content_type: str = "text/event-stream") -> OddStream:
    return OddStream(body=body, told=told or Told(), content_type=content_type)


CHAT = {
    # What ends a stream
    "stop with each chunk": chat(sse(said("Hello ", "stop"), said("wörld.", "stop"), DONE)),
    "stop with each chunk, no end": chat(sse(said("Hello ", "stop"), said("wörld.", "stop"))),
    "stop with the first, empty chunk": chat(sse(chunk({"role": "assistant"}, "stop"), *HELLO, DONE)),
    "stop midway": chat(sse(said("Hello "), END, said("wörld."), END, DONE)),
    "stop midway, then none": chat(sse(said("Hello "), END, said("wörld."), DONE)),
    # open-webui/open-webui#16377
    "stop with thoughts": chat(sse(chunk({"reasoning_content": "So."}, "stop"), *HELLO, END, DONE), THOUGHT),
    "stop before a call": chat(sse(*HELLO, END, calls(piece(ARGUMENTS, name="save", id="a")), DONE), SAID_AND_CALLED),
    # RayBytes/ChatMock#114
    "tool_calls, then stop": chat(sse(calls(piece(ARGUMENTS, name="save", id="a")), FINISHED_CALL, END, DONE), CALLED),
    "tool_calls, but none came": chat(sse(*HELLO, FINISHED_CALL, DONE), Told(end="unknown")),
    "calls, then text": chat(
        sse(calls(piece(ARGUMENTS, name="save", id="a"), reason="tool_calls"), *HELLO, END, DONE), SAID_AND_CALLED
    ),
    "length, then stop": chat(sse(*HELLO, chunk(reason="length"), END, DONE), Told(end="max_tokens")),
    "stop with each, then length": chat(
        sse(said("Hello ", "stop"), said("wörld.", "stop"), chunk(reason="length"), DONE), Told(end="max_tokens")
    ),
    "reason in capitals": chat(sse(*HELLO, chunk(reason="MAX_TOKENS"), DONE), Told(end="max_tokens")),
    "finishReason": chat(sse(*HELLO, {"choices": [{"delta": {}, "finishReason": "STOP"}]})),
    "reason beside an empty one": chat(
        sse(*HELLO, {"choices": [{"delta": {}, "finish_reason": None, "finishReason": "stop"}]})
    ),
    "null as a word": chat(sse(said("Hello ", "null"), said("wörld.", "null"), END, DONE)),
    "empty reasons": chat(sse(said("Hello ", ""), said("wörld.", ""), chunk(reason="length")), Told(end="max_tokens")),
    "no reason, DONE": chat(sse(*HELLO, DONE), Told(end="unknown")),
    "no reason, figures": chat(sse(*HELLO, FIGURES), Told(end="unknown", usage=(20, 7))),
    "no reason, no end": chat(sse(*HELLO), Told(end="unknown")),
    "a call without a reason": chat(sse(calls(piece(ARGUMENTS, name="save", id="a"))), CALLED),
    "a call that is cut off": chat(
        sse(calls(piece(ARGUMENTS[:-3], name="save", id="a"))), Told(text="", end="cut_off")
    ),
    "nothing": chat(sse(ROLE), Told(text="", end="cut_off")),
    "an error after the end": chat(sse(*HELLO, END, {"error": {"message": "no figures"}})),
    "garbage after the end": chat(sse(*HELLO, END, "{half")),
    # The whole once more
    # abundantbeing/hermes-browser-extension#11
    "message at the end": chat(sse(*HELLO, WHOLE, DONE), FIGURED),
    "message beside the last delta": chat(
        sse(*HELLO, {"choices": [{"delta": {"content": ""}, "message": MESSAGE, "finish_reason": "stop"}]}, DONE)
    ),
    "message beside each delta": chat(
        sse(
            *(
                {"choices": [{"delta": {"content": new}, "message": {"content": all_}, "finish_reason": reason}]}
                for new, all_, reason in (("Hello ", "Hello ", None), ("wörld.", TEXT, "stop"))
            )
        )
    ),
    "message with the rest": chat(sse(said("Hello "), WHOLE), FIGURED),
    "message without deltas": chat(sse(WHOLE), FIGURED),
    "message with thoughts and calls again": chat(
        sse(
            chunk({"reasoning_content": "So."}),
            *HELLO,
            calls(piece(ARGUMENTS, name="save", id="a")),
            {
                "choices": [
                    {
                        "message": MESSAGE
                        | {"reasoning_content": "So.", "tool_calls": [piece(ARGUMENTS, name="save", id="a")]},
                        "finish_reason": "tool_calls",
                    }
                ]
            },
        ),
        Told(thoughts=("So.",), calls=(CALL,), end="tool_use"),
    ),
    "message with calls only": chat(
        sse(*HELLO, {"choices": [{"message": {"tool_calls": [piece(ARGUMENTS, name="save")]}}]}, DONE), SAID_AND_CALLED
    ),
    # infiniflow/ragflow#15443
    "last delta is all": chat(sse(*HELLO, said(TEXT, "stop"), DONE)),
    "a delta before the end is all": chat(sse(*HELLO, said(TEXT), END, DONE)),
    "last delta is the answer without the thoughts": chat(
        sse(said("<think>So.</think>"), *HELLO, said(TEXT, "stop"), DONE), THOUGHT
    ),
    "each delta is all so far": chat(
        sse(said("Hel"), said("Hello "), said("Hello wör"), said(TEXT), said(TEXT, "stop"))
    ),
    # can1357/oh-my-pi#2434
    "thoughts that are all so far": chat(
        sse(
            *(chunk({"reasoning_details": [{"type": "reasoning.text", "text": "I count."[:n]}]}) for n in (2, 4, 8, 8)),
            *HELLO,
            END,
        ),
        Told(thoughts=("I count.",)),
    ),
    "said twice by the model": chat(sse(said("ha"), said("ha"), END), Told(text="haha")),
    "said thrice by the model": chat(sse(*map(said, ["No. ", "No. ", "No. "]), END), Told(text="No. No. No. ")),
    # Thoughts
    # MoonshotAI/kimi-code#3928
    "thoughts in two fields": chat(
        sse(chunk({"reasoning": "So.", "reasoning_content": "So."}), *HELLO, END, DONE), THOUGHT
    ),
    # can1357/oh-my-pi#2434
    "thoughts in a field and in tags": chat(
        sse(
            chunk({"content": "<think>"}),
            *(chunk({"reasoning_content": part, "content": part}) for part in ("S", "o.")),
            said("</think>\n\n"),
            *HELLO,
            END,
        ),
        THOUGHT,
    ),
    "thoughts in a field, then in tags": chat(
        sse(chunk({"reasoning_content": "So."}), said("<think>\nSo.\n</think>\n\nHello "), said("wörld.", "stop")),
        THOUGHT,
    ),
    "other thoughts in tags": chat(
        sse(chunk({"reasoning_content": "So."}), said("<think>Or.</think>Hello "), said("wörld.", "stop")),
        Told(thoughts=("So.", "Or.")),
    ),
    "thoughts in both that never end": chat(
        sse(chunk({"reasoning_content": "So it goes"}), said("<think>So it"), chunk(reason="length")),
        Told(text="", thoughts=("So it goes",), end="max_tokens"),
    ),
    # deepseek-ai/DeepSeek-R1#506
    "</think> alone": chat(sse(said("</thi"), said("nk>\n\n"), *HELLO, END)),
    # vllm-project/vllm#13125, open-webui/open-webui#9808
    "the whole, opened by the prompt": chat(
        sse({"choices": [{"message": {"content": f"So.\n</think>\n\n{TEXT}"}, "finish_reason": "stop"}]}), THOUGHT
    ),
    "<thinking>": chat(sse(said("<thin"), said("king>So.</think"), said("ing>\n"), *HELLO, END), THOUGHT),
    "<reasoning>": chat(sse(said("<reasoning>So.</reasoning>"), *HELLO, END), THOUGHT),
    "<thought>": chat(sse(said("<thought>So.</thought>"), *HELLO, END), THOUGHT),
    "thoughts of two": chat(sse(said("<think>So.</think><think>Or.</think>"), *HELLO, END), Told(thoughts=("So.Or.",))),
    # InternLM/lmdeploy#3954, johnbean393/Sidekick#75
    "gpt-oss": chat(
        harmony(
            "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>", TEXT, "<|return|>"
        ),
        THOUGHT,
    ),
    # vllm-project/vllm#23694
    "gpt-oss that only answers": chat(harmony("<|start|>assistant<|channel|>final<|message|>", TEXT)),
    "gpt-oss that calls": chat(
        harmony(
            "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>commentary<|message|>",
            TEXT,
            "<|end|><|start|>assistant<|channel|>commentary to=functions.save <|constrain|>json<|message|>",
            ARGUMENTS,
            "<|call|>",
        ),
        Told(thoughts=("So.",), calls=(CALL,), end="tool_use"),
    ),
    "gpt-oss that is called before its channel": chat(
        harmony("<|start|>assistant to=functions.save<|channel|>commentary json<|message|>", ARGUMENTS), CALLED
    ),
    # Calls
    # ollama/ollama#7881, AstrBotDevs/AstrBot#6661
    "calls without an index": chat(
        sse(
            calls(piece("", name="save", id="a")),
            calls(piece(ARGUMENTS[:4])),
            calls(piece(ARGUMENTS[4:])),
            calls(piece(ARGUMENTS, name="save", id="b")),
            FINISHED_CALL,
        ),
        TWICE,
    ),
    # ollama/ollama#15457, BerriAI/litellm#33678
    "calls of one index": chat(
        sse(calls(piece(ARGUMENTS, name="save", id="a", index=0), piece(ARGUMENTS, name="save", id="b", index=0)), END),
        TWICE,
    ),
    # langchain4j/langchain4j#6230
    "calls of one index without an id": chat(
        sse(calls(piece(ARGUMENTS, name="save", index=0)), calls(piece(ARGUMENTS, name="save", index=0)), END), TWICE
    ),
    # mike-nott/mcp-assist#42, BerriAI/litellm#37792
    "an object for arguments": chat(sse(calls(piece(CALL[1], name="save", id="a")), END), CALLED),
    # sgl-project/sglang#6310
    "an index that counts on": chat(
        sse(
            calls(piece("", name="save", id="a", index=0)),
            calls(piece(ARGUMENTS[:4], index=1)),
            calls(piece(ARGUMENTS[4:], index=2)),
            FINISHED_CALL,
        ),
        CALLED,
    ),
    "another id with each piece": chat(
        sse(
            calls(piece(ARGUMENTS[:4], name="save", id="a", index=0)),
            calls(piece(ARGUMENTS[4:], id="b", index=0)),
            FINISHED_CALL,
        ),
        CALLED,
    ),
    # vllm-project/vllm-ascend#8178
    "the name with each piece": chat(
        sse(
            calls(piece(ARGUMENTS[:4], name="save", id="a", index=0)),
            calls(piece(ARGUMENTS[4:], name="save", id="a", index=0)),
            FINISHED_CALL,
        ),
        CALLED,
    ),
    # bigduu/Bamboo-agent#377
    "pieces that interleave": chat(
        sse(
            *(calls(piece("", name="save", id=id, index=index)) for index, id in enumerate("ab")),
            *(calls(piece(part, index=index)) for part in (ARGUMENTS[:4], ARGUMENTS[4:]) for index in (0, 1)),
            FINISHED_CALL,
        ),
        TWICE,
    ),
    "an empty object first": chat(
        sse(calls(piece("{}", name="save", id="a", index=0)), calls(piece(ARGUMENTS, index=0)), FINISHED_CALL), CALLED
    ),
    "no arguments": chat(
        sse(calls(piece("{}", name="save", id="a", index=0)), FINISHED_CALL),
        Told(text="", calls=(("save", {}),), end="tool_use"),
    ),
    "arguments at once, and again": chat(
        sse(
            calls(piece(ARGUMENTS[:4], name="save", id="a", index=0)),
            calls(piece(ARGUMENTS[4:], index=0)),
            calls(piece(ARGUMENTS, name="save", id="a", index=0), reason="tool_calls"),
        ),
        CALLED,
    ),
    "the name comes last": chat(
        sse(calls(piece(ARGUMENTS, id="a", index=0)), calls(piece("", name="save", index=0)), FINISHED_CALL), CALLED
    ),
    "one call without a list": chat(sse(chunk({"tool_calls": piece(ARGUMENTS, name="save")}), END), CALLED),
    "function_call": chat(
        sse(
            chunk({"function_call": {"name": "save", "arguments": ""}}),
            chunk({"function_call": {"arguments": ARGUMENTS}}),
            chunk(reason="function_call"),
        ),
        CALLED,
    ),
    "an empty function_call": chat(
        sse(*HELLO, chunk({"content": None, "function_call": {"name": "", "arguments": ""}}, "stop"))
    ),
    "an empty call": chat(sse(*HELLO, calls({"index": 0, "function": {"name": "", "arguments": ""}}, reason="stop"))),
    # Lines and bytes
    "no space after data:": chat(sse(*HELLO, END, DONE, field="data:")),
    "CRLF": chat(sse(*HELLO, END, DONE, end="\r\n\r\n")),
    "CR": chat(sse(*HELLO, END, DONE, end="\r\r")),
    "a byte order mark": chat(b"\xef\xbb\xbf" + sse(*HELLO, END, DONE)),
    "a byte order mark before JSON": chat(b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), FIGURED),
    "comments and pings": chat(
        b": hi\n\n" + sse(HELLO[0]) + b"event: ping\ndata: {}\n\n:\n\ndata:\n\nevent: ping\n\n" + sse(HELLO[1], END)
    ),
    "pings that are no JSON": chat(b"event: heartbeat\ndata: tick\n\n" + sse(*HELLO, END)),
    "names, ids and times": chat(
        b"".join(b"event: message\nid: 1\nretry: 5\n" + sse(each) for each in (*HELLO, END, DONE))
    ),
    "several lines of data": chat(
        b"".join(
            b"".join(b"data: " + line + b"\n" for line in json.dumps(each, indent=1).encode().splitlines()) + b"\n"
            for each in (*HELLO, END)
        )
    ),
    "no empty lines": chat(sse(*HELLO, END, DONE, end="\n")),
    "data: twice": chat(sse(*HELLO, END, DONE, field="data: data: ")),
    "no last line end": chat(sse(*HELLO, END).rstrip()),
    "the end in quotes": chat(sse(*HELLO, END, '"[DONE]"')),
    "one object a line": chat(
        b"".join(json.dumps(each).encode() + b"\n" for each in (*HELLO, END)), content_type="application/x-ndjson"
    ),
    "Ollama's own shape": chat(
        b"".join(
            json.dumps(each).encode() + b"\n"
            for each in (
                {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "So."}, "done": False},
                {"model": "m", "message": {"role": "assistant", "content": TEXT}, "done": False},
                {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
            )
        ),
        THOUGHT,
        "application/x-ndjson",
    ),
    "one document": chat(json.dumps(WHOLE).encode(), FIGURED, "application/json"),
    "one document on many lines": chat(json.dumps(WHOLE, indent=2).encode(), FIGURED),
    "events that are called JSON": chat(sse(*HELLO, END, DONE), content_type="application/json"),
    "events that are called a page": chat(sse(*HELLO, END, DONE), content_type="text/html; charset=UTF-8"),
    # Chunks
    "figures at the end": chat(sse(*HELLO, END, FIGURES, DONE), FIGURED),
    "figures with choices that are null": chat(sse(*HELLO, END, {"choices": None, "usage": USAGE}), FIGURED),
    "figures with each chunk": chat(
        sse(
            *(
                each | {"usage": {"prompt_tokens": 20, "completion_tokens": n}}
                for n, each in ((3, HELLO[0]), (7, HELLO[1]))
            ),
            END,
        ),
        FIGURED,
    ),
    "empty choices": chat(sse({"choices": [], "prompt_filter_results": []}, *HELLO, END, DONE)),
    "null deltas": chat(
        sse(
            {"choices": [{"delta": None, "finish_reason": None}]},
            *HELLO,
            {"choices": [{"delta": None, "finish_reason": "stop"}]},
        )
    ),
    "null in all fields": chat(
        sse(chunk(dict.fromkeys(("role", "content", "reasoning_content", "tool_calls", "refusal"))), *HELLO, END)
    ),
    "role with each chunk": chat(sse(*(said(part, role="") for part in ("Hello ", "wörld.")), END)),
    "a list of parts": chat(
        sse(chunk({"content": [{"type": "text", "text": "Hello "}, "wör"]}), chunk({"content": {"text": "ld."}}), END)
    ),
    "thoughts as a part": chat(
        sse(chunk({"content": [{"type": "reasoning", "text": "So."}, {"type": "text", "text": TEXT}]}), END), THOUGHT
    ),
    "text of completions": chat(
        sse({"choices": [{"text": "Hello "}]}, {"choices": [{"text": "wörld.", "finish_reason": "stop"}]})
    ),
    # Errors
    "an error in mid-stream": chat(
        sse(*HELLO, {"error": {"message": "Slow down", "code": 429}}), Told(end="rate_limited")
    ),
    "an error with a chunk's fields": chat(
        sse(*HELLO, chunk(reason="error", error={"code": 502, "message": "gone"})), Told(end="server_error")
    ),
    "an error by its name": chat(sse(*HELLO) + b"event: error\ndata: it broke\n\n", Told(end="server_error")),
    "an error by its name, as JSON": chat(
        sse(*HELLO) + b'event: error\ndata: {"message": "?", "type": "overloaded_error"}\n\n', Told(end="overloaded")
    ),
    "an error without a field": chat(
        sse(*HELLO) + b'{"error": {"message": "?", "code": 429}}\n', Told(end="rate_limited")
    ),
    "an empty error": chat(sse(*(each | {"error": {"code": None, "message": ""}} for each in (*HELLO, END)))),
    "an error as a word": chat(sse(*HELLO, {"error": "it broke"}), Told(end="server_error")),
    "a web page": chat(b"<!doctype html><title>Sign in</title>", Told(text="", end="web_page"), "text/html"),
    "a web page that is called a stream": chat(b"\n<html>", Told(text="", end="web_page")),
    "a greeting": chat(b"Ollama is running", Told(text="", end="web_page"), "text/plain"),
}


# The Messages API

STARTED = {"type": "message_start", "message": {"id": "msg", "model": "m", "usage": {"input_tokens": 20}}}
STOPPED = {"type": "message_stop"}


def begin(block: dict[str, Any], **index: int) -> dict[str, Any]:
    return {"type": "content_block_start", **index, "content_block": block}


def delta(part: dict[str, Any], **index: int) -> dict[str, Any]:
    return {"type": "content_block_delta", **index, "delta": part}


def words(text: str, **index: int) -> dict[str, Any]:
    return delta({"type": "text_delta", "text": text}, **index)


def thinks(text: str, **index: int) -> dict[str, Any]:
    return delta({"type": "thinking_delta", "thinking": text}, **index)


def writes(arguments: Any, **index: int) -> dict[str, Any]:
    return delta({"type": "input_json_delta", "partial_json": arguments}, **index)


def over(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def why(reason: str | None, field: str = "stop_reason") -> dict[str, Any]:
    return {"type": "message_delta", "delta": {field: reason}, "usage": {"output_tokens": 7}}


BLOCK = begin({"type": "text", "text": ""}, index=0)
TOLD = (BLOCK, words("Hello ", index=0), words("wörld.", index=0))
SAVE = {"type": "tool_use", "id": "t", "name": "save", "input": {}}
THINKING = {"type": "thinking", "thinking": ""}
ENDED = Told(usage=(20, 7))
ENDED_THOUGHT = Told(thoughts=("So.",), usage=(20, 7))
ENDED_CALL = Told(text="", calls=(CALL,), end="tool_use", usage=(20, 7))
MESSAGE_WHOLE = {
    "type": "message",
    "id": "msg",
    "model": "m",
    "content": [{**THINKING, "thinking": "So."}, {"type": "text", "text": TEXT}, {**SAVE, "input": CALL[1]}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 20, "output_tokens": 7},
}


def messages(*events: dict[str, Any] | str, told: Told = ENDED) -> OddStream:
    return OddStream(body=sse(*events), told=told)


MESSAGES = {
    "a block without its end": messages(STARTED, *TOLD, why("end_turn"), STOPPED),
    # BerriAI/litellm#32159
    "no message_stop": messages(STARTED, *TOLD, over(0), why("end_turn")),
    "<think>": messages(
        STARTED,
        BLOCK,
        *(words(part, index=0) for part in ("<thi", "nk>So", ".</think>\n", TEXT)),
        over(0),
        why("end_turn"),
        STOPPED,
        told=ENDED_THOUGHT,
    ),
    "<thinking> that never ends": messages(
        STARTED,
        BLOCK,
        words("<thinking>So.", index=0),
        over(0),
        why("max_tokens"),
        STOPPED,
        told=Told(text="", thoughts=("So.",), end="max_tokens", usage=(20, 7)),
    ),
    "a thought and <think>": messages(
        STARTED,
        begin(THINKING, index=0),
        thinks("So.", index=0),
        over(0),
        begin({"type": "text", "text": ""}, index=1),
        words("<think>Or.</think>" + TEXT, index=1),
        over(1),
        why("end_turn"),
        STOPPED,
        told=Told(thoughts=("So.", "Or."), usage=(20, 7)),
    ),
    "<think>, then a call": messages(
        STARTED,
        BLOCK,
        words("<think>So.</think>", index=0),
        over(0),
        begin(SAVE, index=1),
        writes(ARGUMENTS, index=1),
        over(1),
        why("tool_use"),
        STOPPED,
        told=Told(text="", thoughts=("So.",), calls=(CALL,), end="tool_use", usage=(20, 7)),
    ),
    "</think> alone": messages(
        STARTED, BLOCK, words("</think>\n\n", index=0), words(TEXT, index=0), over(0), why("end_turn"), STOPPED
    ),
    # ggml-org/llama.cpp#11861
    "the message alone, opened by the prompt": OddStream(
        body=json.dumps(
            MESSAGE_WHOLE
            | {"content": [{"type": "text", "text": f"So.\n</think>\n\n{TEXT}"}], "stop_reason": "end_turn"}
        ).encode(),
        told=ENDED_THOUGHT,
        content_type="application/json",
    ),
    "DONE for message_stop": messages(STARTED, *TOLD, over(0), why("end_turn"), "[DONE]"),
    "DONE before message_stop": messages(STARTED, *TOLD, over(0), why("end_turn"), "[DONE]", STOPPED),
    "DONE without a reason": messages(STARTED, *TOLD, over(0), "[DONE]", told=Told(end="unknown", usage=(20, 0))),
    "message_stop without a reason": messages(
        STARTED, *TOLD, over(0), STOPPED, told=Told(end="unknown", usage=(20, 0))
    ),
    # tbphp/gpt-load#736, maximhq/bifrost#6081
    "neither": messages(STARTED, *TOLD, over(0), told=Told(end="cut_off")),
    "a reason of Chat Completions": messages(STARTED, *TOLD, over(0), why("stop", "finish_reason"), STOPPED),
    "stopReason": messages(STARTED, *TOLD, over(0), why("end_turn", "stopReason"), STOPPED),
    "a reason before the end of the text": messages(
        STARTED, *TOLD[:2], why("end_turn"), TOLD[2], why("end_turn"), STOPPED
    ),
    "end_turn after a call": messages(
        STARTED, begin(SAVE, index=0), writes(ARGUMENTS, index=0), over(0), why("end_turn"), STOPPED, told=ENDED_CALL
    ),
    "a call without its end": messages(
        STARTED, begin(SAVE, index=0), writes(ARGUMENTS, index=0), why("tool_use"), STOPPED, told=ENDED_CALL
    ),
    "a call that is cut off": messages(
        STARTED,
        begin(SAVE, index=0),
        writes(ARGUMENTS[:-3], index=0),
        why("tool_use"),
        STOPPED,
        told=Told(text="", end="cut_off"),
    ),
    "a call at once": messages(
        STARTED, begin({**SAVE, "input": CALL[1]}, index=0), over(0), why("tool_use"), STOPPED, told=ENDED_CALL
    ),
    "an object for the JSON": messages(
        STARTED, begin(SAVE, index=0), writes(CALL[1], index=0), over(0), why("tool_use"), STOPPED, told=ENDED_CALL
    ),
    "calls of one index": messages(
        STARTED,
        *(begin(SAVE, index=0), writes(ARGUMENTS, index=0)) * 2,
        why("tool_use"),
        STOPPED,
        told=Told(text="", calls=(CALL, CALL), end="tool_use", usage=(20, 7)),
    ),
    # ihsan-ramadhan/bansos-router#3
    "a thought without its end": messages(
        STARTED,
        begin(THINKING, index=0),
        thinks("So.", index=0),
        begin(BLOCK["content_block"], index=1),
        words(TEXT, index=1),
        over(1),
        why("end_turn"),
        STOPPED,
        told=ENDED_THOUGHT,
    ),
    "a thought without its beginning": messages(
        STARTED, thinks("So.", index=0), over(0), *TOLD, why("end_turn"), STOPPED, told=ENDED_THOUGHT
    ),
    "no beginnings": messages(STARTED, words("Hello "), words("wörld."), why("end_turn"), STOPPED),
    "no message_start": messages(*TOLD, over(0), why("end_turn"), STOPPED, told=Told(usage=(0, 7))),
    # decolua/9router#2218
    "no index": messages(
        STARTED,
        begin(THINKING),
        thinks("So."),
        {"type": "content_block_stop"},
        begin({"type": "text", "text": ""}),
        words(TEXT),
        {"type": "content_block_stop"},
        begin(SAVE),
        writes(ARGUMENTS),
        {"type": "content_block_stop"},
        why("tool_use"),
        STOPPED,
        told=Told(thoughts=("So.",), calls=(CALL,), end="tool_use", usage=(20, 7)),
    ),
    "a last delta that is all": messages(STARTED, *TOLD, words(TEXT, index=0), over(0), why("end_turn"), STOPPED),
    "the message at the end": messages(
        STARTED, *TOLD, over(0), why("tool_use"), MESSAGE_WHOLE, STOPPED, told=Told(end="tool_use", usage=(20, 7))
    ),
    "the message alone": OddStream(
        body=json.dumps(MESSAGE_WHOLE).encode(),
        told=Told(thoughts=("So.",), calls=(CALL,), end="tool_use", usage=(20, 7)),
        content_type="application/json",
    ),
    "types as names only": OddStream(
        body=b"".join(
            f"event: {each['type']}\n".encode() + sse({name: part for name, part in each.items() if name != "type"})
            for each in (STARTED, *TOLD, over(0), why("end_turn"), STOPPED)
        ),
        told=ENDED,
    ),
    "a byte order mark": OddStream(
        body=b"\xef\xbb\xbf" + sse(STARTED, *TOLD, over(0), why("end_turn"), STOPPED), told=ENDED
    ),
    "CR": OddStream(body=sse(STARTED, *TOLD, over(0), why("end_turn"), STOPPED, end="\r\r"), told=ENDED),
    "no empty lines": OddStream(body=sse(STARTED, *TOLD, over(0), why("end_turn"), STOPPED, end="\n"), told=ENDED),
    "one object a line": OddStream(
        body=sse(STARTED, *TOLD, over(0), why("end_turn"), STOPPED, end="\n", field=""), told=ENDED
    ),
    "usage that is null": messages(
        STARTED, *TOLD, over(0), {**why("end_turn"), "usage": None}, STOPPED, told=Told(usage=(20, 0))
    ),
    "an error without its type": messages(STARTED, *TOLD, {"error": {"message": "?"}}, told=Told(end="server_error")),
    "an error by its name": OddStream(
        body=sse(STARTED, *TOLD) + b"event: error\ndata: it broke\n\n", told=Told(end="server_error")
    ),
    "an error after the end": messages(STARTED, *TOLD, over(0), why("end_turn"), {"type": "error"}),
    "a web page": OddStream(body=b"<!doctype html>", told=Told(text="", end="web_page"), content_type="text/html"),
}

# The Claude CLI, which writes an object a line


def lines(*events: dict[str, Any], told: Told = ENDED) -> OddStream:
    wrapped = ({"type": "stream_event", "event": event} for event in events)
    return OddStream(body=sse(*wrapped, {"type": "result"}, end="\n", field=""), told=told)


CLI = {
    "a block without its end": lines(STARTED, *TOLD, why("end_turn"), STOPPED),
    "no message_stop": lines(STARTED, *TOLD, over(0), why("end_turn")),
    "a thought without its end": lines(
        STARTED,
        begin(THINKING, index=0),
        thinks("So.", index=0),
        *(each | {"index": 1} for each in TOLD),
        over(1),
        why("end_turn"),
        STOPPED,
        told=ENDED_THOUGHT,
    ),
    "neither": lines(STARTED, *TOLD, over(0), told=Told(end="cut_off")),
}
