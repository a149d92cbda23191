"""Numbered checks of the configuration, run by every management command before it starts."""

import re
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.validators import slug_re
from django.db import DatabaseError

from conversations.mcp_client import programs
from conversations.providers import PROVIDERS, ProviderError, get_provider, prices, provider_name, usable_key
from conversations.providers.dialects import DIALECTS
from conversations.providers.local_model import obstacle_to_start
from conversations.runtime import telemetry
from conversations.runtime.site import trusted_origin
from conversations.tools.search_services import SERVICES
from memory.backends import BACKENDS

CONFIGURATION = "configuration"
"""The tag of these checks."""


@register(CONFIGURATION)
def provider_is_configured(**kwargs: Any) -> list[CheckMessage]:
    name = provider_name()
    if name in PROVIDERS:
        return PROBLEMS[name]() if name in PROBLEMS else []
    if slug_re.match(name):
        return connection_problems(name)
    hint = f"Set OPENBOOK_PROVIDER to the name of a connection, or to one of: {', '.join(PROVIDERS)}."
    return [Error(f"{name!r} can't be the name of a provider.", hint=hint, id="openbook.E001")]


def connection_problems(name: str) -> list[CheckMessage]:
    """Warnings only: its row is made in the admin, which has to run for that."""
    try:
        provider = get_provider(name)
        problem = provider.obstacle()
        provider.default_model()
    except ProviderError as error:
        problem = error
    except DatabaseError:  # before the first migration
        problem = ProviderError("misconfigured", "Connections can't be read yet.", retryable=True)
    hint = f"OPENBOOK_PROVIDER is {name!r}: see to the connection of this name in the admin, under Connections."
    return [Warning(problem.message, hint=hint, id="openbook.W004")] if problem else []


def anthropic_problems() -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if not settings.ANTHROPIC_API_KEY:
        hint = "Set ANTHROPIC_API_KEY, or OPENBOOK_PROVIDER=offline."
        problems.append(Error("The provider 'anthropic' has no API key.", hint=hint, id="openbook.E002"))
    return [*problems, *key_problems("ANTHROPIC_API_KEY"), *address_problems("ANTHROPIC_BASE_URL")]


def openai_problems() -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if not (settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL):
        hint = (
            "Set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that wants no key, such as http://localhost:11434/v1."
        )
        problems.append(Error("The provider 'openai' has neither key nor address.", hint=hint, id="openbook.E007"))
    if settings.OPENBOOK_OPENAI_SERVER not in ("", *DIALECTS):
        hint = f"Leave OPENBOOK_OPENAI_SERVER out, or set it to one of: {', '.join(DIALECTS)}."
        problem = f"The kind of server {settings.OPENBOOK_OPENAI_SERVER!r} is not known."
        problems.append(Error(problem, hint=hint, id="openbook.E008"))
    return [*problems, *key_problems("OPENAI_API_KEY"), *address_problems("OPENAI_BASE_URL")]


def cloud_problems() -> list[CheckMessage]:
    obstacle = get_provider(provider_name()).obstacle()
    hint = "Or set OPENBOOK_PROVIDER to another one."
    return [Error(obstacle.message, hint=hint, id="openbook.E009")] if obstacle else []


def claude_cli_problems() -> list[CheckMessage]:
    obstacle = get_provider("claude_cli").obstacle()
    hint = "Or set OPENBOOK_PROVIDER to another one."
    problems: list[CheckMessage] = [Error(obstacle.message, hint=hint, id="openbook.E005")] if obstacle else []
    return [*problems, *address_problems("ANTHROPIC_BASE_URL")]


def key_problems(name: str) -> list[CheckMessage]:
    key = getattr(settings, name)
    if not key or usable_key(key):
        return []
    hint = f"Copy {name} again, without spaces or line breaks."
    return [Error("The API key holds characters that no key has.", hint=hint, id="openbook.E003")]


def local_problems() -> list[CheckMessage]:
    obstacle = obstacle_to_start()
    hint = "Or set OPENBOOK_PROVIDER to another one."
    return [Error(obstacle.message, hint=hint, id="openbook.E007")] if obstacle else []


def address_problems(name: str) -> list[CheckMessage]:
    address = getattr(settings, name)
    if not address or address.startswith(("http://", "https://")):
        return []
    hint = f"Set {name} to a URL that starts with https://, or leave it out."
    return [Error(f"{name} is not an HTTP URL.", hint=hint, id="openbook.E004")]


PROBLEMS = {
    "anthropic": anthropic_problems,
    "openai": openai_problems,
    "local": local_problems,
    "bedrock": cloud_problems,
    "vertex": cloud_problems,
    "claude_cli": claude_cli_problems,
}


@register(CONFIGURATION)
def prices_can_be_read(**kwargs: Any) -> list[CheckMessage]:
    try:
        prices.own(settings.OPENBOOK_PRICES)
    except ValueError as error:
        hint = 'Write JSON such as {"a-model": {"input": 1, "output": 5, "cache_write": 1.25, "cache_read": 0.1}}.'
        return [Error(f"OPENBOOK_PRICES: {error}.", hint=hint, id="openbook.E006")]
    return []


@register(CONFIGURATION)
def programs_can_be_read(**kwargs: Any) -> list[CheckMessage]:
    try:
        programs.configured(settings.OPENBOOK_MCP_PROGRAMS)
    except programs.ProgramsError as error:
        hint = 'Write tables such as [docs], with command = "/usr/bin/docs-server".'
        return [Error(f"OPENBOOK_MCP_PROGRAMS: {error}.", hint=hint, id="openbook.E023")]
    return []


@register(CONFIGURATION)
def memory_is_configured(**kwargs: Any) -> list[CheckMessage]:
    name = settings.OPENBOOK_MEMORY_BACKEND
    if name not in BACKENDS:
        hint = f"Set OPENBOOK_MEMORY_BACKEND to one of: {', '.join(BACKENDS)}."
        return [Error(f"The memory backend {name!r} is not known.", hint=hint, id="openbook.E011")]
    return supermemory_problems() if name == "supermemory" else []


def supermemory_problems() -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if not usable_key(settings.SUPERMEMORY_API_KEY):
        hint = "Set SUPERMEMORY_API_KEY, without spaces or line breaks, or OPENBOOK_MEMORY_BACKEND=postgres."
        problems.append(Error("The memory backend 'supermemory' has no usable API key.", hint=hint, id="openbook.E012"))
    if not settings.SUPERMEMORY_BASE_URL.startswith(("http://", "https://")):
        hint = "Set SUPERMEMORY_BASE_URL to a URL that starts with https://, or leave it out."
        problems.append(Error("SUPERMEMORY_BASE_URL is not an HTTP URL.", hint=hint, id="openbook.E013"))
    return problems


@register(CONFIGURATION)
def search_is_configured(**kwargs: Any) -> list[CheckMessage]:
    name = settings.OPENBOOK_SEARCH_SERVICE
    if not name:
        return []
    if name not in SERVICES:
        hint = f"Leave OPENBOOK_SEARCH_SERVICE out, or set it to one of: {', '.join(SERVICES)}."
        return [Error(f"The search service {name!r} is not known.", hint=hint, id="openbook.E023")]
    problems = address_problems("OPENBOOK_SEARCH_URL")
    key = settings.OPENBOOK_SEARCH_KEY
    if not (usable_key(key) if key else not SERVICES[name].needs_key):
        hint = "Set OPENBOOK_SEARCH_KEY, without spaces or line breaks, or leave OPENBOOK_SEARCH_SERVICE out."
        problems.append(Error(f"The search service {name!r} has no usable key.", hint=hint, id="openbook.E024"))
    if not (settings.OPENBOOK_SEARCH_URL or SERVICES[name].url):
        hint = "Set OPENBOOK_SEARCH_URL to where it runs, such as http://searxng.internal:8080."
        problems.append(Error(f"The search service {name!r} has no address.", hint=hint, id="openbook.E025"))
    return problems


@register(CONFIGURATION)
def telemetry_can_be_told(**kwargs: Any) -> list[CheckMessage]:
    """Warnings only: replies go on, and nobody is told of them."""
    if not settings.OTEL_SIGNALS:
        return []
    if not telemetry.possible():
        problem = "A collector is named in OTEL_*, but the packages that tell it are missing. Nothing is told."
        return [Warning(problem, hint="Run `make otel`, or set OTEL_SDK_DISABLED=true.", id="openbook.W002")]
    if settings.OTEL_PROTOCOL != "http/protobuf":
        hint = "Leave OTEL_EXPORTER_OTLP_PROTOCOL out, and name the collector's port for HTTP, mostly 4318."
        return [Warning(f"{settings.OTEL_PROTOCOL} is not spoken, only http/protobuf.", hint=hint, id="openbook.W003")]
    return []


@register(CONFIGURATION)
def failures_can_be_told(**kwargs: Any) -> list[CheckMessage]:
    """Warnings only, as for the collector."""
    if not settings.SENTRY_DSN:
        return []
    if not find_spec("sentry_sdk"):
        problem = "SENTRY_DSN is set, but the package for it is missing. No failure is told."
        return [Warning(problem, hint="Run `make sentry`, or leave it out.", id="openbook.W005")]
    if not re.fullmatch(r"https?://[^/@:\s]+(?::[^/@\s]*)?@[^/@\s]+(?:/[^\s]*)?/\d+", settings.SENTRY_DSN):
        hint = "Copy it from Sentry's settings of the project, under Client Keys: https://KEY@HOST/NUMBER."
        return [
            Warning("SENTRY_DSN is not an address of a project. No failure is told.", hint=hint, id="openbook.W006")
        ]
    return []


@register(CONFIGURATION)
def files_can_be_kept(**kwargs: Any) -> list[CheckMessage]:
    if not settings.OPENBOOK_FILES_S3_BUCKET or find_spec("storages"):
        return []
    problem = "OPENBOOK_FILES_S3_BUCKET is set, but the packages for it are missing."
    return [Error(problem, hint="Run `make s3`, or leave it out.", id="openbook.E021")]


@register(CONFIGURATION)
def sign_in_is_possible(**kwargs: Any) -> list[CheckMessage]:
    """The packages of each kind of provider, and somebody who can sign in at all."""
    problems: list[CheckMessage] = []
    providers = {kind: bool(value.get("APPS")) for kind, value in settings.SOCIALACCOUNT_PROVIDERS.items()}
    for is_wanted, package, extra in (
        (providers.get("saml"), "onelogin", "saml"),
        (settings.OPENBOOK_DIRECTORY, "django_auth_ldap", "ldap"),
    ):
        if is_wanted and not find_spec(package):
            problem = (
                f"OPENBOOK_SIGN_IN_PROVIDERS names a provider of {extra.upper()}, but the packages for it are missing."
            )
            hint = f"Run `make {extra}`, or take the provider out of {settings.OPENBOOK_SIGN_IN_PROVIDERS}."
            problems.append(Error(problem, hint=hint, id="openbook.E022"))
    if not settings.OPENBOOK_PASSWORD_SIGN_IN and not any(providers.values()) and not settings.OPENBOOK_DIRECTORY:
        problem = "OPENBOOK_PASSWORD_SIGN_IN is off, and no file names a provider to sign in by."
        hint = (
            "Name one in OPENBOOK_SIGN_IN_PROVIDERS or in the admin, under Social applications, or leave the switch on."
        )
        problems.append(Warning(problem, hint=hint, id="openbook.W008"))
    return problems


@register(CONFIGURATION, deploy=True)
def staff_have_addresses_of_their_own(**kwargs: Any) -> list[CheckMessage]:
    """Behind a proxy that is not trusted all come from its address, and staff with them."""
    if not settings.OPENBOOK_STAFF_NETWORKS or not settings.SERVED_OVER_HTTPS or settings.OPENBOOK_TRUSTED_PROXIES:
        return []
    hint = "Set OPENBOOK_TRUSTED_PROXIES to the addresses of the proxies that end TLS."
    problem = "OPENBOOK_STAFF_NETWORKS is set, and everybody seems to come from the address of the proxy."
    return [Warning(problem, hint=hint, id="openbook.W009")]


@register(CONFIGURATION, deploy=True)
def links_lead_here(**kwargs: Any) -> list[CheckMessage]:
    """Links for a new password never lead where a request says."""
    if settings.OPENBOOK_PUBLIC_URL or trusted_origin():
        return []
    hint = "Set OPENBOOK_PUBLIC_URL to the address by which people reach this server, such as https://book.example."
    problem = "It is not known where links in mails are to lead: no one address of this server is configured."
    return [Warning(problem, hint=hint, id="openbook.W007")]


@register(CONFIGURATION)
def addresses_can_be_proven(**kwargs: Any) -> list[CheckMessage]:
    """Sign-up by the domain of a mail address takes a way to prove the address."""
    by_domain = settings.OPENBOOK_SIGNUP and settings.OPENBOOK_SIGNUP_DOMAINS
    if not by_domain or settings.MAILERS or settings.SOCIALACCOUNT_PROVIDERS:
        return []
    problem = "Nobody can sign up by a password: OPENBOOK_SIGNUP_DOMAINS is set, and no mail can prove an address."
    hint = "Set OPENBOOK_MAIL_URL, or name a provider in OPENBOOK_SIGN_IN_PROVIDERS, or leave the domains out."
    return [Warning(problem, hint=hint, id="openbook.W010")]
