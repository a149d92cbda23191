"""Pages for staff that may be read from a replica: they say how old they may be."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, cast

from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse

from conversations.runtime.lagging import read_lagging


def lagging_page[S, **P](
    view: Callable[Concatenate[S, HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[S, HttpRequest, P], HttpResponse]:
    """A view that only reads where it is asked by GET. Its template is drawn at once, as that reads, too."""

    def drawn(pages: S, request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(pages, request, *args, **kwargs)
        return response.render() if isinstance(response, SimpleTemplateResponse) else response

    @wraps(view)
    def viewed(pages: S, request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        shown = read_lagging(drawn) if request.method == "GET" else drawn
        return shown(pages, request, *args, **kwargs)

    return cast("Callable[Concatenate[S, HttpRequest, P], HttpResponse]", viewed)
