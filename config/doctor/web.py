"""What the settings say: keys, hosts, proxies, and Django's own checks."""

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.utils.translation import gettext

from config.doctor.findings import Finding, ok, warning, wrong
from config.server.proxies import Trust
from conversations.runtime.wording import filled

LEAST_KEY_CHARS, LEAST_KEY_LETTERS = 50, 5
"""As Django's own check has it."""
LOOPBACK = {"localhost", "127.0.0.1", "[::1]", "::1", "testserver"}
EVERYBODY = (ip_network("0.0.0.0/0"), ip_network("::/0"))


def look_at_secret_key() -> Sequence[Finding]:
    path = settings.LOCAL_DIR / "secret_key"
    is_generated = path.is_file() and path.read_text() == settings.SECRET_KEY
    others = path.stat().st_mode & 0o077 if is_generated else 0
    return [*secret_key(settings.SECRET_KEY, path if is_generated else None, others), *fallbacks()]


def secret_key(key: str, path: Path | None, others: int) -> Iterator[Finding]:
    """``path`` where it was generated; ``others``: what its mode lets others do."""
    make = 'python -c "import secrets; print(secrets.token_urlsafe(50))"'
    if len(key) < LEAST_KEY_CHARS or len(set(key)) < LEAST_KEY_LETTERS or key.startswith("django-insecure"):
        yield wrong(
            filled(
                "SECRET_KEY has {number} characters and can be guessed: sessions and keys of connections hang on it",
                number=len(key),
            ),
            filled(
                "Set SECRET_KEY to a new one ({make}), and SECRET_KEY_FALLBACKS to the one of now for a day.", make=make
            ),
        )
    elif path and others:
        advice = filled("chmod 600 {path}; if others use this machine, take a new key.", path=path)
        yield wrong(filled("{path} can be read by others", path=path), advice)
    elif path:
        yield ok(filled("generated, in {path}: keep it with the backups, all servers need the same", path=path))
    else:
        yield ok(filled("{number} characters", number=len(key)))


def fallbacks() -> Sequence[Finding]:
    count = len(settings.SECRET_KEY_FALLBACKS)
    if not count:
        return []
    advice = gettext(
        "Take SECRET_KEY_FALLBACKS out once a worker has run for ten minutes and people may sign in again."
    )
    return [warning(filled("{number} former SECRET_KEY still holds, for whoever has it", number=count), advice)]


def look_at_debug() -> Sequence[Finding]:
    if not settings.DEBUG:
        return [ok(gettext("off"))]
    judged = warning if is_local(settings.ALLOWED_HOSTS) else wrong
    advice = gettext("Leave DEBUG out, or set it to off.")
    return [judged(gettext("DEBUG is on: error pages show settings and what people wrote"), advice)]


def is_local(hosts: Sequence[str]) -> bool:
    return set(hosts) <= LOOPBACK


def look_at_hosts() -> Sequence[Finding]:
    return hosts(settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS)


def hosts(allowed: Sequence[str], origins: Sequence[str]) -> list[Finding]:
    if is_local(allowed) and not origins:
        return [ok(gettext("served on this machine alone (ALLOWED_HOSTS)"))]
    found: list[Finding] = []
    if "*" in allowed:
        advice = gettext("Name your own hosts in ALLOWED_HOSTS, such as book.example.")
        found.append(warning(gettext("ALLOWED_HOSTS is *: links in mails lead wherever a request says"), advice))
    missing = [host for origin in origins if not is_allowed(host := urlsplit(origin).hostname or origin, allowed)]
    if missing:
        names = ", ".join(missing)
        advice = filled("Add to ALLOWED_HOSTS: {names}.", names=names)
        found.append(wrong(filled("{names} is trusted as an origin, but answered with 400", names=names), advice))
    if not origins:
        advice = gettext("Set CSRF_TRUSTED_ORIGINS to what people type, such as https://book.example.")
        words = gettext("no CSRF_TRUSTED_ORIGINS: behind a proxy that ends TLS, forms are refused (403)")
        found.append(warning(words, advice))
    return found or [ok(", ".join(allowed))]


def is_allowed(host: str, allowed: Sequence[str]) -> bool:
    return any(name in ("*", host) or (name.startswith(".") and f".{host}".endswith(name)) for name in allowed)


def look_at_proxies() -> Sequence[Finding]:
    return proxies(
        settings.OPENBOOK_TRUSTED_PROXIES,
        is_public=not is_local(settings.ALLOWED_HOSTS),
        is_https=settings.SERVED_OVER_HTTPS,
        redirects=settings.SECURE_SSL_REDIRECT,
        hsts=settings.SECURE_HSTS_SECONDS,
    )


def proxies(trusted: Trust, *, is_public: bool, is_https: bool, redirects: bool, hsts: int) -> list[Finding]:
    found: list[Finding] = []
    if any(network in EVERYBODY for network in trusted.networks) and not trusted.hops:
        advice = gettext("Name the addresses of your proxies alone, such as 10.0.0.2.")
        found.append(
            wrong(gettext("OPENBOOK_TRUSTED_PROXIES names everybody: any client can claim any address"), advice)
        )
    if redirects and not is_https:
        advice = gettext("Set CSRF_TRUSTED_ORIGINS to your https address, or leave SECURE_SSL_REDIRECT out.")
        found.append(
            wrong(gettext("SECURE_SSL_REDIRECT without an https origin: each page redirects to itself"), advice)
        )
    if is_https and not trusted:
        advice = gettext("Set OPENBOOK_TRUSTED_PROXIES to the address of the proxy that ends TLS.")
        found.append(warning(gettext("no proxy is trusted: all who come by it count as one at the sign-in"), advice))
    if is_https and not (redirects and hsts):
        advice = gettext("Set SECURE_SSL_REDIRECT=on and SECURE_HSTS_SECONDS=31536000 once https works.")
        found.append(warning(gettext("people can still come over plain http"), advice))
    if is_public and not is_https:
        advice = gettext("Put a proxy that ends TLS in front (deploy/), and set CSRF_TRUSTED_ORIGINS=https://….")
        found.append(
            warning(gettext("served beyond this machine without https: passwords can be read on the way"), advice)
        )
    names = ", ".join(map(str, trusted.networks)) or trusted.hops
    return found or [ok(filled("{names} trusted", names=names) if trusted else gettext("none in front"))]


def look_at_django() -> Sequence[Finding]:
    """Django's checks and ours; those of a deployment where it is served beyond this machine."""
    found = checks.run_checks(include_deployment_checks=not is_local(settings.ALLOWED_HOSTS))
    told = [
        (wrong if message.level >= checks.ERROR else warning)(f"{message.msg} ({message.id})", message.hint or "")
        for message in found
        if message.level >= checks.WARNING and not message.is_silenced()
    ]
    return told or [ok(gettext("manage.py check finds nothing"))]
