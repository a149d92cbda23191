from typing import Any

from django.http import HttpRequest
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt  # it takes tokens alone, and no session
def called(request: HttpRequest, view: str, **kwargs: str) -> Any:
    from conversations.scim import views  # noqa: PLC0415  (its library takes a second to load, for calls that few servers get)

    return views.dispatch(request, view, **kwargs)


def named(view: str) -> dict[str, str]:
    return {"view": view}


urlpatterns = [
    path("ServiceProviderConfig", called, named("Config")),
    path("ResourceTypes", called, named("ResourceTypes")),
    path("ResourceTypes/<str:name>", called, named("ResourceTypes")),
    path("Schemas", called, named("Schemas")),
    path("Schemas/<str:name>", called, named("Schemas")),
    path(".search", called, named("Search")),
    path("Users", called, named("Users")),
    path("Users/.search", called, named("UserSearch")),
    path("Users/<str:id>", called, named("UserDetail")),
    path("Groups", called, named("Groups")),
    path("Groups/.search", called, named("GroupSearch")),
    path("Groups/<str:id>", called, named("GroupDetail")),
    re_path("^.*$", called, named("Unknown")),
]
