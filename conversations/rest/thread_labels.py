"""Tags of threads, and what several threads are given at once."""

from typing import Annotated, Any, Required, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations import wire
from conversations.models.threads import MOST_TAGS, TAG_CHARS
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described
from conversations.runtime.shapes import Id
from conversations.threads import labels

MOST_AT_ONCE = 200
Tags = Annotated[
    list[Annotated[str, {"max_length": TAG_CHARS}]],
    {"max_length": MOST_TAGS},
    f"At most {MOST_TAGS} of at most {TAG_CHARS} characters each, the person's own words for it.",
]


class ThreadsChange(TypedDict, total=False):
    ids: Required[
        Annotated[
            list[Id], {"min_length": 1, "max_length": MOST_AT_ONCE}, f"Ids of the threads, at most {MOST_AT_ONCE}."
        ]
    ]
    pinned: Annotated[bool, "`true`: they stand above the others in the list."]
    archived: Annotated[bool, "`true`: they are put away; everything of them stays."]
    project: Annotated[Id | None, "The project that they are moved into; null: out of all of them."]
    add_tags: Tags
    remove_tags: Tags


class ThreadsAnswer(TypedDict):
    results: Annotated[list[wire.ThreadAnswer], "The threads as they are now, the one that was active last first."]


class TagAnswer(TypedDict):
    tag: Annotated[str, "As it stands in the `tags` of threads."]
    threads: Annotated[int, "How many threads have it."]


class TagsAnswer(TypedDict):
    results: Annotated[list[TagAnswer], "By name."]


class TagList(APIView):
    @describe(responses=described(TagsAnswer))
    def get(self, request: Request) -> Response:
        """The tags of the caller's threads."""
        tags = labels.tags_of(caller(request))
        return Response({"results": [{"tag": tag, "threads": count} for tag, count in tags]})


def change_of(payload: ThreadsChange) -> labels.Change:
    values: dict[str, Any] = {name: payload[name] for name in ("pinned", "archived") if name in payload}
    return labels.Change(
        values=values,
        is_moved="project" in payload,
        project=payload.get("project"),
        add_tags=payload.get("add_tags", ()),
        remove_tags=payload.get("remove_tags", ()),
    )
