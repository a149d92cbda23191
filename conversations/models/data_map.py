"""What every table, folder and Redis key holds of a person's words, and what becomes of it: the data map.

Each column of text, JSON, arrays or bytes stands here once, those of Django and of libraries too; one that is missing fails a
test, which asks the models and the database itself. Forgetting, clearing, deleting, the masks of staff's pages and the tests of
all of these and of the export read this table, so that a column which is declared is taken care of.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.apps import apps
from django.db.models import Model

from conversations.models.replies import STOP_REASONS

FORGOTTEN = "[forgotten]"
"""What stands for a text that was forgotten where something has to."""


class Holds(StrEnum):
    WORDS = "what a person wrote, uploaded or named, or what a model, a tool or a service answered"
    DERIVED = "made of such words"
    ACCOUNT = "who a person is and what they called their own keys: goes with the account"
    NEVER = "no words of anybody's: ids, names of models, states, figures, digests, secrets"


class Fate(StrEnum):
    """What becomes of a row when what it holds is forgotten, or its thread cleared."""

    GOES = "the row goes"
    BLANKED = "the row stays, its words are blanked"
    STAYS = "the row stays as it is"


class Keep:
    """Of a column whose row goes, so that nothing stands in its place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """``blank`` is what stands in place of the words where the row stays: a value, or a function of the value. ``exported`` is
    where a person's document tells it; ``not_exported`` why it does not. ``of`` are the columns that it is made of. Of a column
    that is ``listed`` the lists of staff show a part that is no word: the code of an error."""

    holds: Holds
    blank: Any = Keep
    of: str = ""
    exported: str = ""
    not_exported: str = ""
    listed: bool = False

    @property
    def has_words(self) -> bool:
        return self.holds in (Holds.WORDS, Holds.DERIVED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """``goes_with`` names the row by which this one goes, by cascade, up to the account. ``forgotten`` and ``cleared`` say what
    becomes of it; where it ``stays``, why. ``retained`` is the kind of `conversations.upkeep.retention` that limits its time;
    empty: it goes with what it belongs to. ``never`` lists the columns without words. ``held``: while a legal hold covers rows
    of it, they are copied before they go. ``outlives`` says why it does not go with the account."""

    goes_with: str = ""
    forgotten: Fate = Fate.STAYS
    cleared: Fate = Fate.STAYS
    stays: str = ""
    retained: str = ""
    held: bool = False
    outlives: str = ""
    columns: Mapping[str, Column] = field(default_factory=dict)
    never: str = ""
    staff: str = ""

    @property
    def has_words(self) -> bool:
        return any(column.has_words for column in self.columns.values())


def words(exported: str = "", *, but: str = "", blank: Any = Keep) -> Column:
    return Column(holds=Holds.WORDS, exported=exported, not_exported=but, blank=blank)


def derived(of: str, exported: str = "", *, but: str = "", blank: Any = Keep, listed: bool = False) -> Column:
    return Column(holds=Holds.DERIVED, of=of, exported=exported, not_exported=but, blank=blank, listed=listed)


def account(*, but: str = "the account page tells it") -> Column:
    return Column(holds=Holds.ACCOUNT, not_exported=but)


def kind_of_error(error: Any) -> Any:
    """An error object without what it says: services quote requests in theirs."""
    if not isinstance(error, dict):
        return None
    details = error.get("details")
    known = {name: details[name] for name in PLAIN_DETAILS if name in details} if isinstance(details, dict) else {}
    return {"type": error.get("type"), "code": error.get("code"), "message": FORGOTTEN, "details": known}


def known_reason(stop_reason: str) -> str:
    """A stop reason from the list of those that there are; a service may have written another."""
    return stop_reason if not stop_reason or stop_reason in STOP_REASONS else "unknown"


def kinds_of_problems(problems: Any) -> Any:
    """Sources that failed, without what their errors say."""
    return [problem | {"message": FORGOTTEN} for problem in problems or ()] or None


PLAIN_DETAILS = ("retryable", "retry_after", "category", "kind", "rule")
"""Details of an error that Openbook itself sets, from a list of its own."""
GOES, BLANKED, STAYS = Fate.GOES, Fate.BLANKED, Fate.STAYS
BOOK = "the book is read by the API, request by request"
REMADE = "made again of what is exported"
EXPERIMENTAL = "an answer that was given to staff, as an experiment; that it was asked for stands in the book"
FILE = "its file comes along"
TURN_TEXT = "conversations.Message.text"

TABLES: dict[str, Table] = {
    # Conversations
    "conversations.Thread": Table(
        held=True,
        goes_with="user",
        forgotten=BLANKED,
        cleared=BLANKED,
        retained="threads",
        columns={
            "title": words("threads.title", blank=FORGOTTEN),
            "instructions": words("threads.instructions", blank=""),
            "tags": words("threads.tags", blank=[]),
            "opened_by": words(but="the client's own id", blank=None),
        },
        never="model",
    ),
    "conversations.Project": Table(
        held=True,
        goes_with="user",
        forgotten=BLANKED,
        stays="it is a folder: its threads are cleared one by one",
        columns={
            "name": words("projects.name", blank=FORGOTTEN),
            "instructions": words("projects.instructions", blank=""),
        },
        never="colour model presets",
    ),
    "conversations.Instructions": Table(
        held=True,
        goes_with="user",
        forgotten=BLANKED,
        stays="the person's own words about themselves belong to no thread",
        columns={
            "about": words("instructions.about", blank=""),
            "style": words("instructions.style", blank=""),
        },
    ),
    "conversations.Prompt": Table(
        held=True,
        goes_with="user",
        forgotten=GOES,
        stays="a text that the person keeps belongs to no thread",
        columns={"name": words("prompts.name"), "text": words("prompts.text")},
    ),
    "conversations.Schedule": Table(
        held=True,
        goes_with="user",
        forgotten=GOES,
        cleared=GOES,
        columns={"content": words("schedules.content")},
        never="assistant days time_zone last_error",
    ),
    "conversations.SharedPrompt": Table(staff="name text"),
    "conversations.Message": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        cleared=GOES,
        columns={
            "text": words("threads.messages.content", blank=FORGOTTEN),
            "content": words("threads.messages.content", blank=None),
            "citations": derived(TURN_TEXT, "threads.messages.citations", blank=None),
            "model": words("threads.messages.model", blank=""),
            "client_message_id": words(but="the client's own id", blank=None),
        },
        never="role status",
    ),
    "conversations.Reply": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        cleared=BLANKED,
        columns={
            "error": derived("the request of its model", but=BOOK, blank=kind_of_error, listed=True),
            "stop_reason": derived("the request of its model", but=BOOK, blank=known_reason, listed=True),
            "client_id": words(but="the client's own id", blank=None),
            "request_id": words(but="the client's own id", blank=None),
        },
        never="preset model status owner usage",
    ),
    "conversations.ReplyEvent": Table(
        goes_with="reply",
        forgotten=GOES,
        cleared=GOES,
        retained="events",
        columns={"data": derived("what its reply says and does", but="its turn tells the same")},
        never="type",
    ),
    "conversations.Quotation": Table(
        goes_with="reply", stays="it holds ids alone, by which quotations are found and forgotten"
    ),
    "conversations.ContextBlock": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        cleared=BLANKED,
        retained="snapshots",
        columns={"text": derived("turns, rows and files that a request is made of", but=BOOK, blank="")},
        never="sha256",
    ),
    "conversations.ContextSnapshot": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        cleared=BLANKED,
        retained="snapshots",
        columns={
            "error": derived("its own request", but=BOOK, blank=kind_of_error, listed=True),
            "problems": derived("what services say of its request", but=BOOK, blank=kinds_of_problems, listed=True),
            "stop_reason": derived("its own request", but=BOOK, blank=known_reason, listed=True),
            "provider_request_id": derived("its own request", but=BOOK, blank="", listed=True),
            "provider_message_id": derived("its own request", but=BOOK, blank="", listed=True),
            "stop_details": derived("its own request", but=BOOK, blank=None, listed=True),
            "diagnostics": derived("its own request", but=BOOK, blank=None, listed=True),
        },
        never=(
            "purpose provider model thinking fallback_for fallback_cause digest budget_origin files scope counts sections runs "
            "additions cache timings_ms items rewriting recalled status usage"
        ),
    ),
    "conversations.Feedback": Table(
        held=True,
        goes_with="thread",
        forgotten=GOES,
        cleared=GOES,
        retained="feedback",
        columns={"text": words("threads.messages.feedback.text")},
        never="reason provider model state",
        staff="notes",
    ),
    "conversations.ModerationFinding": Table(
        goes_with="thread",
        stays="it names patterns by their lines and categories, and holds nothing of the text",
        never="stage moderator result labels problem",
    ),
    "conversations.TokenCount": Table(goes_with="thread", forgotten=GOES, cleared=GOES, never="provider model"),
    # Files
    "conversations.File": Table(
        held=True,
        goes_with="user",
        forgotten=GOES,
        cleared=GOES,
        retained="files unsent_files",
        columns={
            "name": words("threads.files.name"),
            "title": words(but=FILE),
            "error": derived("conversations.File.name and its bytes", but=FILE, listed=True),
            "left_out": derived("its bytes", but=FILE),
        },
        never="kind media_type sha256 place thumbnail state",
    ),
    "conversations.FilePart": Table(
        held=True,
        goes_with="file",
        forgotten=GOES,
        cleared=GOES,
        columns={
            "text": words(but=FILE),
            "label": words(but=FILE),
            "heading": words(but=FILE),
            "terms": derived("conversations.FilePart.text", but=FILE),
        },
        never="picture",
    ),
    "conversations.TurnFile": Table(goes_with="file", forgotten=GOES, cleared=GOES, never="numbers"),
    "conversations.BytesToRemove": Table(never="place"),
    "conversations.HeldRow": Table(
        stays="a legal hold keeps it: what was forgotten is in no other table",
        outlives="an account that is deleted under a legal hold is kept here until the hold ends",
        columns={"data": words(but="a copy of what its person deleted, for staff alone")},
        never="kind row_id digest place",
    ),
    "conversations.LegalHold": Table(staff="user_name subject reason began_by ended_by"),
    "conversations.RetentionRule": Table(staff="note", never="kind"),
    "conversations.Share": Table(
        goes_with="thread",
        stays="it holds ids and switches: its page is made of what is left when somebody opens it",
        never="digest token",
    ),
    # Artifacts
    "artifacts.Artifact": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        stays="what was made beside a thread is the person's own, and stays when the thread is cleared",
        columns={"title": words("threads.artifacts.title", blank=FORGOTTEN)},
        never="kind language preset",
    ),
    "artifacts.ArtifactVersion": Table(
        held=True,
        goes_with="thread",
        forgotten=BLANKED,
        stays="as its artifact",
        columns={"content": words("threads.artifacts.content", blank=FORGOTTEN)},
        never="origin",
    ),
    # Memory
    "memory.Memory": Table(
        held=True,
        goes_with="user",
        forgotten=GOES,
        stays="a note rests on turns, and goes with the last of them",
        columns={
            "content": words("memories.content"),
            "tags": words("memories.tags"),
            "confined_to": derived("memory.Memory.tags", but=REMADE),
        },
        never="origin sources",
    ),
    "memory.Topic": Table(
        held=True,
        goes_with="user",
        forgotten=GOES,
        stays="a topic rests on turns, and goes with the last of them",
        columns={"title": words("topics.title")},
        never="sources",
    ),
    "memory.ThreadSummary": Table(
        goes_with="thread",
        forgotten=BLANKED,
        cleared=GOES,
        columns={
            "text": derived(TURN_TEXT, "threads.summaries.text", blank=""),
            "key_moments": derived(TURN_TEXT, "threads.summaries.key_moments", blank=list),
        },
        never="sources made_by",
    ),
    "memory.DailySummary": Table(
        goes_with="user",
        forgotten=GOES,
        stays="a day goes with any part of a thread that it tells of",
        columns={
            "text": derived("memory.ThreadSummary.text", but=REMADE),
            "key_moments": derived("memory.ThreadSummary.key_moments", but=REMADE),
        },
        never="parts",
    ),
    "memory.IndexedPassage": Table(
        goes_with="thread",
        forgotten=BLANKED,
        cleared=GOES,
        columns={"terms": derived(TURN_TEXT, but=REMADE, blank=list)},
    ),
    "memory.Vocabulary": Table(
        goes_with="user",
        stays="it counts how common words are, by numbers, and is counted anew",
        never="common shares names",
    ),
    "memory.StaleIndex": Table(goes_with="user"),
    "memory.Preferences": Table(goes_with="user", never="time_zone language"),
    "memory.Consolidation": Table(goes_with="user", never="error"),
    "memory.MirroredMemory": Table(),
    # Accounts
    "auth.User": Table(
        held=True,
        columns={name: account() for name in ("username", "first_name", "last_name", "email")},
        never="password",
    ),
    "account.EmailAddress": Table(goes_with="user", columns={"email": account()}),
    "account.EmailConfirmation": Table(goes_with="email_address", never="key"),
    "socialaccount.SocialAccount": Table(
        goes_with="user", columns={"uid": account(), "extra_data": account()}, never="provider"
    ),
    "socialaccount.SocialToken": Table(goes_with="account", never="token token_secret"),  # none is kept
    "usersessions.UserSession": Table(
        goes_with="user",
        retained="sign_ins",
        columns={name: account() for name in ("user_agent", "data", "ip")},
        never="session_key",
    ),
    "mfa.Authenticator": Table(
        goes_with="user",
        columns={"data": account(but="secrets, encrypted, and what the person called a passkey")},
        never="type",
    ),
    "sessions.Session": Table(
        retained="sign_ins",
        columns={"session_data": account(but="sealed state of a browser; ended with the account")},
        never="session_key",
    ),
    "conversations.ApiToken": Table(
        goes_with="user",
        columns={name: account() for name in ("name", "addresses", "last_used_from")},
        never="digest scopes",
    ),
    "conversations.DirectoryUser": Table(
        goes_with="user", columns={name: account() for name in ("external_id", "display_name", "emails")}
    ),
    "conversations.DirectoryGroup": Table(never="external_id"),
    "conversations.ServiceAccount": Table(goes_with="user", staff="purpose"),
    "conversations.UserLimits": Table(goes_with="user"),
    "conversations.Allowance": Table(goes_with="user"),
    "conversations.TokenReservation": Table(goes_with="user", never="purpose", retained="reservations"),
    "conversations.Budget": Table(),
    "conversations.BudgetPool": Table(goes_with="user"),
    "conversations.BudgetCharge": Table(
        never="provider model",
        stays="it says what was used of a budget: tokens, money, the model; nobody's once the person is gone",
        retained="charges",
    ),
    "conversations.AccountDeletion": Table(goes_with="user"),
    # Staff, and the installation
    "admin.LogEntry": Table(
        goes_with="user",
        forgotten=BLANKED,
        stays="it says what staff did; what a row was called is blanked with the row",
        columns={
            "object_repr": derived("the row that staff changed", but="a record of staff's", blank=FORGOTTEN),
            "change_message": derived("the row that staff changed", but="a record of staff's", blank=""),
        },
        never="object_id",
    ),
    "conversations.ContentAccess": Table(
        retained="accesses",
        staff="staff_name reason",
        never="action what object_id request_id",
    ),
    "conversations.AuditEvent": Table(
        retained="audit",
        staff="actor_name",
        never="kind outcome actor_kind target_kind target_id address request_id details digest",
    ),
    "conversations.AuditAnchor": Table(never="digest"),
    "conversations.AuditDelivery": Table(never="destination problem"),
    "django_tasks_database.DBTaskResult": Table(
        retained="tasks",
        columns={"args_kwargs": account(but="ids, and the address that a link is mailed to")},
        never="status task_path worker_ids queue_name backend_name return_value exception_class_path traceback",
    ),
    "conversations.Notice": Table(staff="title text"),
    "conversations.NoticeAcceptance": Table(goes_with="user"),
    "conversations.Banner": Table(staff="text", never="level audience"),
    "conversations.Invitation": Table(
        goes_with="made_by",
        columns={
            "email": account(but="of somebody else, whom staff or a manager invited; it goes 90 days after its end")
        },
        never="digest",
    ),
    "conversations.InvitationGroup": Table(goes_with="invitation"),
    "conversations.InvitationUse": Table(goes_with="user"),
    "conversations.OutgoingMail": Table(
        goes_with="user",
        columns={
            "recipient": account(but="the mail address that the account page tells; the row goes once it is sent")
        },
        never="kind language content problem",
    ),
    "conversations.McpServer": Table(
        goes_with="user",
        columns={name: account(but="`GET mcp-servers/` tells it") for name in ("name", "url")},
        never="header secret problem",
    ),
    "conversations.McpSignIn": Table(goes_with="user", never="issuer pending grant"),
    "conversations.McpTool": Table(goes_with="server", never="name description schema digest allowed"),
    "conversations.McpCall": Table(goes_with="thread", never="call_id tool_digest input_digest state answer"),
    "conversations.Webhook": Table(
        goes_with="user",
        columns={name: account(but="the page of webhooks tells it") for name in ("name", "url")},
        never="events secret former_secret disabled_because",
    ),
    "conversations.WebhookDelivery": Table(
        goes_with="webhook",
        retained="webhook_deliveries",
        never="event data problem answer",  # ids and figures, and what the person's own program answered to them
    ),
    "conversations.Assistant": Table(
        staff="slug name description system_prompt presets",
        never="provider model effort show_thinking fallback_model tools rewriting rewriting_model cache_lifetime",
    ),
    "conversations.AssistantVersion": Table(staff="content note"),
    "conversations.Fallback": Table(never="provider model"),
    "conversations.Assistant_offered_models": Table(),
    "conversations.Model": Table(
        staff="label system_prompt",
        never="provider name thinking thinking_off efforts default_effort small_model",
    ),
    "conversations.ModelPrice": Table(),
    "conversations.TokenFactor": Table(never="provider model"),
    "conversations.Moderator": Table(staff="name words patterns provider model url", never="kind action when_failing"),
    "conversations.Connection": Table(
        staff="slug label base_url server region proxy test_result", never="kind secrets"
    ),
    "conversations.CacheForecast": Table(never="costs"),
    "conversations.Dataset": Table(staff="name note"),
    "conversations.Case": Table(
        goes_with="thread",
        staff="evidence contains patterns answer_contains answer_patterns answer_schema answer criterion",
    ),
    "conversations.CaseAnswer": Table(
        goes_with="case",
        forgotten=BLANKED,
        cleared=BLANKED,
        columns={
            "text": derived("its own request", but=EXPERIMENTAL, blank=""),
            "reason": derived("its own request", but=EXPERIMENTAL, blank=""),
            "stop_reason": derived("its own request", but=EXPERIMENTAL, blank=known_reason),
            "problem": derived("what services say of its request", but=EXPERIMENTAL, blank=""),
            "verdict_problem": derived("what services say of its request", but=EXPERIMENTAL, blank=""),
        },
        never="model scores figures",
    ),
    "conversations.Experiment": Table(never="state problem versions model_names judge"),
    "conversations.CaseResult": Table(goes_with="case", never="problem results"),
    "conversations.LintFinding": Table(staff="reason", never="rule subject state setting details"),
    "conversations.Replay": Table(staff="conditions", never="state figures problem rule"),
    "conversations.RequestHour": Table(never="provider model figures"),
    "conversations.TemporaryHour": Table(never="provider model figures"),
    "conversations.Lease": Table(never="name"),
    "conversations.MaintenanceRun": Table(never="kind details"),
    "conversations.GivenRight": Table(),
    "conversations.GroupSignIn": Table(),
    "conversations.GroupAccess": Table(never="assistants models connections tools"),
    "conversations.GroupManager": Table(goes_with="user"),
    "artifacts.Preset": Table(staff="slug name description prompt language", never="kind"),
    "artifacts.Preset_assistants": Table(),
    "socialaccount.SocialApp": Table(staff="name client_id settings", never="provider provider_id key secret"),
    "auth.Group": Table(staff="name"),
    "auth.Permission": Table(never="name codename"),
    "auth.Group_permissions": Table(),
    "auth.User_groups": Table(),
    "auth.User_user_permissions": Table(),
    "contenttypes.ContentType": Table(never="app_label model"),
}
"""By the label of the model."""

UNMODELLED = {"django_migrations": "app name"}
"""Tables of the database that have no model: their columns without words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """Bytes outside of PostgreSQL. ``place`` is a pattern of its keys or of paths below its setting."""

    setting: str
    place: str
    holds: Holds
    goes: str


STORES = {
    "files": Store(
        setting="OPENBOOK_FILES_DIR",
        place=r"kept/.*",
        holds=Holds.WORDS,
        goes="within seconds of the row that names them, by a worker (BytesToRemove)",
    ),
    "scratch": Store(
        setting="OPENBOOK_FILES_DIR",
        place=r"scratch(/.*)?",
        holds=Holds.WORDS,
        goes="when the file is read; what a killed process left after an hour",
    ),
    "erasures": Store(
        setting="OPENBOOK_ERASURE_LEDGER",
        place=r"salt|[^/]+\.jsonl",
        holds=Holds.NEVER,
        goes="never: salted digests of ids, to forget again after a restore",
    ),
    "counts": Store(
        setting="REDIS_URL",
        place=r"(:1:)?(requests|messages|sign-in|mail)[.\w-]*",
        holds=Holds.NEVER,
        goes="with its minute or hour",
    ),
    "rings": Store(setting="REDIS_URL", place=r"(thread|reply|owner)\.[\w.-]*", holds=Holds.NEVER, goes="at once"),
}


def table_of(model: type[Model] | Model) -> Table:
    return TABLES[model._meta.label]


def blanks_of(model: type[Model]) -> dict[str, Any]:
    """What stands in the columns of a row that is blanked, but for those where it depends on what stood there."""
    columns = table_of(model).columns
    plain = {name: column.blank for name, column in columns.items() if column.blank is not Keep}
    return {name: blank() if blank is list else blank for name, blank in plain.items() if not _depends(blank)}


def dependent_blanks_of(model: type[Model]) -> dict[str, Callable[[Any], Any]]:
    """Functions of what stood there, by column."""
    return {name: column.blank for name, column in table_of(model).columns.items() if _depends(column.blank)}


def content_columns(model: type[Model]) -> list[str]:
    """Those that staff may see once they state a reason, and that no list of theirs reads."""
    return [name for name, column in table_of(model).columns.items() if column.has_words and not column.listed]


def emptied_with_a_thread() -> Iterator[type[Model]]:
    """The tables whose rows of a thread all go when it is cleared."""
    for label, table in TABLES.items():
        model = apps.get_model(label)
        if table.cleared is GOES and any(column.name == "thread" for column in model._meta.concrete_fields):
            yield model


def _depends(blank: Any) -> bool:
    return callable(blank) and blank is not Keep and blank is not list
