"""The lines of the page *System*: what is so, and whether it is worrying. Pure, with the judgements of the doctor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext

from config.doctor import database, machine, work
from config.doctor.findings import Finding, Status, ok, warning, wrong
from config.observability import limits
from config.observability.installation import Disk, Queue, Standby
from config.system.facts import Facts, Month, Run, Table
from conversations.runtime.wording import filled, lazy
from conversations.staff.display import duration, moment, number, with_noun
from conversations.staff.overview import charts
from conversations.staff.overview.charts import Axis, Chart, Series
from conversations.upkeep import partitions

MEBIBYTE = 2**20
MOST_MONTHS = 24
REPLICA = "OPENBOOK_REPLICA_URL"
GRANT = lazy("Statistics of other roles can't be read: GRANT pg_read_all_stats TO {}.")
UNREAD = Finding(
    status=Status.SKIPPED,
    words=lazy("could not be read in time"),
    advice=lazy("Load the page again; the rest of it holds."),
)
WORRYING = (Status.WRONG, Status.WARNING)


@dataclass(frozen=True, kw_only=True)
class Line:
    name: str
    finding: Finding

    @property
    def is_worrying(self) -> bool:
        return self.finding.status in WORRYING


@dataclass(frozen=True, kw_only=True)
class Section:
    title: str
    lines: Sequence[Line]


def sections(facts: Facts, *, code_version: str) -> list[Section]:
    parts = {
        gettext("Kept"): kept(facts),
        gettext("Work"): works(facts),
        gettext("Database"): databases(facts),
        gettext("Disks"): (
            (filled("Disk of the folder {folder}", folder=disk.folder), [space(disk)]) for disk in facts.disks
        ),
        gettext("Versions"): versions(facts, code_version),
    }
    return [
        Section(title=title, lines=[Line(name=name, finding=each) for name, found in told for each in found])
        for title, told in parts.items()
    ]


type Told = Iterator[tuple[str, Sequence[Finding]]]


def versions(facts: Facts, code_version: str) -> Told:
    yield "Openbook", [ok(code_version)]
    yield "Python", machine.look_at_versions()
    yield (
        "PostgreSQL",
        [ok(filled("{version}, as {role}", version=facts.server.version, role=facts.server.role))]
        if facts.server
        else [UNREAD],
    )
    yield "Redis", facts.redis
    yield gettext("Schema"), database.schema(*facts.schema) if facts.schema else [UNREAD]
    latest = [f"{each.app}.{each.name} ({moment(each.applied)})" for each in facts.migrations or ()]
    yield (
        gettext("Last migrations"),
        [UNREAD] if facts.migrations is None else [ok("; ".join(latest) or gettext("none"))],
    )


def works(facts: Facts) -> Told:
    found = facts.installation
    is_unread = "queues" in found.unread
    waiting, oldest = sum(each.length for each in found.queues), max((each.oldest for each in found.queues), default=0)
    if found.workers is None or is_unread or facts.failed_tasks is None:
        yield gettext("Workers"), [UNREAD]
    else:
        yield gettext("Workers"), work.workers(found.workers, waiting, oldest, facts.failed_tasks)
    for each in found.queues:
        yield filled("Queue {name}", name=each.name), [queue(each)]
    if not found.queues:
        yield gettext("Queues"), [UNREAD if is_unread else ok(gettext("empty"))]
    yield gettext("Replies running"), [UNREAD if found.running is None else ok(number(found.running))]
    yield gettext("Replies left behind"), [UNREAD] if facts.stuck is None else work.replies(facts.stuck)
    yield (
        gettext("Leases"),
        [
            UNREAD
            if found.leases is None
            else ok(filled("{leases} held, beside those of workers", leases=number(found.leases)))
        ],
    )


def queue(one: Queue) -> Finding:
    words = filled(
        "{tasks} to be run, the oldest waits for {duration}",
        tasks=with_noun(one.length, "task"),
        duration=duration(one.oldest),
    )
    if one.oldest >= limits.QUEUE_SECONDS:
        return warning(words, "Start more `manage.py work`: docs/operate/queue-old.md.")
    return ok(words)


def databases(facts: Facts) -> Told:
    found, server = facts.installation, facts.server
    yield gettext("Size"), [UNREAD if found.size is None else ok(filesizeformat(found.size))]
    yield gettext("Connections"), [connections(found.connections, found.most_connections)]
    if facts.transactions is None or facts.lost_slots is None:
        yield gettext("Oldest transaction"), [UNREAD]
    else:
        judged = database.transactions(*facts.transactions, facts.lost_slots)
        if server and not server.sees_all and all(each.status == Status.OK for each in judged):
            judged = [Finding(status=Status.SKIPPED, words=judged[0].words, advice=GRANT.format(server.role))]
        yield gettext("Oldest transaction"), judged
    others = [each for each in found.standbys if each.name != REPLICA]
    for each in others:
        yield filled("Standby {name}", name=each.name), [standby(each, server.role if server else "…")]
    if facts.replica:
        yield gettext("Replica"), [replica(facts.replica, is_read=facts.replica_is_read)]
    if not others and not facts.replica:
        yield gettext("Standbys"), [UNREAD if "standbys" in found.unread else ok(gettext("none follows this server"))]
    for table in (each.name for each in partitions.TABLES):
        until = found.at + timedelta(seconds=found.ahead[table]) if table in found.ahead else None
        missing = database.partition(table, until, found.at, in_rest=False)
        yield (
            filled("Partitions of {table}", table=table),
            [UNREAD]
            if "ahead" in found.unread
            else missing or [ok(filled("made until {when}", when=moment(until)) if until else "")],
        )


def connections(used: int | None, most: int | None) -> Finding:
    if used is None or not most:
        return UNREAD
    words = filled("{used} of {most} are used, {share}", used=used, most=most, share=f"{used / most:.0%}")
    if used > most * limits.CONNECTIONS_SHARE:
        return wrong(words, gettext("See who holds them: docs/operate/connections-near-limit.md."))
    return ok(words)


def standby(one: Standby, role: str) -> Finding:
    advice = gettext("See to it: docs/operate/replica-lag.md.")
    if not one.up:
        return warning("is away", advice)
    if one.lag is None:
        return Finding(
            status=Status.SKIPPED, words=gettext("follows, how far behind is not known"), advice=GRANT.format(role)
        )
    words = filled("{duration} behind", duration=duration(one.lag))
    return warning(words, advice) if one.lag > limits.LAG_SECONDS else ok(words)


def replica(told: str, *, is_read: bool) -> Finding:
    return ok(told) if is_read else warning(told, "See to it: docs/operate/replica-lag.md.")


def kept(facts: Facts) -> Told:
    """Backup and drill, and a restore where there was one."""
    found, runs = facts.installation, facts.runs
    for kind, name, seconds, judge in (
        ("backup", gettext("Last backup"), limits.BACKUP_SECONDS, wrong),
        ("drill", gettext("Last drill"), limits.DRILL_SECONDS, warning),
    ):
        if runs is None or "maintenance" in found.unread:
            yield name, [UNREAD]
            continue
        advice = f"docs/operate/{kind}-old.md."
        succeeded, last = found.maintenance.get(kind), runs.get(kind)
        words = " ".join(filter(None, (success(succeeded, found.at), last and last_run(last))))
        if succeeded is None or (found.at - succeeded).total_seconds() > seconds:
            yield name, [judge(words, filled("Make one: {advice}", advice=advice))]
        elif last and last.succeeded is False:
            yield name, [warning(words, f"See why: {advice}")]
        else:
            yield name, [ok(words)]
    if runs and (restored := runs.get("restore")):
        yield gettext("Last restore"), [restore(restored)]


def success(ended_at: datetime | None, now: datetime) -> str:
    if ended_at is None:
        return gettext("None has succeeded.")
    return filled(
        "Succeeded {duration} ago, {when}.", duration=duration((now - ended_at).total_seconds()), when=moment(ended_at)
    )


def last_run(run: Run) -> str:
    """What became of the last one where it did not succeed."""
    if run.succeeded is False:
        return filled("The last one failed, {when}.", when=moment(run.ended_at or run.began_at))
    return (
        filled("One began {when} and runs, or broke off.", when=moment(run.began_at)) if run.succeeded is None else ""
    )


def restore(run: Run) -> Finding:
    if run.succeeded:
        return ok(filled("Succeeded, {when}.", when=moment(run.ended_at or run.began_at)))
    return wrong(last_run(run), gettext("See to it: docs/operate/restore.md."))


def space(disk: Disk) -> Finding:
    words = filled(
        "{free} of {size} are free",
        free=filesizeformat(disk.free),
        size=filesizeformat(disk.size),
    )
    return machine.space(words, disk.free, disk.size)


@dataclass(frozen=True, kw_only=True)
class TableRow:
    name: str
    size: str
    rows: str
    partitions: str


def table_rows(tables: Sequence[Table]) -> list[TableRow]:
    return [
        TableRow(
            name=each.name,
            size=filesizeformat(each.size),
            rows="–" if each.rows is None else number(each.rows),
            partitions=number(each.partitions) if each.partitions else "–",
        )
        for each in tables
    ]


def growth(months: Sequence[Month], now: datetime) -> Chart:
    """Sizes of the partitions of the newest months, without those that are made ahead."""
    by_month = {(each.table, each.since): each.size / MEBIBYTE for each in months}
    used = sorted({each.since for each in months if each.since <= now})[-MOST_MONTHS:]
    names = {
        partitions.REQUESTS.name: (gettext("model requests"), "input"),
        partitions.ACCESSES.name: (gettext("accesses"), "output"),
    }
    return charts.chart(
        "growth",
        gettext("Growth by month"),
        [f"{each:%Y-%m}" for each in used],
        [
            Series(name=name, look=look, values=[by_month.get((table, each)) for each in used])
            for table, (name, look) in names.items()
        ],
        Axis(
            show=lambda size: f"{size:,.1f} MB",
            tick=lambda size: f"{size:,g} MB",
        ),
        note=gettext(
            "what the tables of model requests and accesses to content hold of each month, with their indexes"
        ),
    )
