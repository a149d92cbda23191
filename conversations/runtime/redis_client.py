"""Redis's client, loaded only where there is a Redis: who has none need not wait for it at each start."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import redis.asyncio


@cache
def unreachable() -> tuple[type[Exception], ...]:
    """What is raised where a Redis doesn't answer."""
    from redis.exceptions import RedisError  # noqa: PLC0415

    return RedisError, OSError


def waiting(url: str, **options: Any) -> "redis.asyncio.Redis":
    """Its own for each event loop; whoever asks for it closes it."""
    import redis.asyncio  # noqa: PLC0415

    return redis.asyncio.from_url(url, **options)
