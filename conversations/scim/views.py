"""The calls of SCIM. Each answers in its own media type, and fails in its own shape."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.auth.models import Group as AuthGroup
from django.contrib.auth.models import User as AuthUser
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
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
from conversations.accounts.directory import MemberChange
from conversations.models import ApiToken, Scope
from conversations.rest import errors
from conversations.rest.authentication import TokenAuthentication
from conversations.rest.base import APIView, JSONParser, token_of
from conversations.scim import filters, members, resources
from conversations.scim.resources import MOST_RESULTS, POLICY, PROVIDER, Group, User, group_resource, user_resource

MEDIA_TYPE = "application/scim+json"
SCIM_TYPES = {"taken": "uniqueness", "invalid_profile": "invalidValue", "parse_error": "invalidSyntax"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class BearerToken(TokenAuthentication):
    """What is refused names the scheme that directories send."""

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


class ScimView(APIView):
    schema = None
    scopes: ClassVar[Mapping[str, Scope | None]] = dict.fromkeys(METHODS, Scope.SCIM)
    http_method_names = [method.lower() for method in METHODS]
    refuses_unknown_parameters = False
    needs_acceptance = False
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


class OfKind(ScimView):
    """People, or groups."""

    kind: type[Resource[Any]]

    def rows(self) -> QuerySet[Any]:
        raise NotImplementedError

    def resource(self, row: Any, request: Request) -> Resource[Any]:
        raise NotImplementedError

    def complete(self, told: Any, row: Any, request: Request, parameters: ResponseParameters[Any]) -> None:
        """Add what an answer has beside the resource."""

    def told(self, row: Any, request: Request, context: Context) -> Response:
        parameters = _parameters(self.kind, request)
        told = _dumped(self.resource(row, request), context, parameters)
        self.complete(told, row, request, parameters)
        return Response(told)


class OfPeople(OfKind):
    kind = User

    def rows(self) -> QuerySet[AuthUser]:
        return directory.people()

    def resource(self, row: AuthUser, request: Request) -> User:
        return user_resource(row, _site(request))


class OfGroups(OfKind):
    kind = Group

    def rows(self) -> QuerySet[AuthGroup]:
        return directory.all_groups()

    def resource(self, row: AuthGroup, request: Request) -> Group:
        return group_resource(row, _site(request))

    def complete(self, told: Any, row: AuthGroup, request: Request, parameters: ResponseParameters[Any]) -> None:
        if (parts := members.told_parts(parameters)) and (ids := directory.member_ids(row)):
            told[members.NAME] = members.tell(ids, parts, _site(request))


class Collection(OfKind):
    """``POST`` makes one, ``GET`` lists them."""

    columns: Mapping[str, str]

    def listed_rows(self, parameters: ResponseParameters[Any]) -> QuerySet[Any]:
        """With what the answer to a list is made of."""
        return self.rows()

    def matching(self, search: SearchRequest[Any], request: Request) -> list[int]:
        """The ids of all that a filter lets through."""
        assert search.filter
        rows = self.rows().filter(filters.narrowed(search.filter.ast, dict(self.columns)))
        return [row.pk for row in rows if search.filter.match(self.resource(row, request))]

    def make(self, body: dict[str, Any], request: Request) -> Any:
        raise NotImplementedError

    def get(self, request: Request) -> Response:
        return self.listed(request, request.query_params.dict())

    def listed(self, request: Request, asked: Any) -> Response:
        kind: Any = self.kind
        search = SearchRequest[kind].model_validate(asked, scim_ctx=Context.SEARCH_REQUEST, scim_policy=POLICY)
        rows = self.listed_rows(search)
        if search.filter is None:
            found, total = list(rows[_page(search)]), rows.count()
        else:
            ids = self.matching(search, request)
            found, total = list(rows.filter(pk__in=ids[_page(search)])), len(ids)
        answer = _listed([self.resource(row, request) for row in found], kind, total, search.start_index or 1, search)
        for told, row in zip(answer.get("Resources", ()), found, strict=True):
            self.complete(told, row, request, search)
        return Response(answer)

    def post(self, request: Request) -> Response:
        row = self.make(_body(request), request)
        answer = self.told(self.rows().get(pk=row.pk), request, Context.RESOURCE_CREATION_RESPONSE)
        answer.status_code = 201
        answer["Location"] = f"{_site(request)}/scim/v2/{self.kind.__name__}s/{row.pk}"
        return answer


def _page(search: SearchRequest[Any]) -> slice:
    start = (search.start_index or 1) - 1
    return slice(start, start + (MOST_RESULTS if search.count is None else min(search.count, MOST_RESULTS)))


def _parameters(kind: Any, request: Request) -> ResponseParameters[Any]:
    asked = {
        name: request.query_params[name]
        for name in ("attributes", "excludedAttributes")
        if name in request.query_params
    }
    return ResponseParameters[kind].model_validate(asked, scim_policy=POLICY)


class Single(OfKind):
    """One by its id: read, replaced, changed in parts, removed."""

    def replace(self, row: Any, body: dict[str, Any], request: Request) -> None:
        raise NotImplementedError

    def change(self, row: Any, body: dict[str, Any], request: Request) -> None:
        raise NotImplementedError

    def remove(self, row: Any, request: Request) -> None:
        raise NotImplementedError

    def replaced(self, row: Any, body: dict[str, Any], request: Request) -> Any:
        """The resource as a body has it."""
        resource = self.kind.model_validate(body, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST, scim_policy=POLICY)
        resource.replace(self.resource(row, request))
        return resource

    def changed(self, row: Any, body: dict[str, Any], request: Request) -> Any:
        """The resource after the operations of a body."""
        kind: Any = self.kind
        operations = PatchOp[kind].model_validate(body, scim_ctx=Context.RESOURCE_PATCH_REQUEST, scim_policy=POLICY)
        after = self.resource(row, request)
        operations.patch(after, scim_policy=POLICY)
        return after

    def get(self, request: Request, id: str) -> Response:
        return self.told(self._found(id), request, Context.RESOURCE_QUERY_RESPONSE)

    @transaction.atomic
    def put(self, request: Request, id: str) -> Response:
        self.replace(self._found(id, to_change=True), _body(request), request)
        return self.told(self._found(id), request, Context.RESOURCE_REPLACEMENT_RESPONSE)

    @transaction.atomic
    def patch(self, request: Request, id: str) -> Response:
        self.change(self._found(id, to_change=True), _body(request), request)
        return self.told(self._found(id), request, Context.RESOURCE_PATCH_RESPONSE)

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


class Users(OfPeople, Collection):
    columns = filters.USERS
    rights: ClassVar[Mapping[str, str]] = {"GET": "auth.view_user", "POST": "auth.add_user"}

    def make(self, body: dict[str, Any], request: Request) -> AuthUser:
        return directory.create(resources.profile_from(_created(User, body)), actor=_actor(request))


def _created[Kind: Resource[Any]](kind: type[Kind], body: dict[str, Any]) -> Kind:
    return kind.model_validate(body, scim_ctx=Context.RESOURCE_CREATION_REQUEST, scim_policy=POLICY)


class UserDetail(OfPeople, Single):
    rights: ClassVar[Mapping[str, str]] = {
        "GET": "auth.view_user",
        "PUT": "auth.change_user",
        "PATCH": "auth.change_user",
        "DELETE": "auth.delete_user",
    }

    def replace(self, row: AuthUser, body: dict[str, Any], request: Request) -> None:
        directory.change(row, resources.profile_from(self.replaced(row, body, request)), actor=_actor(request))

    def change(self, row: AuthUser, body: dict[str, Any], request: Request) -> None:
        directory.change(row, resources.profile_from(self.changed(row, body, request)), actor=_actor(request))

    def remove(self, row: AuthUser, request: Request) -> None:
        directory.remove(row, actor=_actor(request))


class Groups(OfGroups, Collection):
    columns = filters.GROUPS
    rights: ClassVar[Mapping[str, str]] = {"GET": "auth.view_group", "POST": "auth.add_group"}

    def listed_rows(self, parameters: ResponseParameters[Any]) -> QuerySet[AuthGroup]:
        return directory.with_members(self.rows()) if members.told_parts(parameters) else self.rows()

    def matching(self, search: SearchRequest[Any], request: Request) -> list[int]:
        assert search.filter
        rows = self.rows().filter(filters.narrowed(search.filter.ast, dict(self.columns)))
        rows = directory.with_members(rows, filters.named_members(search.filter.ast))
        match, site = search.filter.match, _site(request)
        return [row.pk for row in rows if match(group_resource(row, site, directory.member_ids(row)))]

    def make(self, body: dict[str, Any], request: Request) -> AuthGroup:
        body, added = members.split_resource(body)
        resource = _created(Group, body)
        return directory.make_group(
            resource.display_name or "", resource.external_id or "", added, actor=_actor(request)
        )


class GroupDetail(OfGroups, Single):
    rights: ClassVar[Mapping[str, str]] = {
        "GET": "auth.view_group",
        "PUT": "auth.change_group",
        "PATCH": "auth.change_group",
        "DELETE": "auth.delete_group",
    }

    def replace(self, row: AuthGroup, body: dict[str, Any], request: Request) -> None:
        others, moved = members.split_resource(body)
        self._save(row, self.replaced(row, others, request), moved, request)

    def change(self, row: AuthGroup, body: dict[str, Any], request: Request) -> None:
        others, moved = members.split_patch(body)
        self._save(row, self.changed(row, others, request), moved, request)

    def _save(self, row: AuthGroup, after: Group, moved: MemberChange, request: Request) -> None:
        name, external_id = after.display_name or "", after.external_id or ""
        directory.change_group(row, name, external_id, moved, actor=_actor(request))

    def remove(self, row: AuthGroup, request: Request) -> None:
        directory.remove_group(row, actor=_actor(request))


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
        groups = directory.with_members(directory.all_groups())
        found: list[Resource[Any]] = [user_resource(row, site) for row in directory.people()]
        found += [group_resource(row, site, directory.member_ids(row)) for row in groups]
        if search.filter is not None:
            found = [each for each in found if search.filter.match(each)]
        return Response(_listed(found[_page(search)], kind, len(found), search.start_index or 1, search))


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
