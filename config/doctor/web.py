"""What the settings say: keys, hosts, proxies, and Django's own checks."""

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

from config.doctor.findings import Finding, ok, warning, wrong
from config.server.proxies import Trust

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
            f"SECRET_KEY has {len(key)} characters and can be guessed: sessions and keys of connections hang on it",
            f"Set SECRET_KEY to a new one ({make}), and SECRET_KEY_FALLBACKS to the one of now for a day.",
        )
    elif path and others:
        yield wrong(f"{path} can be read by others", f"chmod 600 {path}; if others use this machine, take a new key.")
    elif path:
        yield ok(f"generated, in {path}: keep it with the backups, all servers need the same")
    else:
        yield ok(f"{len(key)} characters")


def fallbacks() -> Sequence[Finding]:
    count = len(settings.SECRET_KEY_FALLBACKS)
    advice = "Take SECRET_KEY_FALLBACKS out once a worker has run for ten minutes and people may sign in again."
    return [warning(f"{count} former SECRET_KEY still holds, for whoever has it", advice)] if count else []


def look_at_debug() -> Sequence[Finding]:
    if not settings.DEBUG:
        return [ok("off")]
    judged = warning if is_local(settings.ALLOWED_HOSTS) else wrong
    return [
        judged("DEBUG is on: error pages show settings and what people wrote", "Leave DEBUG out, or set it to off.")
    ]


def is_local(hosts: Sequence[str]) -> bool:
    return set(hosts) <= LOOPBACK


def look_at_hosts() -> Sequence[Finding]:
    return hosts(settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS)


def hosts(allowed: Sequence[str], origins: Sequence[str]) -> list[Finding]:
    if is_local(allowed) and not origins:
        return [ok("served on this machine alone (ALLOWED_HOSTS)")]
    found: list[Finding] = []
    if "*" in allowed:
        advice = "Name your own hosts in ALLOWED_HOSTS, such as book.example."
        found.append(warning("ALLOWED_HOSTS is *: links in mails lead wherever a request says", advice))
    missing = [host for origin in origins if not is_allowed(host := urlsplit(origin).hostname or origin, allowed)]
    if missing:
        advice = f"Add to ALLOWED_HOSTS: {', '.join(missing)}."
        found.append(wrong(f"{', '.join(missing)} is trusted as an origin, but answered with 400", advice))
    if not origins:
        advice = "Set CSRF_TRUSTED_ORIGINS to what people type, such as https://book.example."
        found.append(warning("no CSRF_TRUSTED_ORIGINS: behind a proxy that ends TLS, forms are refused (403)", advice))
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
        advice = "Name the addresses of your proxies alone, such as 10.0.0.2."
        found.append(wrong("OPENBOOK_TRUSTED_PROXIES names everybody: any client can claim any address", advice))
    if redirects and not is_https:
        advice = "Set CSRF_TRUSTED_ORIGINS to your https address, or leave SECURE_SSL_REDIRECT out."
        found.append(wrong("SECURE_SSL_REDIRECT without an https origin: each page redirects to itself", advice))
    if is_https and not trusted:
        advice = "Set OPENBOOK_TRUSTED_PROXIES to the address of the proxy that ends TLS."
        found.append(warning("no proxy is trusted: all who come by it count as one at the sign-in", advice))
    if is_https and not (redirects and hsts):
        advice = "Set SECURE_SSL_REDIRECT=on and SECURE_HSTS_SECONDS=31536000 once https works."
        found.append(warning("people can still come over plain http", advice))
    if is_public and not is_https:
        advice = "Put a proxy that ends TLS in front (deploy/), and set CSRF_TRUSTED_ORIGINS=https://…."
        found.append(warning("served beyond this machine without https: passwords can be read on the way", advice))
    told = "none in front" if not trusted else f"{', '.join(map(str, trusted.networks)) or trusted.hops} trusted"
    return found or [ok(told)]


def look_at_django() -> Sequence[Finding]:
    """Django's checks and ours; those of a deployment where it is served beyond this machine."""
    found = checks.run_checks(include_deployment_checks=not is_local(settings.ALLOWED_HOSTS))
    told = [
        (wrong if message.level >= checks.ERROR else warning)(f"{message.msg} ({message.id})", message.hint or "")
        for message in found
        if message.level >= checks.WARNING and not message.is_silenced()
    ]
    return told or [ok("manage.py check finds nothing")]
