"""The form by which a person has a message sent at a time, or changes when."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import threads
from conversations.accounts.group_access import access_of
from conversations.errors import OpenbookError
from conversations.models import Schedule, Thread
from conversations.models.schedules import CONTENT_CHARS
from conversations.runtime.text import clean
from conversations.runtime.wording import translated
from conversations.schedules import schedules
from conversations.schedules.schedules import Times
from memory.services import preferences_of, zone_of

ONCE, AGAIN = "once", "again"
SHOWN = "%Y-%m-%dT%H:%M"


class ScheduleForm(forms.Form):
    """Of a message in ``thread``, or in a new one; of ``schedule``, where that is to be changed. ``stored`` does it."""

    content = forms.CharField(max_length=CONTENT_CHARS, widget=forms.Textarea({"rows": 4, "dir": "auto"}))
    assistant = forms.ChoiceField(required=False)
    how = forms.ChoiceField(
        choices=[(ONCE, gettext_lazy("Once")), (AGAIN, gettext_lazy("Again and again"))],
        widget=forms.RadioSelect,
        initial=ONCE,
    )
    at = forms.DateTimeField(required=False, widget=forms.DateTimeInput({"type": "datetime-local"}, SHOWN))
    days = forms.TypedMultipleChoiceField(
        required=False,
        coerce=int,
        choices=[(number + 1, name) for number, name in WEEKDAYS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=[1, 2, 3, 4, 5],
    )
    time = forms.TimeField(required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"), initial="08:00")

    def __init__(
        self,
        data: Any = None,
        *,
        user: User,
        thread: Thread | None,
        schedule: Schedule | None = None,
        initial: dict[str, Any] | None = None,
    ) -> None:
        self.user, self.thread, self.schedule = user, thread, schedule
        self.zone = zone_of(preferences_of(user))
        super().__init__(data, initial=_initial(schedule) if schedule else initial)
        offered = [] if thread or schedule else threads.offered_assistants(access_of(user.pk)).order_by("order", "name")
        if offered:
            choices = self.fields["assistant"]
            assert isinstance(choices, forms.ChoiceField)
            choices.choices = [(each.slug, each.name) for each in offered]
        else:
            del self.fields["assistant"]

    def full_clean(self) -> None:
        with timezone.override(self.zone):  # what is written without a zone is meant in the person's
            super().full_clean()

    def clean_content(self) -> str:
        return clean(self.cleaned_data["content"])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("how") == ONCE and not values.get("at"):
            self.add_error("at", _("Choose a day and a time."))
        if values.get("how") == AGAIN and not (values.get("days") and values.get("time")):
            self.add_error("days", _("Choose days of the week and a time."))
        return values

    def stored(self) -> bool:
        """False, with an error in the form, where it is refused."""
        values = self.cleaned_data
        is_once = values["how"] == ONCE
        when = Times(at=values["at"]) if is_once else Times(days=values["days"], time_of_day=values["time"])
        try:
            if self.schedule:
                is_same = when == schedules.times_of(self.schedule) and str(self.zone) == self.schedule.time_zone
                schedules.change(
                    self.schedule,
                    content=values["content"],
                    when=None if is_same else when,
                    time_zone=str(self.zone),
                )
            else:
                schedules.create(
                    self.user,
                    content=values["content"],
                    when=when,
                    thread=self.thread.id if self.thread else None,
                    assistant=values.get("assistant") or None,
                )
        except OpenbookError as refusal:
            field = refusal.details.get("field")
            self.add_error(field if field in self.fields else None, translated(refusal.message))
            return False
        return True


def _initial(schedule: Schedule) -> dict[str, Any]:
    return {
        "content": schedule.content,
        "how": ONCE if schedule.at else AGAIN,
        "at": schedule.at,
        "days": schedule.days or [1, 2, 3, 4, 5],
        "time": schedule.time or "08:00",
    }
