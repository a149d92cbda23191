"""The services that search the web: how each is asked, and where its results lie. A row each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conversations.context.turns.sources import MOST_TITLE
from conversations.runtime.text import clean, one_line, shortened
from conversations.runtime.values import dataclass

MOST_RESULTS, MOST_WORDS, MOST_ADDRESS = 8, 1_000, 2_000
"""Results of a search; characters of what one says, and of its address."""


@dataclass(frozen=True, kw_only=True)
class SearchService:
    """``url`` is where it is unless the operator names another place; empty: it runs at the operator's. ``header`` holds
    the key, after ``scheme``. ``query`` and ``count`` are its names of what is asked for, sent as JSON where it ``posts``,
    with what is ``fixed``. ``results`` is the way to their list, ``words`` and ``date`` are their names in each."""

    url: str
    path: str
    header: str = "Authorization"
    scheme: str = "Bearer "
    posts: bool = False
    query: str = "q"
    count: str = ""
    fixed: Mapping[str, str]
    results: Sequence[str]
    words: str
    date: str

    @property
    def needs_key(self) -> bool:
        return bool(self.url)


SERVICES = {
    "searxng": SearchService(
        url="",
        path="/search",
        fixed={"format": "json"},
        results=("results",),
        words="content",
        date="publishedDate",
    ),
    "brave": SearchService(
        url="https://api.search.brave.com/res/v1",
        path="/web/search",
        header="X-Subscription-Token",
        scheme="",
        count="count",
        fixed={"text_decorations": "false", "result_filter": "web"},
        results=("web", "results"),
        words="description",
        date="page_age",
    ),
    "tavily": SearchService(
        url="https://api.tavily.com",
        path="/search",
        posts=True,
        query="query",
        count="max_results",
        fixed={},
        results=("results",),
        words="content",
        date="published_date",
    ),
    "kagi": SearchService(
        url="https://kagi.com/api/v1",
        path="/search",
        posts=True,
        query="query",
        count="limit",
        fixed={"workflow": "search"},
        results=("data", "search"),
        words="snippet",
        date="time",
    ),
}


class SearchRequest(NamedTuple):
    method: str
    url: str
    headers: Mapping[str, str]
    params: Mapping[str, Any] | None
    json: Mapping[str, Any] | None


class Result(NamedTuple):
    title: str
    url: str
    text: str
    date: str


def request_of(service: SearchService, *, url: str, key: str, query: str) -> SearchRequest:
    """``url`` is the operator's; empty: the service's own. ``key`` may be empty."""
    values = {service.query: query, **service.fixed, **({service.count: MOST_RESULTS} if service.count else {})}
    return SearchRequest(
        method="POST" if service.posts else "GET",
        url=(url or service.url).rstrip("/") + service.path,
        headers={service.header: service.scheme + key} if key else {},
        params=None if service.posts else values,
        json=values if service.posts else None,
    )


def results_of(service: SearchService, answer: Any) -> list[Result]:
    """The first of them. Raises ``ValueError`` where an answer is not as the service documents it."""
    for name in service.results:
        if not isinstance(answer, dict):
            raise ValueError("no object")
        answer = answer.get(name)
    if answer is None:  # as some say that there are none
        return []
    if not isinstance(answer, list):
        raise ValueError("no list")
    return [*_results(service, answer)][:MOST_RESULTS]


def _results(service: SearchService, rows: Sequence[Any]) -> Iterator[Result]:
    for row in rows:
        match row:
            case {"url": str(url), "title": str(title)} if len(url) <= MOST_ADDRESS and url.startswith(
                ("https://", "http://")
            ):
                words, date = row.get(service.words), row.get(service.date)
                yield Result(
                    title=shortened(one_line(clean(title)), MOST_TITLE),
                    url=url,
                    text=shortened(one_line(clean(words)), MOST_WORDS) if isinstance(words, str) else "",
                    date=date[:40] if isinstance(date, str) else "",
                )
