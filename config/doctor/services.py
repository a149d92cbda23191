"""What is asked over the network: models, Redis, mail."""

import asyncio
import smtplib
import ssl
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

ASKED_SECONDS = 10.0
MAIL_SECONDS, REDIS_SECONDS = 5.0, 3.0
LEAST_REDIS = (6, 0)
FULL = 0.9


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
    advice = f"See to it: docs/operate/provider-errors.md ({setting_of(name)})."
    try:
        provider = await asyncio.to_thread(get_provider, name)
        if obstacle := await asyncio.to_thread(provider.obstacle):
            return wrong(f"{name}: {obstacle.message}", advice)
        return await _asked(name, provider)
    except ProviderError as error:
        return wrong(f"{name}: {error.message}", advice)


async def _asked(name: str, provider: Provider) -> Finding:
    if name == OFFLINE:
        advice = "Set a key, such as ANTHROPIC_API_KEY, or run `make local`."
        return warning("offline: no model stands behind it, replies are made up by rules", advice)
    if not provider.lists_models:
        return ok(f"{name}: set up; it lists no models, so it was not asked")
    began = time.perf_counter()
    count = len(await provider.models(seconds=ASKED_SECONDS))
    return ok(f"{name}: the key is accepted, {count} models listed in {time.perf_counter() - began:.1f} s")


def setting_of(name: str) -> str:
    known = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY, OPENAI_BASE_URL", "local": "make local"}
    return known.get(name, "Connections in the admin")


def look_at_redis() -> Sequence[Finding]:
    if not settings.REDIS_URL:
        return [ok(gettext("none: right for one server process"))]
    try:
        return asyncio.run(_redis())
    except unreachable() as error:
        told = f"can't be used: {' '.join(str(error).split()) or type(error).__name__}"
        return [wrong(told, "Start Redis, or correct REDIS_URL: docs/operate/redis-away.md.")]


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
    words = f"Redis {version}, maxmemory policy {policy}; it needs no disk"
    if tuple(map(int, version.split(".")[:2])) < LEAST_REDIS:
        return [warning(f"{words}: too old to be tried", f"Use Redis {LEAST_REDIS[0]} or newer.")]
    if facts.get("role") != "master":
        return [wrong(f"{words}: a replica, which takes no writes", "Name its primary in REDIS_URL.")]
    if most and used > most * FULL:
        return [
            warning(f"{words}; {used / most:.0%} of maxmemory is used", "Raise maxmemory: docs/operate/redis-away.md.")
        ]
    return [ok(words)]


def look_at_mail() -> Sequence[Finding]:
    if not settings.MAILERS:
        return [ok("none: staff make links for new passwords in the admin")]
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
            return wrong(f"{place} refuses user or password", "Correct them in OPENBOOK_MAIL_URL, URL-encoded.")
        case ssl.SSLError():
            return wrong(
                f"{place}: its certificate is not trusted: {error.reason}", "Name the host as the certificate does."
            )
        case smtplib.SMTPNotSupportedError():
            advice = "Use smtps:// or another port, or ?tls=off where the way is safe."
            return wrong(f"{place} offers no STARTTLS or no sign-in", advice)
        case smtplib.SMTPResponseException():
            told = (
                error.smtp_error.decode(errors="replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
            )
            return wrong(f"{place} refuses: {error.smtp_code} {told}", "Ask who runs the mail server.")
        case TimeoutError():
            return wrong(f"{place} does not answer within {MAIL_SECONDS:g} s", "See whether a firewall is in between.")
    words = getattr(error, "strerror", None) or str(error)
    return wrong(f"{place} can't be reached: {words}", "Correct OPENBOOK_MAIL_URL, or start the mail server.")


def mail_sender(place: str, sender: str, *, is_tls: bool) -> Finding:
    if sender.endswith("@localhost"):
        return warning(
            f"{place} answers, but mail comes from {sender}", "Set OPENBOOK_MAIL_FROM to an address of yours."
        )
    if not is_tls and (urlsplit(f"//{place}").hostname or "") not in {"localhost", "127.0.0.1", "::1"}:
        return warning(f"{place} answers without TLS: links can be read on the way", "Leave ?tls=off out.")
    return ok(f"{place} answers; nothing was sent")
