"""What staff keep: assistants, models, connections, groups and their limits, as tables of ``staff_rows``."""

from typing import Annotated, Any, TypedDict

from django.contrib.auth.models import Group
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.errors import ServiceRefused
from conversations.models import (
    Assistant,
    Budget,
    Connection,
    Fallback,
    GroupAccess,
    GroupManager,
    GroupSignIn,
    Model,
    ModelPrice,
    Scope,
)
from conversations.providers import ProviderError, connection_trial
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.rest.staff_rows import Part, Table, plain, views_of
from conversations.runtime.shapes import Time, fill, moment
from conversations.staff import connections, rows
from conversations.staff.connection_form import kept_secrets, secret_values
from conversations.staff.offered_models import add_models
from conversations.staff.plain_values import editable

ASSISTANTS = Table(
    name="assistants",
    one="an assistant",
    about="Assistants, offered or not, with all that shapes their requests. A change makes a version of it.",
    model=Assistant,
    scope=Scope.STAFF_ASSISTANTS,
    key="slug",
    fields=editable(Assistant),
    parts={
        "fallbacks": Part(
            model=Fallback,
            fields=("provider", "model", "order"),
            keys=2,
            about="Who is asked where its model can't be reached, is overloaded or takes no key of ours.",
        )
    },
    more={
        "version": (
            Annotated[int | None, "Number of the version that it is at."],
            lambda row: row.version.number if row.version else None,
        )
    },
    prefetched=("offered_models", "fallbacks", "version"),
)
MODELS = Table(
    name="models",
    one="a model",
    about="Models of all services: what they can do and what they cost.",
    model=Model,
    scope=Scope.STAFF_MODELS,
    fields=editable(Model),
    parts={
        "prices": Part(
            model=ModelPrice,
            fields=editable(ModelPrice, "model"),
            keys=2,
            about="In USD for a million tokens.",
        )
    },
    prefetched=("prices",),
)
CONNECTIONS = Table(
    name="connections",
    one="a connection",
    about="Services that models are asked of. Keys and the values of headers are only written.",
    model=Connection,
    scope=Scope.STAFF_MODELS,
    key="slug",
    fields=editable(Connection, "created_at", "updated_at"),
    fixed=("slug", "kind"),
    more={
        "has_key": (Annotated[bool, "Whether a key is set."], lambda row: bool(kept_secrets(row)[0].key)),
        "header_names": (
            Annotated[list[str], "Names of the headers that are sent beside it."],
            lambda row: sorted(kept_secrets(row)[0].headers),
        ),
        "problem": (
            Annotated[str, "What is wrong with what is set; empty: nothing."],
            lambda row: str(kept_secrets(row)[1]),
        ),
        "tested_at": (Annotated[Time | None, "When it was last tried."], lambda row: moment(row.tested_at)),
        "is_working": (Annotated[bool | None, "What came of that; null: never tried."], lambda row: row.is_working),
        "test_result": (Annotated[str, "The same in words."], lambda row: row.test_result),
    },
    secrets={
        "key": Annotated[str | None, {"max_length": 500}, "Stored encrypted, never shown again. Null: forget it."],
        "headers": Annotated[
            dict[str, Any] | None, "Values by name, in the place of all that are set; stored as the key. Null: none."
        ],
    },
    written=secret_values,
)
GROUPS = Table(
    name="groups",
    one="a group",
    about="Groups: what their members may, what they may use, how they sign in, and who manages them. Who is in them is said "
    "by SCIM or in the admin.",
    model=Group,
    scope=Scope.STAFF_GROUPS,
    fields=("name", "permissions"),
    parts={
        "access": Part(
            model=GroupAccess,
            fields=editable(GroupAccess, "group"),
            about="What members may use. Null: nothing is said.",
        ),
        "sign_in": Part(
            model=GroupSignIn,
            fields=("requires_second_factor", "session_hours", "session_idle_minutes"),
            about="How members sign in. Null: nothing is said.",
        ),
        "managers": Part(model=GroupManager, fields=("user",), keys=1, about="Who manages the group."),
    },
    prefetched=("permissions__content_type", "managers__user"),
)
BUDGETS = Table(
    name="budgets",
    one="a budget",
    about="Limits of groups, and of the whole server: tokens and USD a day and a month, together and for each person.",
    model=Budget,
    scope=Scope.STAFF_GROUPS,
    fields=editable(Budget),
    fixed=("group",),
    prefetched=("group",),
)
TABLES = (ASSISTANTS, MODELS, CONNECTIONS, GROUPS, BUDGETS)


class TrialAnswer(TypedDict):
    is_working: Annotated[bool, "Whether it answered."]
    words: Annotated[str, "What happened."]


class OfferedModelAnswer(TypedDict):
    id: Annotated[str, "The service's id of it."]
    label: Annotated[str, "What the service calls it."]
    context_window: Annotated[int, "In tokens; 0: the service does not say."]
    max_output: Annotated[int, "In tokens; 0: the service does not say."]
    added: Annotated[bool, "Whether it is among the models here."]


class OfferedModelsAnswer(TypedDict):
    results: Annotated[list[OfferedModelAnswer], "By id."]


class AddedModels(TypedDict):
    models: Annotated[list[str], {"allow_empty": False, "max_length": 200}, "Ids of those that are to be added."]


class ConnectionTest(APIView):
    scopes = {"POST": Scope.STAFF_MODELS}

    @describe(request=None, responses=described(TrialAnswer))
    def post(self, request: Request, row_id: str) -> Response:
        """Ask the service for a word, as on the page of the connection: what it costs is the caller's."""
        row = _changeable(request, row_id)
        trial = connections.try_out(caller(request), row)
        rows.pages_of(Connection).log_change(plain(request), row, f"Tested: {trial.words}")
        return Response(fill(TrialAnswer, trial))


class ConnectionModels(APIView):
    scopes = dict.fromkeys(("GET", "POST"), Scope.STAFF_MODELS)

    @describe(operation_id="api_v1_staff_connections_models_list", responses=described(OfferedModelsAnswer))
    def get(self, request: Request, row_id: str) -> Response:
        """What the service offers now: it is asked."""
        row = _changeable(request, row_id)
        return Response(_offered(row))

    @describe(request=described(AddedModels), responses={201: described(OfferedModelsAnswer)})
    def post(self, request: Request, row_id: str) -> Response:
        """Make models that the service offers models here, with what is known of their sizes and prices."""
        row = _changeable(request, row_id)
        rows.demand_add(plain(request), Model)
        wanted = set(valid(AddedModels, request)["models"])
        offered = _asked(row)
        if unknown := wanted - {each.id for each in offered}:
            raise ValidationError({"models": [f"The service does not offer {', '.join(sorted(unknown))}."]})
        for model in add_models(row, [each for each in offered if each.id in wanted]):
            rows.pages_of(Connection).log_change(plain(request), row, f"Added the model {model.name}.")
        return Response(_offered(row), status=201)


def _changeable(request: Request, row_id: str) -> Connection:
    row: Connection = CONNECTIONS.get(request, row_id)
    rows.demand_change(plain(request), row)
    return row


def _asked(row: Connection) -> list[Any]:
    connections.give_database_back()
    try:
        return connection_trial.offered_models(row)
    except ProviderError as error:
        raise ServiceRefused(connection_trial.in_words(error, row)) from error


def _offered(row: Connection) -> OfferedModelsAnswer:
    known = set(Model.objects.filter(provider=row.slug).values_list("name", flat=True))
    return {"results": [fill(OfferedModelAnswer, each, added=each.id in known) for each in _asked(row)]}


VIEWS = {table.name: views_of(table) for table in TABLES}
