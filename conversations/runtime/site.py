"""Where this server is, as whoever asks met it."""

from django.http import HttpRequest


def site_address(request: HttpRequest) -> str:
    """Scheme, host and port, without a slash at the end."""
    return request.build_absolute_uri("/").rstrip("/")
