"""Where this server is."""

from django.conf import settings
from django.http import HttpRequest


def public_address() -> str:
    """Scheme, host and port by which people reach this server, without a slash at the end: of the settings alone, as links
    that are mailed or handed on must not lead where a request's Host header says."""
    if settings.OPENBOOK_PUBLIC_URL:
        return str(settings.OPENBOOK_PUBLIC_URL)
    host = next((name for name in settings.ALLOWED_HOSTS if is_name(name)), "localhost")
    return trusted_origin() or f"http://{host}:{settings.PORT}"


def trusted_origin() -> str:
    """The origin that the settings trust, where they name exactly one."""
    origins = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if "*" not in origin]
    return str(origins[0]).rstrip("/") if len(origins) == len(settings.CSRF_TRUSTED_ORIGINS) == 1 else ""


def is_name(host: str) -> bool:
    """Whether it is one host, and no pattern."""
    return "*" not in host and not host.startswith(".")


def requested_address(request: HttpRequest) -> str:
    """The same as whoever asks met it: for what is shown to them alone."""
    return request.build_absolute_uri("/").rstrip("/")
