"""What a calendar file or an invitation says: what, when, where and who (RFC 5545)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_EVENTS = 500
WHAT_IT_ASKS = {
    "REQUEST": "Invitation",
    "CANCEL": "Cancelled",
    "REPLY": "Reply to an invitation",
    "COUNTER": "Another time is proposed",
}
OTHER_KINDS = {"VTODO": "Task", "VJOURNAL": "Journal"}
SECTIONS = {"VEVENT", *OTHER_KINDS}
SAID = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative", "NEEDS-ACTION": ""}
PROPERTY = re.compile(r'([\w-]{1,60})((?:;[\w-]{1,60}=(?:"[^"]*"|[^";:]*))*+):(.*)', re.DOTALL)
PARAMETER = re.compile(r';([\w-]{1,60})=("[^"]*"|[^";:]*)')
MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d*(Z?))?")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass
class Event:
    """``people``: names or addresses, with what they answered."""

    kind: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    people: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        fields = self.fields
        when = " – ".join(filter(None, (fields.get("DTSTART"), fields.get("DTEND") or fields.get("DUE"))))
        yield f"{self.kind}: {fields.get('SUMMARY') or 'without a title'}"
        for label, value in (
            ("When", when),
            ("Lasts", fields.get("DURATION", "")),
            ("Repeats", fields.get("RRULE", "")),
            ("Where", fields.get("LOCATION", "")),
            ("Organizer", fields.get("ORGANIZER", "")),
            ("Attendees", ", ".join(self.people)),
            ("Status", fields.get("STATUS", "").lower()),
            ("Link", fields.get("URL", "")),
        ):
            if value:
                yield f"{label}: {value}"

    @property
    def description(self) -> str:
        return self.fields.get("DESCRIPTION", "")


def events(text: str) -> Iterator[Event]:
    """Each event and task; alarms and time zones are passed over."""
    kind, event, count = "Event", None, 0
    for name, written, value in _properties(text):
        if name == "METHOD":
            kind = WHAT_IT_ASKS.get(value.upper(), kind)
        elif name == "BEGIN":
            event = Event(OTHER_KINDS.get(value, kind))
        elif event and name == "END":
            yield event
            event, count = None, count + 1
            if count >= MOST_EVENTS:
                return
        elif event:
            _add(event, name, written, value)
    if event:
        yield event


def _properties(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Name, parameters and value of each, without those of sections within an event or beside it."""
    within = ""
    for line in _unfolded(text):
        parsed = PROPERTY.fullmatch(line)
        if parsed is None:
            continue
        name, value = parsed[1].upper(), parsed[3].strip()
        section = value.upper() if name in {"BEGIN", "END"} else ""
        if within:
            within = "" if name == "END" and section == within else within
        elif not section or section in SECTIONS:
            yield (
                name,
                {key.upper(): written.strip('"') for key, written in PARAMETER.findall(parsed[2])},
                section or value,
            )
        elif name == "BEGIN" and section != "VCALENDAR":
            within = section


def _unfolded(text: str) -> Iterator[str]:
    held: list[str] = []
    for line in text.splitlines():
        if line[:1] in {" ", "\t"} and held:
            held.append(line[1:])
            continue
        if held:
            yield "".join(held)
        held = [line]
    if held:
        yield "".join(held)


def _add(event: Event, name: str, said: dict[str, str], value: str) -> None:
    if name in {"DTSTART", "DTEND", "DUE"}:
        event.fields.setdefault(name, _moment(value, said.get("TZID", "")))
    elif name in {"ORGANIZER", "ATTENDEE"}:
        address = re.sub(r"^mailto:", "", value.strip(), flags=re.IGNORECASE)
        person = f"{said['CN']} <{address}>" if said.get("CN") and said["CN"] != address else address
        answer = SAID.get(said.get("PARTSTAT", "").upper(), "")
        if name == "ORGANIZER":
            event.fields.setdefault(name, person)
        else:
            event.people.append(f"{person} ({answer})" if answer else person)
    else:
        plain = ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], value).strip()
        event.fields.setdefault(name, plain if name == "DESCRIPTION" else " ".join(plain.split()))


def _moment(value: str, zone: str) -> str:
    moment = MOMENT.match(value.strip())
    if moment is None:
        return value.strip()
    day = f"{moment[1]}-{moment[2]}-{moment[3]}"
    if not moment[4]:
        return day
    where = " UTC" if moment[6] else f" ({zone})" if zone else ""
    return f"{day} {moment[4]}:{moment[5]}{where}"
