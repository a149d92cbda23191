"""The file against the installation: what is another one, and making it so, in one transaction."""

from collections.abc import Iterator, Mapping
from difflib import ndiff
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model as Row
from django.db.models import ProtectedError

from config.installation.document import Document, InvalidConfiguration, key_of, label_of
from config.installation.secret_references import kept, resolve
from config.installation.sections import SECTIONS, Section
from conversations import audit
from conversations.audit import AuditKind
from conversations.models import Assistant, Connection
from conversations.moderation import moderators
from conversations.providers import connections, model_catalog
from conversations.runtime import clock
from conversations.runtime.values import dataclass
from conversations.staff.audited import ACTS, KINDS
from conversations.staff.connection_form import ConnectionForm, secret_values
from conversations.staff.plain_values import Unknown, for_form, normal, value_of

SIGNS = {AuditKind.ROW_ADDED: "+", AuditKind.ROW_CHANGED: "~", AuditKind.ROW_DELETED: "-"}
HIDDEN = "(a secret)"


@dataclass(frozen=True, kw_only=True)
class Change:
    """``fields``: what each was and becomes, where the row changes."""

    label: str
    kind: AuditKind
    fields: Mapping[str, tuple[Any, Any]]

    def lines(self) -> Iterator[str]:
        """As people read it."""
        yield f"{SIGNS[self.kind]} {self.label}"
        for name, (before, after) in self.fields.items():
            if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
                yield f"    {name}:"
                for line in ndiff(before.splitlines(), after.splitlines()):
                    if line[0] in "+-":
                        yield f"      {line}"
            elif before == after == HIDDEN:
                yield f"    {name}: {HIDDEN} is another one"
            else:
                yield f"    {name}: {_shown(before)} → {_shown(after)}"


def apply(document: Document, *, deletes: bool = False, dry_run: bool = False) -> list[Change]:
    """Make the installation what the file says; what it does not name stays, unless ``deletes``. A ``dry_run`` does the same
    and takes it back. Raises ``InvalidConfiguration``, and nothing is changed then."""
    try:
        with transaction.atomic():
            changes = _made(document, deletes=deletes)
            transaction.set_rollback(dry_run)
    finally:
        _reread()
    return changes


def _made(document: Document, *, deletes: bool) -> list[Change]:
    changes, problems = list[Change](), list[str]()
    for section in SECTIONS:
        for entry in document.get(section.name, ()):
            try:
                change = _applied(section, entry)
            except InvalidConfiguration as error:
                problems += error.problems
                continue
            changes += [change] if change else []
        _reread()  # forms know the rows before by what is kept of them
    if problems:
        raise InvalidConfiguration(problems)
    for section in reversed(SECTIONS) if deletes else ():
        if section.name in document:
            changes += _deleted(section, document[section.name])
    return changes


def _reread() -> None:
    for reread in (connections.reread, model_catalog.reread, moderators.reread):
        reread()


def _applied(section: Section, entry: dict[str, Any]) -> Change | None:
    """``None`` where the row is so already. Raises ``InvalidConfiguration``."""
    label = label_of(section, entry)
    try:
        row = _row(section, entry)
        before = {name: value_of(row, name) for name in section.fields} if row else {}
        given = {name: _normal(section, name, entry[name]) for name in section.fields if name in entry}
        secrets = _secrets(row, section, entry)
    except Unknown as error:
        raise InvalidConfiguration([f"{label}: {error}"]) from error
    changed = {name: (before.get(name), value) for name, value in given.items() if not row or before[name] != value}
    hidden = {name for name, (old, new) in secrets.items() if old != new}
    if row and not (changed or hidden):
        return None
    _save(section, label, row, entry | given, secrets)
    if row is None:
        return Change(label=label, kind=AuditKind.ROW_ADDED, fields={})
    told = changed | {name: _hidden(*secrets[name]) for name in sorted(hidden)}
    return Change(label=label, kind=AuditKind.ROW_CHANGED, fields=told)


def _row(section: Section, entry: Mapping[str, Any]) -> Row | None:
    """The row that it is about, or ``None``. Raises ``Unknown``."""
    wanted = tuple(
        "" if each is None else str(each) for each in (_normal(section, name, entry[name]) for name in section.key)
    )
    found = [row for row in section.rows() if _key(section, row) == wanted]
    if len(found) > 1:
        raise Unknown("there are several of this name here: rename all but one in the admin")
    return found[0] if found else None


def _key(section: Section, row: Row) -> tuple[str, ...]:
    return key_of(section, {name: value_of(row, name) for name in section.key})


def _normal(section: Section, name: str, value: Any) -> Any:
    try:
        return normal(section.model, name, value)
    except (ValidationError, ValueError, TypeError) as error:
        words = error.messages if isinstance(error, ValidationError) else [str(error)]
        raise Unknown(f"{name}: {' '.join(words)}") from error


def _secrets(row: Row | None, section: Section, entry: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What each secret that the file names was and becomes. Null: none."""
    before = kept(row) if row else {}
    found: dict[str, tuple[Any, Any]] = {}
    for name in section.secrets:
        if name in entry:
            old = before.get(name) or ({} if name == "headers" else "")
            found[name] = (old, _resolved(name, entry[name], old))
    return found


def _resolved(name: str, given: Any, old: Any) -> Any:
    try:
        if name != "headers":
            return resolve(given, old) if given is not None else ""
        if not isinstance(given or {}, dict):
            raise Unknown("must be a name and what holds its value, each")
        return {each: resolve(reference, old.get(each, "")) for each, reference in (given or {}).items()}
    except Unknown as error:
        raise Unknown(f"{name}: {error}") from error


def _save(
    section: Section, label: str, row: Row | None, entry: Mapping[str, Any], secrets: Mapping[str, tuple[Any, Any]]
) -> None:
    """By the form of the admin. Raises ``InvalidConfiguration``."""
    form_class = forms.modelform_factory(section.model, form=section.form, fields=_form_fields(section))
    instance = row or section.model(**section.only)
    try:
        given = {
            name: for_form(section.model, name, entry[name])
            for name in (*section.key, *section.fields)
            if name in entry
        }
        as_it_is = _initial(section, instance)
    except Unknown as error:
        raise InvalidConfiguration([f"{label}: {error}"]) from error
    if isinstance(instance, Assistant) and entry.get("is_default"):
        Assistant.objects.exclude(pk=instance.pk).update(is_default=False)
    form = form_class(
        {**as_it_is, **given, **secret_values({name: new for name, (_, new) in secrets.items()})}, instance=instance
    )
    if not form.is_valid():
        told = form.errors.get_json_data().items()
        raise InvalidConfiguration([f"{label}: {name}: {each['message']}" for name, errors in told for each in errors])
    if isinstance(form, ConnectionForm):
        form.instance.set_secrets(form.secrets())
    _stamp(form.instance)
    form.save()
    _record(form.instance, AuditKind.ROW_CHANGED if row else AuditKind.ROW_ADDED, [*given, *secrets])


def _form_fields(section: Section) -> list[str]:
    names = {field.name for field in (*section.model._meta.fields, *section.model._meta.many_to_many)}
    return [name for name in (*section.key, *section.fields) if name in names]


def _initial(section: Section, row: Row) -> dict[str, Any]:
    """What the form of the row would hold, of a new one its defaults."""
    values = {name: value_of(row, name) for name in section.fields}
    if row.pk and not row._state.adding:
        values |= {name: value_of(row, name) for name in section.key}
    return {name: for_form(section.model, name, value) for name, value in values.items()}


def _stamp(row: Row) -> None:
    """Rows that staff write say when."""
    if hasattr(row, "updated_at") and not isinstance(row, Connection):
        now = clock.now()
        row.created_at = getattr(row, "created_at", None) or now  # type: ignore[attr-defined]
        row.updated_at = now


def _deleted(section: Section, entries: list[dict[str, Any]]) -> list[Change]:
    """What the file does not name. Raises ``InvalidConfiguration`` where something else needs it."""
    named = {key_of(section, {name: _normal(section, name, entry[name]) for name in section.key}) for entry in entries}
    changes = []
    for row in section.rows():
        if _key(section, row) in named:
            continue
        label = label_of(section, {name: value_of(row, name) for name in section.key})
        target = (row._meta.label, row.pk)
        try:
            with transaction.atomic():
                row.delete()
                transaction.get_connection().check_constraints()  # which others are checked with at the end alone
        except (ProtectedError, IntegrityError) as error:
            problem = f"{label}: it is in use and can't be deleted. Name it in the file, with `is_active: false`"
            raise InvalidConfiguration([problem]) from error
        _record(row, AuditKind.ROW_DELETED, [], target=target)
        changes.append(Change(label=label, kind=AuditKind.ROW_DELETED, fields={}))
    return changes


def _record(row: Row, kind: AuditKind, fields: list[str], *, target: Any = None) -> None:
    details: audit.Details = {"act": ACTS[kind], "fields": fields, "by": "configure"}
    audit.record(KINDS.get(type(row), kind), actor=None, target=target or row, details=details)


def _hidden(old: Any, new: Any) -> tuple[str, str]:
    return HIDDEN if old else "", HIDDEN if new else ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(str, value)) + "]"
    return {None: "nothing", "": "nothing", True: "true", False: "false"}.get(value, str(value))
