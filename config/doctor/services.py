"""What is asked over the network: models, Redis, mail."""

import asyncio
import smtplib
import ssl
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import mailers
from django.core.mail.backends.smtp import EmailBackend
from django.utils.translation import gettext

from config.doctor.database import drift
from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning, wrong
from config.doctor.machine import folder
from conversations.models import Assistant, Connection, Fallback
from conversations.providers import ProviderError, get_provider, provider_name
from conversations.providers.base import OFFLINE, Provider
from conversations.runtime.redis_client import unreachable, waiting
from conversations.runtime.wording import filled, translated
from conversations.tools import programs

ASKED_SECONDS = 10.0
MAIL_SECONDS, REDIS_SECONDS = 5.0, 3.0
LEAST_REDIS = (6, 0)
FULL = 0.9
SEARCHED = "weather"


def look_at_providers() -> Sequence[Finding]:
    """The default one, all that assistants name, and connections that are switched on."""
    with reading():
        assistants = Assistant.objects.exclude(provider="").values_list("provider", flat=True)
        instead = Fallback.objects.values_list("provider", flat=True)
        made = Connection.objects.filter(is_active=True).values_list("slug", flat=True)
        names = sorted({*assistants, *instead, *made} - {provider_name()})
    return asyncio.run(_all([provider_name(), *names]))


async def _all(names: Sequence[str]) -> list[Finding]:
    return await asyncio.gather(*map(_provider, names))


async def _provider(name: str) -> Finding:
    advice = filled("See to it: docs/operate/provider-errors.md ({setting}).", setting=setting_of(name))
    try:
        provider = await asyncio.to_thread(get_provider, name)
        if obstacle := await asyncio.to_thread(provider.obstacle):
            return wrong(f"{name}: {translated(obstacle.message)}", advice)
        return await _asked(name, provider)
    except ProviderError as error:
        return wrong(f"{name}: {translated(error.message)}", advice)


async def _asked(name: str, provider: Provider) -> Finding:
    if name == OFFLINE:
        advice = gettext("Set a key, such as ANTHROPIC_API_KEY, or run `make local`.")
        return warning(gettext("offline: no model stands behind it, replies are made up by rules"), advice)
    if not provider.lists_models:
        return ok(filled("{name}: set up; it lists no models, so it was not asked", name=name))
    began = time.perf_counter()
    count = len(await provider.models(seconds=ASKED_SECONDS))
    seconds = f"{time.perf_counter() - began:.1f}"
    return ok(
        filled(
            "{name}: the key is accepted, {count} models listed in {seconds} s", name=name, count=count, seconds=seconds
        )
    )


def setting_of(name: str) -> str:
    known = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY, OPENAI_BASE_URL", "local": "make local"}
    return known.get(name) or gettext("Connections in the admin")


def look_at_redis() -> Sequence[Finding]:
    if not settings.REDIS_URL:
        return [ok(gettext("none: right for one server process"))]
    try:
        return asyncio.run(_redis())
    except unreachable() as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        advice = gettext("Start Redis, or correct REDIS_URL: docs/operate/redis-away.md.")
        return [wrong(filled("can't be used: {problem}", problem=problem), advice)]


async def _redis() -> list[Finding]:
    client = waiting(settings.REDIS_URL, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS)
    try:
        before = time.time()
        seconds, microseconds = await client.time()
        after = time.time()
        facts = await client.info()
    finally:
        await client.aclose()
    clock = drift("Redis", (before + after) / 2 - seconds - microseconds / 1e6, margin=(after - before) / 2)
    return redis(facts) if clock.status == "ok" else [*redis(facts), clock]


def redis(facts: Mapping[str, Any]) -> list[Finding]:
    """By what INFO says."""
    version, policy = facts["redis_version"], facts.get("maxmemory_policy", "noeviction")
    used, most = int(facts.get("used_memory", 0)), int(facts.get("maxmemory", 0))
    words = filled("Redis {version}, maxmemory policy {policy}; it needs no disk", version=version, policy=policy)
    if tuple(map(int, version.split(".")[:2])) < LEAST_REDIS:
        advice = filled("Use Redis {version} or newer.", version=LEAST_REDIS[0])
        return [warning(filled("{words}: too old to be tried", words=words), advice)]
    if facts.get("role") != "master":
        advice = gettext("Name its primary in REDIS_URL.")
        return [wrong(filled("{words}: a replica, which takes no writes", words=words), advice)]
    if most and used > most * FULL:
        advice = gettext("Raise maxmemory: docs/operate/redis-away.md.")
        share = f"{used / most:.0%}"
        return [warning(filled("{words}; {share} of maxmemory is used", words=words, share=share), advice)]
    return [ok(words)]


def look_at_search() -> Sequence[Finding]:
    """One search is asked for, as every service wants its key for it."""
    from conversations.tools.search_web import SearchFailed, search  # noqa: PLC0415  (slow)

    name = settings.OPENBOOK_SEARCH_SERVICE
    if not name:
        return []
    try:
        count = len(asyncio.run(search(SEARCHED)))
    except SearchFailed as error:
        advice = gettext(
            "See to OPENBOOK_SEARCH_URL and OPENBOOK_SEARCH_KEY; SearXNG answers 403 unless its settings.yml names json "
            "among search.formats."
        )
        return [wrong(f"{name}: {error}", advice)]
    if not count:
        return [
            warning(filled("{name}: answers, and finds nothing", name=name), gettext("See whether its engines work."))
        ]
    return [ok(filled("{name}: answers, {count} results", name=name, count=count))]


def look_at_programs() -> Sequence[Finding]:
    """One is run, as only that shows whether it is shut in."""
    if not settings.OPENBOOK_RUN_PYTHON:
        return []
    try:
        with tempfile.TemporaryDirectory() as folder:
            ran = asyncio.run(programs.run("print(6 * 7)", Path(folder)))
    except programs.NotConfined:
        advice = gettext("Use Linux 5.13 or newer with Landlock and seccomp, or leave OPENBOOK_RUN_PYTHON out.")
        return [wrong(gettext("no program can be shut in here, so none is run"), advice)]
    if (ran.status, ran.printed) != (0, "42\n"):
        advice = gettext("See what it says, and whether the server may start processes.")
        return [wrong(filled("a program fails: {problem}", problem=ran.problem or ran.printed.strip()[-200:]), advice)]
    return [ok(filled("a program runs, shut in, {count} at once", count=settings.OPENBOOK_RUN_PYTHON))]


def look_at_mail() -> Sequence[Finding]:
    if not settings.MAILERS:
        return [ok(gettext("none: staff make links for new passwords in the admin"))]
    backend = mailers["default"]
    if not isinstance(backend, EmailBackend):
        return list(folder(Path(settings.MAILERS["default"]["OPTIONS"]["file_path"]), "OPENBOOK_MAIL_URL"))
    backend.timeout = MAIL_SECONDS
    place = f"{backend.host}:{backend.port}"
    try:
        backend.open()
    except (OSError, smtplib.SMTPException) as error:
        return [mail_problem(place, error)]
    finally:
        backend.close()
    return [mail_sender(place, settings.DEFAULT_FROM_EMAIL, is_tls=backend.use_tls or backend.use_ssl)]


def mail_problem(place: str, error: Exception) -> Finding:
    match error:
        case smtplib.SMTPAuthenticationError():
            advice = gettext("Correct them in OPENBOOK_MAIL_URL, URL-encoded.")
            return wrong(filled("{place} refuses user or password", place=place), advice)
        case ssl.SSLError():
            advice = gettext("Name the host as the certificate does.")
            words = filled("{place}: its certificate is not trusted: {problem}", place=place, problem=error.reason)
            return wrong(words, advice)
        case smtplib.SMTPNotSupportedError():
            advice = gettext("Use smtps:// or another port, or ?tls=off where the way is safe.")
            return wrong(filled("{place} offers no STARTTLS or no sign-in", place=place), advice)
        case smtplib.SMTPResponseException():
            told = (
                error.smtp_error.decode(errors="replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
            )
            problem = f"{error.smtp_code} {told}"
            advice = gettext("Ask who runs the mail server.")
            return wrong(filled("{place} refuses: {problem}", place=place, problem=problem), advice)
        case TimeoutError():
            advice = gettext("See whether a firewall is in between.")
            words = filled("{place} does not answer within {seconds} s", place=place, seconds=f"{MAIL_SECONDS:g}")
            return wrong(words, advice)
    problem = getattr(error, "strerror", None) or str(error)
    advice = gettext("Correct OPENBOOK_MAIL_URL, or start the mail server.")
    return wrong(filled("{place} can't be reached: {problem}", place=place, problem=problem), advice)


def mail_sender(place: str, sender: str, *, is_tls: bool) -> Finding:
    if sender.endswith("@localhost"):
        advice = gettext("Set OPENBOOK_MAIL_FROM to an address of yours.")
        return warning(filled("{place} answers, but mail comes from {sender}", place=place, sender=sender), advice)
    if not is_tls and (urlsplit(f"//{place}").hostname or "") not in {"localhost", "127.0.0.1", "::1"}:
        words = filled("{place} answers without TLS: links can be read on the way", place=place)
        return warning(words, gettext("Leave ?tls=off out."))
    return ok(filled("{place} answers; nothing was sent", place=place))
