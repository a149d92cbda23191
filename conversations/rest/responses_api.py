"""``/v1/responses``: the same way in for programs written for OpenAI's Responses API."""

from functools import partial
from typing import Any

from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Shape
from conversations.replies.events import Event
from conversations.rest import responses_shapes as shapes
from conversations.rest.completions_api import ChatCompletions, made_at
from conversations.rest.message_files import read_raw_text
from conversations.rest.messages_api import Frames, StartedReply
from conversations.rest.messages_body import BodyParser
from conversations.rest.messages_shapes import Json, MessagesCall


class ResponsesParser(BodyParser):
    messages = "input"

    def message_shape(self, scratch: Scratch) -> Shape:
        data = partial(read_raw_text, scratch=scratch)
        part: Shape = {**dict.fromkeys(("type", "text", "file_id", "filename")), "image_url": data, "file_data": data}
        names = ("type", "role", "call_id", "name", "arguments")
        return {**dict.fromkeys(names), "content": [part], "output": [part]}

    def is_known(self, name: str) -> bool:
        return shapes.known(name)


class Responses(ChatCompletions):
    parser_classes = [ResponsesParser]

    def read(self, body: Any) -> MessagesCall:
        return shapes.read_call(body)

    def answer(self, ending: Event, begun: StartedReply, call: MessagesCall) -> Json:
        return _answer(begun, call).whole(ending)

    def frames(self, begun: StartedReply, call: MessagesCall) -> Frames:
        return shapes.ResponseFrames(answer=_answer(begun, call))


def _answer(begun: StartedReply, call: MessagesCall) -> shapes.Answer:
    id, created = f"resp_{begun.reply.hex}", made_at(begun.reply)
    return shapes.Answer(id=id, created=created, model=begun.model, call=call)
