"""The calls of SCIM. Each answers in its own media type, and fails in its own shape."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.auth.models import Group as AuthGroup
from django.contrib.auth.models import User as AuthUser
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from scim2_models import (
    Context,
    Error,
    ListResponse,
    Meta,
    PatchOp,
    Resource,
    ResponseParameters,
    SCIMException,
    SearchRequest,
)
from scim2_models import exceptions as scim_errors

from conversations.accounts import directory
from conversations.models import ApiToken, Scope
from conversations.rest import errors
from conversations.rest.authentication import TokenAuthentication
from conversations.rest.base import APIView, JSONParser, token_of
from conversations.scim import filters, resources
from conversations.scim.resources import MOST_RESULTS, POLICY, PROVIDER, Group, User, group_resource, user_resource

MEDIA_TYPE = "application/scim+json"
SCIM_TYPES = {"taken": "uniqueness", "invalid_profile": "invalidValue", "parse_error": "invalidSyntax"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

MEMBERS = "members"
"""What may be long of a group."""


class BearerToken(TokenAuthentication):
    """``Authorization: Bearer …``, as directories send it, or ``Token …``."""

    def offered(self, request: Request) -> str | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return token.strip() if scheme.lower() in ("bearer", "token") else None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ScimParser(JSONParser):
    media_type = MEDIA_TYPE


class ScimRenderer(JSONRenderer):
    media_type = MEDIA_TYPE
    format = "scim"


def answer_in_scim(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Every error in the shape of RFC 7644, 3.12. The headers are those that it has elsewhere."""
    match exception:
        case SCIMException():
            return _error(exception.to_error())
        case ValidationError():
            return _error(Error.from_validation_errors(exception)[0])
    response = errors.exception_handler(exception, context)
    if response is not None:
        problem = response.data["error"]
        code = SCIM_TYPES.get(problem["code"])
        error = Error(status=response.status_code, scim_type=code, detail=problem["message"])
        response.data = error.model_dump()
    return response


def _error(error: Error) -> Response:
    return Response(error.model_dump(), status=int(error.status or 400))


@extend_schema(exclude=True)
class ScimView(APIView):
    scopes: ClassVar[Mapping[str, Scope | None]] = dict.fromkeys(METHODS, Scope.SCIM)
    http_method_names = [method.lower() for method in METHODS]
    refuses_unknown_parameters = False
    authentication_classes = [BearerToken]
    parser_classes = [ScimParser, JSONParser]
    renderer_classes = [ScimRenderer]
    rights: ClassVar[Mapping[str, str]] = {}
    """By method, the permission that the token's user needs."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        right = self.rights.get(str(request.method))
        if right and not request.user.has_perm(right):
            raise exceptions.PermissionDenied(f"The account of this token lacks the permission {right}.")

    def get_exception_handler(self) -> Any:
        return answer_in_scim


def _site(request: Request) -> str:
    return request.build_absolute_uri("/").rstrip("/")


def _actor(request: Request) -> ApiToken:
    token = token_of(request)
    assert token  # sessions are not taken here
    return token


def _dumped(resource: Resource[Any], context: Context, parameters: ResponseParameters[Any] | None = None) -> Any:
    return resource.model_dump(scim_ctx=context, response_parameters=parameters, scim_provider=PROVIDER)


def _body(request: Request) -> dict[str, Any]:
    if not isinstance(request.data, dict):
        raise scim_errors.InvalidSyntaxException(detail="The body is one JSON object.")
    return request.data


class Discovery(ScimView):
    """What is the same for everybody: a list, or one of it."""

    def entries(self, site: str) -> Sequence[Resource[Any]]:
        raise NotImplementedError

    def get(self, request: Request, name: str = "") -> Response:
        if "filter" in request.query_params:
            raise exceptions.PermissionDenied("What this server offers can’t be filtered.")
        found = self.entries(_site(request))
        if name:
            one = next((each for each in found if each.id == name), None)
            if one is None:
                raise scim_errors.NotFoundException(detail=f"There is no {name}.")
            return Response(_dumped(one, Context.RESOURCE_QUERY_RESPONSE))
        return Response(_listed(found, type(found[0]), len(found)))


def _listed(
    rows: Sequence[Resource[Any]],
    kind: Any,
    total: int,
    start: int = 1,
    parameters: ResponseParameters[Any] | None = None,
) -> Any:
    answer = ListResponse[kind](total_results=total, start_index=start, items_per_page=len(rows), resources=list(rows))
    return answer.model_dump(
        scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=parameters, scim_provider=PROVIDER
    )


def _located(entries: Sequence[Resource[Any]], kind: str, site: str) -> Sequence[Resource[Any]]:
    placed = []
    for each in entries:
        meta = Meta(resource_type=kind.removesuffix("s"), location=f"{site}/scim/v2/{kind}/{each.id}")
        placed.append(each.model_copy(update={"meta": meta}))
    return placed


class Schemas(Discovery):
    def entries(self, site: str) -> Sequence[Resource[Any]]:
        return _located(PROVIDER.schemas, "Schemas", site)


class ResourceTypes(Discovery):
    def entries(self, site: str) -> Sequence[Resource[Any]]:
        return _located(PROVIDER.resource_types, "ResourceTypes", site)


class Config(ScimView):
    def get(self, request: Request) -> Response:
        return Response(_dumped(resources.config(_site(request)), Context.RESOURCE_QUERY_RESPONSE))


class Collection(ScimView):
    """``POST`` makes one, ``GET`` lists them."""

    kind: type[Resource[Any]]
    columns: Mapping[str, str]

    def rows(self) -> QuerySet[Any]:
        raise NotImplementedError

    def listed_rows(self, parameters: ResponseParameters[Any]) -> QuerySet[Any]:
        """With what the resources of a list are made of."""
        return self.rows()

    @staticmethod
    def excludes_members(parameters: ResponseParameters[Any]) -> bool:
        return MEMBERS in (parameters.excluded_attributes or ())

    def resource(self, row: Any, request: Request, parameters: ResponseParameters[Any]) -> Resource[Any]:
        raise NotImplementedError

    def make(self, resource: Any, request: Request) -> Any:
        raise NotImplementedError

    def get(self, request: Request) -> Response:
        return self.listed(request, request.query_params.dict())

    def listed(self, request: Request, asked: Any) -> Response:
        kind: Any = self.kind
        search = SearchRequest[kind].model_validate(asked, scim_ctx=Context.SEARCH_REQUEST, scim_policy=POLICY)
        start = search.start_index or 1
        count = MOST_RESULTS if search.count is None else min(search.count, MOST_RESULTS)
        whole = partial_resource(self.resource, request, search)
        if search.filter is None:
            rows = self.listed_rows(search)
            found = [whole(row) for row in rows[start - 1 : start - 1 + count]]
            return Response(_listed(found, kind, rows.count(), start, search))
        asks_for_members = MEMBERS in str(asked.get("filter", "")).lower()
        needed: Any = ResponseParameters[kind]() if asks_for_members else search
        narrowed = self.listed_rows(needed).filter(filters.narrowed(search.filter.ast, dict(self.columns)))
        judged = partial_resource(self.resource, request, needed)
        matching = [row for row in narrowed if search.filter.match(judged(row))]
        found = [whole(row) for row in matching[start - 1 : start - 1 + count]]
        return Response(_listed(found, kind, len(matching), start, search))

    def post(self, request: Request) -> Response:
        resource = self.kind.model_validate(
            _body(request), scim_ctx=Context.RESOURCE_CREATION_REQUEST, scim_policy=POLICY
        )
        parameters = _parameters(self.kind, request)
        row = self.make(resource, request)
        made = self.resource(self.rows().get(pk=row.pk), request, parameters)
        answer = Response(_dumped(made, Context.RESOURCE_CREATION_RESPONSE, parameters), status=201)
        answer["Location"] = str(made.meta.location) if made.meta else ""
        return answer


def partial_resource(
    make: Callable[[Any, Request, Any], Resource[Any]], request: Request, parameters: Any
) -> Callable[[Any], Resource[Any]]:
    return lambda row: make(row, request, parameters)


def _parameters(kind: Any, request: Request) -> ResponseParameters[Any]:
    asked = {
        name: request.query_params[name]
        for name in ("attributes", "excludedAttributes")
        if name in request.query_params
    }
    return ResponseParameters[kind].model_validate(asked, scim_policy=POLICY)


class Single(ScimView):
    """One by its id: read, replaced, changed in parts, removed."""

    kind: type[Resource[Any]]

    def rows(self) -> QuerySet[Any]:
        raise NotImplementedError

    def resource(self, row: Any, request: Request) -> Resource[Any]:
        raise NotImplementedError

    def save(self, row: Any, after: Any, request: Request) -> None:
        raise NotImplementedError

    def remove(self, row: Any, request: Request) -> None:
        raise NotImplementedError

    def get(self, request: Request, id: str) -> Response:
        return self._told(self._found(id), request, Context.RESOURCE_QUERY_RESPONSE)

    @transaction.atomic
    def put(self, request: Request, id: str) -> Response:
        row = self._found(id, to_change=True)
        resource = self.kind.model_validate(
            _body(request), scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST, scim_policy=POLICY
        )
        resource.replace(self.resource(row, request))
        self.save(row, resource, request)
        return self._told(self._found(id), request, Context.RESOURCE_REPLACEMENT_RESPONSE)

    @transaction.atomic
    def patch(self, request: Request, id: str) -> Response:
        kind: Any = self.kind
        row = self._found(id, to_change=True)
        operations = PatchOp[kind].model_validate(
            _body(request), scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=POLICY
        )
        after = self.resource(row, request)
        operations.patch(after, scim_policy=POLICY)
        self.save(row, after, request)
        return self._told(self._found(id), request, Context.RESOURCE_PATCH_RESPONSE)

    def delete(self, request: Request, id: str) -> Response:
        self.remove(self._found(id), request)
        return Response(status=204)

    def _found(self, id: str, *, to_change: bool = False) -> Any:
        """Two changes of the same one come after each other."""
        rows = self.rows().select_for_update(of=("self",)) if to_change else self.rows()
        row = rows.filter(pk=int(id)).first() if filters.is_id(id) else None
        if row is None:
            raise scim_errors.NotFoundException(detail=f"There is no {self.kind.__name__} {id[:40]}.")
        return row

    def _told(self, row: Any, request: Request, context: Context) -> Response:
        return Response(_dumped(self.resource(row, request), context, _parameters(self.kind, request)))


class Users(Collection):
    kind, columns = User, filters.USERS
    rights: ClassVar[Mapping[str, str]] = {"GET": "auth.view_user", "POST": "auth.add_user"}

    def rows(self) -> QuerySet[AuthUser]:
        return directory.people()

    def resource(self, row: AuthUser, request: Request, parameters: ResponseParameters[Any]) -> User:
        return user_resource(row, _site(request))

    def make(self, resource: User, request: Request) -> AuthUser:
        return directory.create(resources.profile_from(resource), actor=_actor(request))


class UserDetail(Single):
    kind = User
    rights: ClassVar[Mapping[str, str]] = {
        "GET": "auth.view_user",
        "PUT": "auth.change_user",
        "PATCH": "auth.change_user",
        "DELETE": "auth.delete_user",
    }

    def rows(self) -> QuerySet[AuthUser]:
        return directory.people()

    def resource(self, row: AuthUser, request: Request) -> User:
        return user_resource(row, _site(request))

    def save(self, row: AuthUser, after: User, request: Request) -> None:
        directory.change(row, resources.profile_from(after), actor=_actor(request))

    def remove(self, row: AuthUser, request: Request) -> None:
        directory.remove(row, actor=_actor(request))


class Groups(Collection):
    kind, columns = Group, filters.GROUPS
    rights: ClassVar[Mapping[str, str]] = {"GET": "auth.view_group", "POST": "auth.add_group"}

    def rows(self) -> QuerySet[AuthGroup]:
        return directory.all_groups()

    def listed_rows(self, parameters: ResponseParameters[Any]) -> QuerySet[AuthGroup]:
        return self.rows() if self.excludes_members(parameters) else directory.with_members(self.rows())

    def resource(self, row: AuthGroup, request: Request, parameters: ResponseParameters[Any]) -> Group:
        return group_resource(row, _site(request), with_members=not self.excludes_members(parameters))

    def make(self, resource: Group, request: Request) -> AuthGroup:
        return directory.make_group(
            resource.display_name or "",
            resource.external_id or "",
            _member_ids(resource),
            actor=_actor(request),
        )


class GroupDetail(Single):
    kind = Group
    rights: ClassVar[Mapping[str, str]] = {
        "GET": "auth.view_group",
        "PUT": "auth.change_group",
        "PATCH": "auth.change_group",
        "DELETE": "auth.delete_group",
    }

    def rows(self) -> QuerySet[AuthGroup]:
        return directory.all_groups()

    def resource(self, row: AuthGroup, request: Request) -> Group:
        return group_resource(row, _site(request))

    def save(self, row: AuthGroup, after: Group, request: Request) -> None:
        directory.change_group(
            row,
            after.display_name or "",
            after.external_id or "",
            _member_ids(after),
            actor=_actor(request),
        )

    def remove(self, row: AuthGroup, request: Request) -> None:
        directory.remove_group(row, actor=_actor(request))


def _member_ids(group: Group) -> list[int]:
    ids = [each.value for each in group.members or ()]
    if wrong := next((id for id in ids if not filters.is_id(id)), None):
        raise scim_errors.InvalidValueException(detail=f"{wrong[:40]} is no id of a user.")
    return [int(id) for id in ids if id]


class UserSearch(Users):
    """A list that is asked for with a body, which no log of addresses holds."""

    http_method_names = ["post"]
    rights: ClassVar[Mapping[str, str]] = {"POST": "auth.view_user"}

    def post(self, request: Request) -> Response:
        return self.listed(request, _body(request))


class GroupSearch(Groups):
    http_method_names = ["post"]
    rights: ClassVar[Mapping[str, str]] = {"POST": "auth.view_group"}

    def post(self, request: Request) -> Response:
        return self.listed(request, _body(request))


class Search(ScimView):
    """Over people and groups together."""

    http_method_names = ["post"]

    def post(self, request: Request) -> Response:
        if not request.user.has_perms(["auth.view_user", "auth.view_group"]):
            raise exceptions.PermissionDenied("The account of this token may not see people and groups.")
        kind: Any = User | Group
        search = SearchRequest[kind].model_validate(_body(request), scim_ctx=Context.SEARCH_REQUEST, scim_policy=POLICY)
        site = _site(request)
        found: list[Resource[Any]] = [user_resource(row, site) for row in directory.people()]
        found += [group_resource(row, site) for row in directory.with_members(directory.all_groups())]
        if search.filter is not None:
            found = [each for each in found if search.filter.match(each)]
        start = search.start_index or 1
        count = MOST_RESULTS if search.count is None else min(search.count, MOST_RESULTS)
        return Response(_listed(found[start - 1 : start - 1 + count], kind, len(found), start, search))


class Unknown(ScimView):
    """Any other address."""

    def get(self, request: Request, **path: str) -> Response:
        raise scim_errors.NotFoundException(detail="SCIM has no such address here: see /scim/v2/ResourceTypes.")

    post = put = patch = delete = get


def dispatch(request: HttpRequest, view: str, **path: str) -> Any:
    """The view of this name."""
    named: dict[str, type[ScimView]] = {
        each.__name__: each
        for each in (
            Users,
            UserDetail,
            UserSearch,
            Groups,
            GroupDetail,
            GroupSearch,
            Search,
            Schemas,
            ResourceTypes,
            Config,
            Unknown,
        )
    }
    return named[view].as_view()(request, **path)
