"""The caller's scheduled messages: sent by the server at a time, once or again and again."""

from datetime import datetime, time
from typing import Annotated, NotRequired, TypedDict

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.errors import InvalidSchedule
from conversations.models import Reply, Schedule
from conversations.models.schedules import CONTENT_CHARS
from conversations.rest.base import APIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Clean, Id, Slug, Time, fill
from conversations.schedules import schedules
from conversations.schedules.schedules import Times
from conversations.schedules.times import DAYS, numbers_of, rule_of


def is_time(value: str) -> None:
    try:
        if len(value) != 5:
            raise ValueError
        time.fromisoformat(value)
    except ValueError:
        raise ValidationError("It must be a time of day, such as 08:00.") from None


Content = Annotated[Clean, {"max_length": CONTENT_CHARS}, f"What is sent, at most {CONTENT_CHARS:,} characters."]
At = Annotated[datetime, "When it is sent once, in place of `rule`: a time to come."]
Zone = Annotated[
    str, {"max_length": 64}, "That `rule` means, such as `Europe/Lisbon`. Left out: the one of `GET preferences/`."
]


class Rule(TypedDict):
    """When it is sent again and again."""

    days: Annotated[list[Annotated[str, DAYS]], {"allow_empty": False}, "Days of the week."]
    time: Annotated[str, {"validators": [is_time]}, "Time of day, such as `08:00`, daylight saving time minded."]


class NewSchedule(TypedDict):
    content: Content
    thread: NotRequired[
        Annotated[Id, "Where it is sent. Left out: the first message opens a thread, later ones go there."]
    ]
    assistant: NotRequired[Annotated[Slug, "Of the thread that it opens. Left out: the first one offered."]]
    at: NotRequired[At]
    rule: NotRequired[Annotated[Rule, "When it is sent again and again, in place of `at`."]]
    time_zone: NotRequired[Zone]


class ScheduleChange(TypedDict, total=False):
    content: Content
    at: At
    rule: Annotated[Rule, "When it is sent again and again, in place of `at`."]
    time_zone: Zone
    paused: Annotated[bool, "`true`: nothing is sent. What `rule` missed until it goes on is not sent later."]


class ScheduleAnswer(TypedDict):
    id: Annotated[Id, "Id of the scheduled message."]
    thread: Annotated[Id | None, "Where it is sent; null: the first message opens a thread."]
    assistant: Annotated[str, "Of the thread that it opens; empty: the first one offered, or it has a thread."]
    content: Annotated[str, "What is sent."]
    at: Annotated[Time | None, "When it is sent once; null: it has a `rule`."]
    rule: Annotated[Rule | None, "When it is sent again and again; null: it is sent once."]
    time_zone: Annotated[str, "That `rule` means."]
    next_at: Annotated[Time | None, "The time of the next message; past: it waits. Null: there is none any more."]
    paused: Annotated[bool, "`true`: nothing is sent."]
    last_due_at: Annotated[Time | None, "The time of the newest message that was sent or tried; null: none was."]
    last_sent_at: Annotated[Time | None, "When a message was last sent."]
    late: Annotated[
        bool, "Whether that was five minutes after its time or later, as the server or a limit had no room."
    ]
    last_reply: Annotated[Id | None, "Id of the reply to the message that was sent last."]
    last_status: Annotated[str, ("", *Reply.Status.values), "Of that reply; empty: there is none, or it is deleted."]
    last_error: Annotated[
        str,
        "Code of the error that kept it from being sent, such as `rate_limited`: it is tried again until there is room; after "
        "an error that does not pass it is paused. Empty: it was sent.",
    ]
    created_at: Annotated[Time, "When it was made."]
    updated_at: Annotated[Time, "When it was last changed."]


class ScheduleList(APIView):
    pagination_class = ordered_by("-id")

    @describe(responses=described(ScheduleAnswer, many=True))
    def get(self, request: Request) -> Response:
        """The caller's scheduled messages, newest first."""
        return self.page(request, schedules.of(caller(request)), lambda page: _objects(request, page))

    @describe(request=described(NewSchedule), responses={201: described(ScheduleAnswer)})
    def post(self, request: Request) -> Response:
        """Have a message sent at a time, or on days of the week at a time: its reply waits in the thread. Limits and budgets
        count as for any message, also those of the token that made it."""
        fields = valid(NewSchedule, request)
        when = _times(fields.get("at"), fields.get("rule"))
        if when is None:
            raise InvalidSchedule
        made = schedules.create(
            caller(request),
            content=fields["content"],
            when=when,
            thread=fields.get("thread"),
            assistant=fields.get("assistant"),
            time_zone=fields.get("time_zone"),
            token=token_of(request),
        )
        return Response(_object(request, made), status=201)


class ScheduleDetail(APIView):
    @describe(responses=described(ScheduleAnswer))
    def get(self, request: Request, schedule_id: str) -> Response:
        """One scheduled message."""
        return Response(_object(request, schedules.get(caller(request), schedule_id)))

    @describe(request=described(ScheduleChange), responses=described(ScheduleAnswer))
    def patch(self, request: Request, schedule_id: str) -> Response:
        """Change, pause or resume it. One that was sent once is sent again where it gets another time."""
        schedule = schedules.get(caller(request), schedule_id)
        fields = valid(ScheduleChange, request)
        others = {name: fields[name] for name in ("content", "time_zone", "paused") if name in fields}
        schedules.change(schedule, when=_times(fields.get("at"), fields.get("rule")), **others)
        return Response(_object(request, schedules.get(caller(request), schedule_id)))

    @describe(responses={204: None})
    def delete(self, request: Request, schedule_id: str) -> Response:
        """Delete it. What was sent stays in its thread."""
        schedules.delete(schedules.get(caller(request), schedule_id))
        return Response(status=204)


def _times(at: datetime | None, rule: Rule | None) -> Times | None:
    """``None`` where neither is given. Raises ``InvalidSchedule`` where both are."""
    if at and rule:
        raise InvalidSchedule(field="at")
    if rule:
        return Times(days=numbers_of(rule["days"]), time_of_day=time.fromisoformat(rule["time"]))
    return Times(at=at) if at else None


def _object(request: Request, schedule: Schedule) -> ScheduleAnswer:
    [answer] = _objects(request, [schedule])
    return answer


def _objects(request: Request, page: list[Schedule]) -> list[ScheduleAnswer]:
    states = schedules.last_states(caller(request), page)
    return [schedule_object(each, states.get(each.last_reply, "") if each.last_reply else "") for each in page]


def schedule_object(schedule: Schedule, last_status: str) -> ScheduleAnswer:
    rule = rule_of(schedule.days, schedule.time)
    return fill(ScheduleAnswer, schedule, thread=schedule.thread_id, rule=rule, last_status=last_status)
