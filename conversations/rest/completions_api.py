"""``/v1/chat/completions``: OpenAI's Chat Completions API, by the same way in as the Messages API."""

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from conversations.errors import OpenbookError, describe
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Shape
from conversations.replies.events import Event
from conversations.rest import completions_shapes as shapes
from conversations.rest.message_files import read_raw_text
from conversations.rest.messages_api import Frames, Messages, StartedReply
from conversations.rest.messages_body import BodyParser
from conversations.rest.messages_shapes import Json, MessagesCall, error_body


class CompletionsParser(BodyParser):
    def message_shape(self, scratch: Scratch) -> Shape:
        data = partial(read_raw_text, scratch=scratch)
        part: Shape = {
            **dict.fromkeys(("type", "text")),
            "image_url": {"url": data},
            "file": {**dict.fromkeys(("file_id", "filename")), "file_data": data},
        }
        call: Shape = {**dict.fromkeys(("id", "type")), "function": dict.fromkeys(("name", "arguments"))}
        return {**dict.fromkeys(("role", "name", "tool_call_id")), "content": [part], "tool_calls": [call]}

    def is_known(self, name: str) -> bool:
        return shapes.known(name)


class ChatCompletions(Messages):
    parser_classes = [CompletionsParser]
    statuses: ClassVar[Mapping[int, int]] = shapes.STATUSES

    @staticmethod
    def error_event(error: OpenbookError) -> bytes:
        return shapes.frame(error_body(error.status, describe(error)))

    def read(self, body: Any) -> MessagesCall:
        return shapes.read_call(body)

    def answer(self, ending: Event, begun: StartedReply, call: MessagesCall) -> Json:
        return shapes.answer(ending, **_named(begun))

    def frames(self, begun: StartedReply, call: MessagesCall) -> Frames:
        return shapes.CompletionsFrames(**_named(begun), tells_usage=call.tells_usage)


def _named(begun: StartedReply) -> Any:
    return {"id": f"chatcmpl-{begun.reply.hex}", "created": made_at(begun.reply), "model": begun.model}


def made_at(reply: uuid.UUID) -> int:
    """Seconds since 1970: a reply's id begins with the milliseconds of when it was made, as a UUID of version 7."""
    return (reply.int >> 80) // 1000
