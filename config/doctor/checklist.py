"""All checks, in the order in which they are told."""

from collections.abc import Collection
from functools import partial

from config.doctor import database, kept, machine, services, web, work
from config.doctor.examination import Check


def checks(*, servers: int = 1) -> list[Check]:
    """``servers``: how many `serve` share the database."""
    connections = partial(database.look_at_connections, servers)
    return [
        Check(group="machine", name="versions", look=machine.look_at_versions),
        Check(group="machine", name="user", look=machine.look_at_process),
        Check(group="machine", name="time zones", look=machine.look_at_time_zones),
        Check(group="machine", name="static files", look=machine.look_at_static_files),
        Check(group="machine", name="text of pictures", look=machine.look_at_ocr),
        Check(group="machine", name="programs", look=services.look_at_programs),
        Check(group="disk", name="data folder", look=machine.look_at_data_folder),
        Check(group="disk", name="files", look=machine.look_at_files),
        Check(group="disk", name="uploads", look=machine.look_at_uploads_folder),
        Check(group="web", name="secret key", look=web.look_at_secret_key),
        Check(group="web", name="debug", look=web.look_at_debug),
        Check(group="web", name="hosts", look=web.look_at_hosts),
        Check(group="web", name="proxies", look=web.look_at_proxies),
        Check(group="database", name="reachable", look=database.look_at_reachable),
        *(
            Check(group="database", name=name, look=look, needs="reachable")
            for name, look in (
                ("schema", database.look_at_schema),
                ("rights", database.look_at_rights),
                ("encoding", database.look_at_encoding),
                ("durability", database.look_at_durability),
                ("clock", database.look_at_clock),
                ("connections", connections),
                ("pooler", database.look_at_pooler),
                ("transactions", database.look_at_transactions),
                ("replica", database.look_at_replica),
            )
        ),
        Check(group="database", name="partitions", look=database.look_at_partitions, needs="schema"),
        Check(group="work", name="workers", look=work.look_at_workers, needs="schema"),
        Check(group="work", name="replies", look=work.look_at_replies, needs="schema"),
        Check(group="work", name="audit events", look=work.look_at_deliveries, needs="schema"),
        Check(group="work", name="mails", look=work.look_at_mails, needs="schema"),
        Check(group="backups", name="backup", look=kept.look_at_backup, needs="schema"),
        Check(group="backups", name="drill", look=kept.look_at_drill, needs="schema"),
        Check(group="services", name="models", look=services.look_at_providers, needs="schema"),
        Check(group="services", name="redis", look=services.look_at_redis),
        Check(group="services", name="web search", look=services.look_at_search),
        Check(group="services", name="mail", look=services.look_at_mail),
        Check(group="web", name="django", look=web.look_at_django, needs="reachable"),
    ]


GROUPS = tuple(dict.fromkeys(check.group for check in checks()))


def wanted(groups: Collection[str], *, servers: int = 1) -> list[Check]:
    """The checks of these groups, of all where none is named, with those that they need."""
    every = checks(servers=servers)
    names = {check.name for check in every if not groups or check.group in groups}
    for check in reversed(every):
        if check.name in names:
            names.add(check.needs)
    return [check for check in every if check.name in names]
