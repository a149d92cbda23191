"""The settings, and the only reader of the environment. docs/configuration.md says what each
name means to an operator."""

import os
import re
import secrets
from collections.abc import Mapping
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP
from psycopg.conninfo import conninfo_to_dict

from config.postgres import embedded, hosts
from config.postgres.pooled_connection import PooledConnection, check_health, check_writable
from config.secret_files import secret
from config.server import proxies
from conversations.accounts import provider_settings
from conversations.accounts.embed_sites import embed_sites
from conversations.runtime import local_engine

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_secret(name: str, default: str = "") -> str:
    """What may also lie in the file that ``{name}_FILE`` names."""
    return secret(os.environ, name, default)


def env_address(name: str) -> str:
    """Scheme, host and port of a site, without a slash at the end."""
    address = env(name).rstrip("/")
    parts = urlsplit(address)
    if address and (parts.scheme not in {"http", "https"} or not parts.hostname or address.count("/") != 2):
        raise ImproperlyConfigured(f"{name} is {address!r}; set it to an address such as https://book.example.")
    return address


def env_days(name: str) -> int:
    """How long something is kept; 0: for good."""
    value = env(name, "0")
    if not re.fullmatch(r"[0-9]{1,5}", value):
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to a number of days up to 99999, or to 0: for good.")
    return int(value)


def env_file(name: str) -> str:
    """The path of a file that can be read."""
    path = env(name)
    if path and not os.access(path, os.R_OK):
        raise ImproperlyConfigured(f"{name} is {path!r}, where there is no file that can be read.")
    return path


def env_number(name: str, default: int, *, most: int) -> int:
    """A whole number from 0 on."""
    value = env(name, str(default))
    if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) > most:
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to a whole number up to {most}.")
    return int(value)


def env_languages(name: str) -> str:
    """Joined by ``+``; empty where it is off."""
    value = env(name, "off")
    if not re.fullmatch(r"[A-Za-z][\w/]*+(?:\+[A-Za-z][\w/]*+)*+", value):
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to off, or to languages such as eng+deu.")
    return "" if value == "off" else value


def env_list(name: str, default: str = "") -> list[str]:
    return items(env(name, default))


def items(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def env_allowed(name: str, pattern: str) -> frozenset[str] | None:
    """Which of something may be used; ``none``: none of it, and nothing written: all."""
    listed = env_list(name)
    if listed == ["none"]:
        return frozenset()
    if wrong := next((item for item in listed if not re.fullmatch(pattern, item)), ""):
        raise ImproperlyConfigured(f"{name} holds {wrong!r}: write names separated by commas, or none.")
    return frozenset(listed) or None


def env_switch(name: str, *, default: bool = False) -> bool:
    value = env(name).lower()
    if value not in {"", "0", "1", "off", "on", "no", "yes", "false", "true"}:
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to on or off.")
    return value in {"1", "on", "yes", "true"} if value else default


def networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    found = []
    for item in env_list(name):
        try:
            found.append(ip_network(item, strict=False))
        except ValueError as error:
            hint = "write networks or addresses such as 10.1.0.0/16 or 127.0.0.1, separated by commas"
            raise ImproperlyConfigured(f"{name} holds {item!r}: {hint}.") from error
    return tuple(found)


def generated_secret_key() -> str:
    """A key of this installation's own, made once and kept readable by its owner alone."""
    path = LOCAL_DIR / "secret_key"
    try:
        LOCAL_DIR.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} can't be written: {error.strerror}. Set OPENBOOK_DATA_DIR to a folder that can."
        ) from error
    with os.fdopen(descriptor, "w") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key


def database_address(name: str, several: Mapping[str, str] = hosts.SEVERAL) -> str:
    """``several``: what holds where it names several hosts."""
    try:
        return hosts.address(url, several) if (url := env_secret(name)) else ""
    except hosts.AddressError as error:
        hint = "write postgresql://user:password@host:5432/database, or several as host1:5432,host2:5432"
        raise ImproperlyConfigured(f"{name} can't be read: {error}; {hint}.") from error


def database(url: str) -> dict[str, Any]:
    """Django's settings for a libpq URL or DSN; parameters that Django has no name for go to libpq as they are."""
    parts = dict(conninfo_to_dict(url))
    must_take_writes = parts.get("target_session_attrs") in {"read-write", "primary"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", "openbook"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        # A connection goes back to the pool after each request or database step; a pool and CONN_MAX_AGE exclude each other.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "pool": {
                "min_size": 1,
                "max_size": OPENBOOK_DATABASE_CONNECTIONS,
                "timeout": 3,
                # Then the next request tries anew, where the pool itself would wait twice as long each time.
                "reconnect_timeout": 2,
                "connection_class": PooledConnection,
                "check": check_writable if must_take_writes else check_health,
            },
            # Django switches prepared statements off unless both are said. Not 0: migrations send several commands at once,
            # which a prepared statement can't hold.
            "server_side_binding": True,
            "prepare_threshold": 2,
            "application_name": "openbook",
            "connect_timeout": 5,
            **parts,
        },
    }


def mailers(url: str) -> dict[str, Any]:
    """Django's settings for ``smtp://user:password@host:587`` (STARTTLS), ``smtps://…`` or ``file:///folder``; else none."""
    if not url:
        return {}
    parts = urlsplit(url)
    if parts.scheme == "file":
        backend = "django.core.mail.backends.filebased.EmailBackend"
        return {"default": {"BACKEND": backend, "OPTIONS": {"file_path": parts.path}}}
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ImproperlyConfigured("OPENBOOK_MAIL_URL is no address such as smtp://user:password@mail.example:587.")
    is_tls = parts.scheme == "smtps"
    options = {
        "host": parts.hostname,
        "port": parts.port or (465 if is_tls else 587),
        "username": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "use_ssl": is_tls,
        "use_tls": not is_tls and parse_qs(parts.query).get("tls") != ["off"],
        "timeout": 20,
    }
    return {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}


def folder_storage(folder: Path) -> dict[str, Any]:
    """For its owner alone."""
    options = {"location": folder, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
    return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}


def s3_storage(bucket: str) -> dict[str, Any]:
    """By django-storages. Without a key the SDK looks for one, as it does on a machine of Amazon's."""
    endpoint = env("OPENBOOK_FILES_S3_ENDPOINT")
    options = {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        # Servers of one's own mostly have no name for each bucket.
        "addressing_style": "path" if endpoint else None,
        "region_name": env("OPENBOOK_FILES_S3_REGION") or None,
        "access_key": env_secret("OPENBOOK_FILES_S3_KEY") or None,
        "secret_key": env_secret("OPENBOOK_FILES_S3_SECRET") or None,
        # Neither is a file held in memory, nor ten pieces of it at once.
        "max_memory_size": 2**20,
        "use_threads": False,
    }
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


# What an installation is apart from its code, which may lie where nothing can be written.
LOCAL_DIR = Path(env("OPENBOOK_DATA_DIR") or BASE_DIR / ".local").absolute()

DEBUG = env_switch("DEBUG")
SECRET_KEY = env_secret("SECRET_KEY") or generated_secret_key()
# Former ones, with which what was signed or encrypted can still be read
SECRET_KEY_FALLBACKS = items(env_secret("SECRET_KEY_FALLBACKS"))
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
# Pages elsewhere whose programs may call the APIs from a browser: with a token, as cookies are not sent along
OPENBOOK_EMBED_SITES = embed_sites(env_secret("OPENBOOK_EMBED_SITES"))
CORS_ALLOWED_ORIGINS = [
    *env_list("OPENBOOK_CORS_ORIGINS"),
    *(origin for site in OPENBOOK_EMBED_SITES.values() for origin in site.origins),
]
CORS_URLS_REGEX = r"^/(api/)?v1/"
CORS_ALLOW_CREDENTIALS = False
CORS_ALLOW_HEADERS = ["*", "authorization"]  # which the star leaves out
CORS_EXPOSE_HEADERS = [
    *("request-id", "x-request-id", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy", "etag"),
    *(f"x-openbook-{name}" for name in ("thread", "reply", "request")),
]
# What links in mails and on pages of staff begin with
OPENBOOK_PUBLIC_URL = env_address("OPENBOOK_PUBLIC_URL")
# What trusted proxies forward is believed before Django sees a request, and what others forward is taken out of it; without
# any, the scheme alone is believed, of whoever is in front.
OPENBOOK_TRUSTED_PROXIES = proxies.trust(env_list("OPENBOOK_TRUSTED_PROXIES"))
# Behind a proxy that ends TLS (any https origin is trusted): cookies for https only, and the proxy's word for the scheme.
SERVED_OVER_HTTPS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
# A browser takes a cookie of such a name over https alone, from this host alone.
COOKIE_PREFIX = "__Host-" if SERVED_OVER_HTTPS else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
MESSAGE_STORAGE = "config.server.cookies.MessageStorage"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SERVED_OVER_HTTPS else None
SECURE_SSL_REDIRECT = env_switch("SECURE_SSL_REDIRECT")
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # whoever watches the process asks it directly
SECURE_HSTS_SECONDS = int(env("SECURE_HSTS_SECONDS", "31536000" if SERVED_OVER_HTTPS else "0"))
SECURE_HSTS_INCLUDE_SUBDOMAINS = env_switch("SECURE_HSTS_INCLUDE_SUBDOMAINS")
SECURE_HSTS_PRELOAD = env_switch("SECURE_HSTS_PRELOAD")
# What holds for a whole domain, or for good, is its owner's to say. And an installation works without mail.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", "mail.W001"]

OPENBOOK_DATABASE_CONNECTIONS = int(env("OPENBOOK_DATABASE_CONNECTIONS", "16"))
DATABASE_URL = database_address("DATABASE_URL")
DATABASE_IS_EMBEDDED = not DATABASE_URL
DATABASE_URL = DATABASE_URL or embedded.url(LOCAL_DIR / "postgres")
DATABASES = {"default": database(DATABASE_URL)}
# For what may lag: conversations/runtime/lagging.py
OPENBOOK_REPLICA_URL = database_address("OPENBOOK_REPLICA_URL", several=hosts.STANDBYS)
OPENBOOK_REPLICA_LAG_SECONDS = float(env("OPENBOOK_REPLICA_LAG_SECONDS", "5"))
if OPENBOOK_REPLICA_URL:
    DATABASES["replica"] = database(OPENBOOK_REPLICA_URL)
    DATABASE_ROUTERS = ["conversations.runtime.lagging.ReplicaRouter"]

REDIS_URL = env_secret("REDIS_URL")
CHANNEL_LAYERS: dict[str, Any] = {
    # The PubSub layer survives a restart of Redis, which the core layer does not. Only small notes go through it.
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# What people upload. It lies under random names; the folder is for its owner alone.
OPENBOOK_FILES_DIR = Path(env("OPENBOOK_FILES_DIR") or LOCAL_DIR / "files").absolute()
OPENBOOK_FILES_S3_BUCKET = env("OPENBOOK_FILES_S3_BUCKET")
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "files": s3_storage(OPENBOOK_FILES_S3_BUCKET)
    if OPENBOOK_FILES_S3_BUCKET
    else folder_storage(OPENBOOK_FILES_DIR / "kept"),
}

# For `manage.py backup`: with a key, what it writes is encrypted
OPENBOOK_BACKUP_KEY = env_secret("OPENBOOK_BACKUP_KEY")
# What was forgotten, by salted digests: outside of every backup, and shared by all hosts
OPENBOOK_ERASURE_LEDGER = Path(env("OPENBOOK_ERASURE_LEDGER") or LOCAL_DIR / "erasures").absolute()

# What can stand in a request beside its turns, in the order in which it is sent: a file each.
CONTEXT_SOURCES = [
    "conversations.context.server_tools.ServerToolSource",
    "conversations.context.instructions.InstructionsSource",
    "memory.sources.facts.FactSource",
    "memory.sources.today.TodaySource",
    "memory.sources.open_topics.OpenTopicSource",
    "memory.sources.last_conversation.LastConversationSource",
    "conversations.context.query.contextualised_query.ContextualisedQuerySource",
    "artifacts.sources.artifact_list.ArtifactListSource",
    "memory.sources.recall.RecallSource",
]

# What a model may do beside writing, in the order in which it is offered: a file each.
TOOLS = [
    "artifacts.tools.read_artifact.TOOL",
    "artifacts.tools.save_artifact.TOOL",
    "conversations.tools.read_file.TOOL",
    "conversations.tools.find_tools.TOOL",
    "memory.tools.search_messages.TOOL",
]
# Tools that leave this server, or run what a model wrote: each is there only where the operator has switched it on.
# Who searches the web, where that is not at its usual address, and its key
OPENBOOK_SEARCH_SERVICE = env("OPENBOOK_SEARCH_SERVICE")
OPENBOOK_SEARCH_URL = env("OPENBOOK_SEARCH_URL")
OPENBOOK_SEARCH_KEY = env_secret("OPENBOOK_SEARCH_KEY")
# Whether models read pages of the web, and from which inner networks besides
OPENBOOK_FETCH = env_switch("OPENBOOK_FETCH")
OPENBOOK_FETCH_NETWORKS = networks("OPENBOOK_FETCH_NETWORKS")
# How many programs that models write run at once in a server process; 0: none
OPENBOOK_RUN_PYTHON = env_number("OPENBOOK_RUN_PYTHON", 0, most=64)
SWITCHED_TOOLS = {
    "conversations.tools.search_web.TOOL": bool(OPENBOOK_SEARCH_SERVICE),
    "conversations.tools.fetch_page.TOOL": OPENBOOK_FETCH,
    "conversations.tools.run_python.TOOL": OPENBOOK_RUN_PYTHON > 0,
}
TOOLS += [tool for tool, is_on in SWITCHED_TOOLS.items() if is_on]

# The model
ANTHROPIC_API_KEY = env_secret("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = env("ANTHROPIC_BASE_URL")
OPENAI_API_KEY = env_secret("OPENAI_API_KEY")
OPENAI_BASE_URL = env("OPENAI_BASE_URL")
OPENBOOK_OPENAI_SERVER = env("OPENBOOK_OPENAI_SERVER")
# Claude by Amazon or Google; the machine's own credentials are found by their packages
AWS_REGION = env("AWS_REGION") or env("AWS_DEFAULT_REGION")
AWS_BEARER_TOKEN_BEDROCK = env_secret("AWS_BEARER_TOKEN_BEDROCK")
ANTHROPIC_BEDROCK_BASE_URL = env("ANTHROPIC_BEDROCK_BASE_URL")
CLOUD_ML_REGION = env("CLOUD_ML_REGION")
ANTHROPIC_VERTEX_PROJECT_ID = env("ANTHROPIC_VERTEX_PROJECT_ID")
ANTHROPIC_VERTEX_BASE_URL = env("ANTHROPIC_VERTEX_BASE_URL")
# A model on this machine, where `make local` was run
OPENBOOK_LOCAL_MODEL = env("OPENBOOK_LOCAL_MODEL")
OPENBOOK_LOCAL_NOTES = env_switch("OPENBOOK_LOCAL_NOTES")
OPENBOOK_LOCAL_CONTEXT_TOKENS = int(env("OPENBOOK_LOCAL_CONTEXT_TOKENS", "8192"))
OPENBOOK_PROVIDER = env("OPENBOOK_PROVIDER") or (
    "anthropic"
    if ANTHROPIC_API_KEY
    else "openai"
    if OPENAI_API_KEY or OPENAI_BASE_URL
    else "local"
    if local_engine.is_ready(OPENBOOK_LOCAL_MODEL)
    else "offline"
)
OPENBOOK_MODEL = env("OPENBOOK_MODEL")
# Of the operator's own: where connections that staff make may lead
OPENBOOK_INNER_NETWORKS = networks("OPENBOOK_INNER_NETWORKS")
OPENBOOK_CLAUDE_CLI = env("OPENBOOK_CLAUDE_CLI", "claude")
OPENBOOK_CLAUDE_LOGIN = env("OPENBOOK_CLAUDE_LOGIN")
# All that the CLI is given of this process's environment.
CLAUDE_CLI_ENVIRONMENT = {
    name: value
    for name in (
        *("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    )
    if (value := env(name))
}
OPENBOOK_PRICES = env("OPENBOOK_PRICES")
OPENBOOK_FIRST_TOKEN_SECONDS = float(env("OPENBOOK_FIRST_TOKEN_SECONDS", "60"))
OPENBOOK_STALL_SECONDS = float(env("OPENBOOK_STALL_SECONDS", "60"))
OPENBOOK_BREAKER_SECONDS = float(env("OPENBOOK_BREAKER_SECONDS", "20"))
OPENBOOK_SLOW_READER_SECONDS = float(env("OPENBOOK_SLOW_READER_SECONDS", "20"))
OPENBOOK_OFFLINE_WORD_SECONDS = float(env("OPENBOOK_OFFLINE_WORD_SECONDS", "0.02"))

# Memory
OPENBOOK_MEMORY_BACKEND = env("OPENBOOK_MEMORY_BACKEND", "postgres")
OPENBOOK_MEMORY_SECONDS = float(env("OPENBOOK_MEMORY_SECONDS", "1"))
SUPERMEMORY_API_KEY = env_secret("SUPERMEMORY_API_KEY")
SUPERMEMORY_BASE_URL = env("SUPERMEMORY_BASE_URL", "https://api.supermemory.ai")

# People and limits
OPENBOOK_SIGNUP = env_switch("OPENBOOK_SIGNUP")
# Of mail addresses; empty: any
OPENBOOK_SIGNUP_DOMAINS = [domain.lower().removeprefix("@") for domain in env_list("OPENBOOK_SIGNUP_DOMAINS")]
# Staff prove a second factor, at most every five minutes, before they read what people wrote
OPENBOOK_READING_NEEDS_FACTOR = env_switch("OPENBOOK_READING_NEEDS_FACTOR")
# How long a sign-in lasts, since it began and without anybody there (0: that doesn't matter); of staff 0: as of others
OPENBOOK_SESSION_HOURS = env_number("OPENBOOK_SESSION_HOURS", 336, most=8784) or 336
OPENBOOK_SESSION_IDLE_MINUTES = env_number("OPENBOOK_SESSION_IDLE_MINUTES", 0, most=100_000)
OPENBOOK_STAFF_SESSION_HOURS = env_number("OPENBOOK_STAFF_SESSION_HOURS", 0, most=8784)
OPENBOOK_STAFF_SESSION_IDLE_MINUTES = env_number("OPENBOOK_STAFF_SESSION_IDLE_MINUTES", 0, most=100_000)
SESSION_ENGINE = "conversations.accounts.session_store"
SESSION_COOKIE_AGE = OPENBOOK_SESSION_HOURS * 3600  # the cookie may live as long as any session
# From where staff may work; empty: from anywhere
OPENBOOK_STAFF_NETWORKS = networks("OPENBOOK_STAFF_NETWORKS")
# Sign-in by a company's account: a file with its providers
OPENBOOK_SIGN_IN_PROVIDERS = env("OPENBOOK_SIGN_IN_PROVIDERS")
SOCIALACCOUNT_PROVIDERS, OPENBOOK_DIRECTORY = provider_settings.read(OPENBOOK_SIGN_IN_PROVIDERS, os.environ, secret)
# Off: nobody signs in by a password of this server
OPENBOOK_PASSWORD_SIGN_IN = env_switch("OPENBOOK_PASSWORD_SIGN_IN", default=True)
# Beside the name of the product and of the server: of these alone no password is made
OPENBOOK_PASSWORD_WORDS = env_list("OPENBOOK_PASSWORD_WORDS")
# For links to set a new password; without mail, staff make them
MAILERS = mailers(env_secret("OPENBOOK_MAIL_URL"))
DEFAULT_FROM_EMAIL = env("OPENBOOK_MAIL_FROM", "openbook@localhost")
OPENBOOK_MAX_MESSAGE_CHARS = int(env("OPENBOOK_MAX_MESSAGE_CHARS", "100000"))
OPENBOOK_MAX_ARTIFACT_CHARS = int(env("OPENBOOK_MAX_ARTIFACT_CHARS", "500000"))
# Whether a person may choose to run the scripts of a generated page, which no browser shuts in completely
OPENBOOK_RUN_SCRIPTS = env_switch("OPENBOOK_RUN_SCRIPTS", default=True)
OPENBOOK_MAX_IMPORT_MB = int(env("OPENBOOK_MAX_IMPORT_MB", "512"))
# With the files in it, and what these unpack to
OPENBOOK_MAX_IMPORT_ZIP_MB = int(env("OPENBOOK_MAX_IMPORT_ZIP_MB", "2560"))
OPENBOOK_MAX_FILE_MB = int(env("OPENBOOK_MAX_FILE_MB", "256"))
# Of all bodies that a process has taken in and not answered yet
OPENBOOK_MAX_UPLOADS_MB = max(
    OPENBOOK_MAX_IMPORT_MB,
    OPENBOOK_MAX_IMPORT_ZIP_MB,
    OPENBOOK_MAX_FILE_MB + 1,
    int(env("OPENBOOK_MAX_UPLOADS_MB", "2560")),
)
# As Tesseract names them, such as eng+deu: in these, pages and pictures without text are read by a machine; empty: never
OPENBOOK_TITLE_MODEL = env("OPENBOOK_TITLE_MODEL")
OPENBOOK_SHOW_COSTS = env_switch("OPENBOOK_SHOW_COSTS")
OPENBOOK_OCR = env_languages("OPENBOOK_OCR")
OPENBOOK_EXPORT_SECONDS = float(env("OPENBOOK_EXPORT_SECONDS", "60"))
OPENBOOK_TOKEN_DAYS = int(env("OPENBOOK_TOKEN_DAYS", "90"))
OPENBOOK_SERVICE_TOKEN_DAYS = int(env("OPENBOOK_SERVICE_TOKEN_DAYS", "365"))
# Off: nobody makes links that anybody can open, and those that were made open nothing.
OPENBOOK_SHARING = env_switch("OPENBOOK_SHARING")
# How many scheduled messages a person may have; 0: nobody has any, and none are sent.
OPENBOOK_SCHEDULES = env_number("OPENBOOK_SCHEDULES", 20, most=1000)
# How many webhooks a person may have; 0: nobody has any.
OPENBOOK_WEBHOOKS = env_number("OPENBOOK_WEBHOOKS", 10, most=1000)
OPENBOOK_SHARE_DAYS = int(env("OPENBOOK_SHARE_DAYS", "90"))
# Off: nobody uploads or imports, begins a chat that is not kept, or takes everything of theirs along
OPENBOOK_UPLOADS = env_switch("OPENBOOK_UPLOADS", default=True)
OPENBOOK_TEMPORARY_CHATS = env_switch("OPENBOOK_TEMPORARY_CHATS", default=True)
OPENBOOK_EXPORT = env_switch("OPENBOOK_EXPORT", default=True)
# All that people may be answered by, as provider/name, and all tools that assistants may use; None: all
OPENBOOK_ALLOWED_MODELS = env_allowed("OPENBOOK_ALLOWED_MODELS", r"[^/\s]+/\S+")
OPENBOOK_ALLOWED_TOOLS = env_allowed("OPENBOOK_ALLOWED_TOOLS", r"\w+")
# By which the service that a moderator asks knows who asks it.
OPENBOOK_MODERATION_SECRET = env_secret("OPENBOOK_MODERATION_SECRET")
# Where people report what they can't use: a mail address, or the address of a page.
OPENBOOK_CONTACT = env("OPENBOOK_CONTACT")
if OPENBOOK_CONTACT and not re.fullmatch(r"https://\S+|[^@\s:]+@[^@\s:]+", OPENBOOK_CONTACT):
    raise ImproperlyConfigured("OPENBOOK_CONTACT is neither a mail address nor the https address of a page.")
# How many MCP servers a person may connect; 0: nobody any. Seconds that a call of a tool may take, and its result's tokens.
OPENBOOK_MCP_SERVERS = env_number("OPENBOOK_MCP_SERVERS", 10, most=100)
OPENBOOK_MCP_SECONDS = env_number("OPENBOOK_MCP_SECONDS", 30, most=600)
OPENBOOK_MCP_RESULT_TOKENS = env_number("OPENBOOK_MCP_RESULT_TOKENS", 4_000, most=100_000)
# A file that names programs of this machine which staff may connect as servers (stdio).
OPENBOOK_MCP_PROGRAMS = env_file("OPENBOOK_MCP_PROGRAMS")
# For each user; 0 is no limit. Staff can set others for one user.
OPENBOOK_LIMIT_REQUESTS_MINUTE = int(env("OPENBOOK_LIMIT_REQUESTS_MINUTE", "600"))
OPENBOOK_LIMIT_RUNNING_REPLIES = int(env("OPENBOOK_LIMIT_RUNNING_REPLIES", "8"))
OPENBOOK_LIMIT_TOKENS_DAY = int(env("OPENBOOK_LIMIT_TOKENS_DAY", "0"))
OPENBOOK_LIMIT_FILES_MB = int(env("OPENBOOK_LIMIT_FILES_MB", "2048"))
# From one address; 0 is no limit.
OPENBOOK_LIMIT_SIGNUPS_HOUR = int(env("OPENBOOK_LIMIT_SIGNUPS_HOUR", "120"))
# A body is kept in memory while its request lasts, unless it is larger than this.
FILE_UPLOAD_MAX_MEMORY_SIZE = 65_536
# A character takes at most 12 bytes of JSON (an escaped surrogate pair); the rest is the envelope.
DATA_UPLOAD_MAX_MEMORY_SIZE = OPENBOOK_MAX_MESSAGE_CHARS * 12 + 65_536
# Work beside the replies
OPENBOOK_WORKER = env_switch("OPENBOOK_WORKER", default=True)
# What is deleted after so many days; 0: never. `manage.py retention` shows what would go.
OPENBOOK_SNAPSHOT_DAYS = env_days("OPENBOOK_SNAPSHOT_DAYS")
OPENBOOK_ACCESS_DAYS = env_days("OPENBOOK_ACCESS_DAYS")
OPENBOOK_AUDIT_DAYS = env_days("OPENBOOK_AUDIT_DAYS")
OPENBOOK_THREAD_DAYS = env_days("OPENBOOK_THREAD_DAYS")
OPENBOOK_FILE_DAYS = env_days("OPENBOOK_FILE_DAYS")
OPENBOOK_FEEDBACK_DAYS = env_days("OPENBOOK_FEEDBACK_DAYS")
OPENBOOK_WEBHOOK_DAYS = env_number("OPENBOOK_WEBHOOK_DAYS", 30, most=3650)
OPENBOOK_EVENT_MINUTES = int(env("OPENBOOK_EVENT_MINUTES", "60"))

# The audit record: whether events name the network address that a request came from.
OPENBOOK_AUDIT_ADDRESSES = env_switch("OPENBOOK_AUDIT_ADDRESSES", default=True)
# Where events are pushed: by HTTP, as JSON lines or one array, ...
OPENBOOK_AUDIT_PUSH_URL = env("OPENBOOK_AUDIT_PUSH_URL")
if OPENBOOK_AUDIT_PUSH_URL and not re.fullmatch(r"https?://[^\s/@]+(?:/\S*)?", OPENBOOK_AUDIT_PUSH_URL):
    raise ImproperlyConfigured("OPENBOOK_AUDIT_PUSH_URL is no address such as https://collector.example/audit.")
OPENBOOK_AUDIT_PUSH_FORMAT = env("OPENBOOK_AUDIT_PUSH_FORMAT", "lines")
if OPENBOOK_AUDIT_PUSH_FORMAT not in {"lines", "array"}:
    raise ImproperlyConfigured("OPENBOOK_AUDIT_PUSH_FORMAT is neither lines nor array.")
OPENBOOK_AUDIT_PUSH_TOKEN = env_secret("OPENBOOK_AUDIT_PUSH_TOKEN")
OPENBOOK_AUDIT_PUSH_SECRET = env_secret("OPENBOOK_AUDIT_PUSH_SECRET")
# ... and by syslog over TLS; the files of an authority, and of a certificate of ours with its key.
OPENBOOK_AUDIT_SYSLOG = env("OPENBOOK_AUDIT_SYSLOG")
if OPENBOOK_AUDIT_SYSLOG and not re.fullmatch(
    r"tls://[^\s/@:]+(?::\d{1,5})?|tls://\[[0-9a-f:]+\](?::\d{1,5})?", OPENBOOK_AUDIT_SYSLOG
):
    raise ImproperlyConfigured("OPENBOOK_AUDIT_SYSLOG is no address such as tls://collector.example:6514.")
OPENBOOK_AUDIT_SYSLOG_CA = env_file("OPENBOOK_AUDIT_SYSLOG_CA")
OPENBOOK_AUDIT_SYSLOG_CERTIFICATE = env_file("OPENBOOK_AUDIT_SYSLOG_CERTIFICATE")

# OpenTelemetry: what is told to a collector, where one is named. The SDK reads all other OTEL_* variables by itself.
OTEL_SIGNALS = [
    signal
    for signal in ("traces", "metrics", "logs")
    if (env("OTEL_EXPORTER_OTLP_ENDPOINT") or env(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT"))
    and "otlp" in env_list(f"OTEL_{signal.upper()}_EXPORTER", "otlp")
    and env("OTEL_SDK_DISABLED").lower() != "true"
]
OPENBOOK_OTEL_TEXTS = env_switch("OPENBOOK_OTEL_TEXTS")
OTEL_PROTOCOL = env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")

# Prometheus: without it /metrics answers programs on this machine alone.
OPENBOOK_METRICS_TOKEN = env_secret("OPENBOOK_METRICS_TOKEN")
if 0 < len(OPENBOOK_METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("OPENBOOK_METRICS_TOKEN is too short: write at least 16 random characters.")

# A reply whose first word comes later, or for which more is done here than this, is logged with its steps; 0: none is.
OPENBOOK_SLOW_SECONDS = float(env("OPENBOOK_SLOW_SECONDS", "5"))

# A step that keeps the event loop from all others for longer is logged with its place; 0: none is.
OPENBOOK_LOOP_STALL_SECONDS = float(env("OPENBOOK_LOOP_STALL_SECONDS", "0.2"))

# Sentry is told of failures, never of texts. The SDK reads SENTRY_ENVIRONMENT and SENTRY_RELEASE by itself.
SENTRY_DSN = env_secret("SENTRY_DSN")

DJANGO_SUPERUSER_USERNAME = env("DJANGO_SUPERUSER_USERNAME", "admin")
DJANGO_SUPERUSER_PASSWORD = env_secret("DJANGO_SUPERUSER_PASSWORD")
PORT = int(env("PORT", "8000"))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_tasks_db",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    *(["allauth.socialaccount.providers.saml"] if find_spec("onelogin") else []),
    *(["corsheaders"] if CORS_ALLOWED_ORIGINS else []),
    "config",  # its management commands
    "django.contrib.staticfiles",  # below them, as they add to `collectstatic`
    "conversations",
    "artifacts",
    "memory",
]

MIDDLEWARE = [
    "config.server.middleware.request_id",
    "config.server.middleware.nothing_is_stored",
    "config.server.middleware.little_is_permitted",
    "config.server.middleware.refusals_are_logged",
    *(["corsheaders.middleware.CorsMiddleware"] if CORS_ALLOWED_ORIGINS else []),
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.server.authentication.AuthenticationMiddleware",
    "config.languages.middleware.page_language",
    "config.server.middleware.staff_networks_only",
    "config.server.middleware.streams_end_with_access",
    "config.server.middleware.pages_count",
    "config.server.middleware.duties_first",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.l10n"],
        },
    }
]

# No inline script and nothing from elsewhere. The nonce is for the import map, which browsers take inline only.
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    # Nothing from elsewhere is shown in a frame, wherever its scripts send it. (The connection may have been opened by then.)
    "frame-src": [CSP.SELF],
    "worker-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "chat"
LOGOUT_REDIRECT_URL = "account_login"
AUTHENTICATION_BACKENDS = [
    "conversations.accounts.session_user.SessionUserBackend",
    *(
        ["conversations.accounts.ldap_sign_in.DirectoryBackend"]
        if OPENBOOK_DIRECTORY and find_spec("django_auth_ldap")
        else []
    ),
]
PASSWORD_RESET_TIMEOUT = 86_400
ACCOUNT_ADAPTER = "conversations.web.account_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "conversations.web.forms.SignInForm",
    "signup": "conversations.web.sign_up_forms.SignUpForm",
    "change_password": "conversations.web.forms.ChangePasswordForm",
    "set_password": "conversations.web.forms.SetPasswordForm",
    "reset_password_from_key": "conversations.web.forms.ResetPasswordKeyForm",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_RATE_LIMITS = False  # attempts are counted by conversations.accounts.sign_in, before anything is looked up
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False  # it would look the session up for whoever guesses
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_CHANGE_EMAIL = True  # one address a person, which counts once its link was opened
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 1
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = True  # of what changes about an account; conversations.accounts.letters words them
ACCOUNT_REAUTHENTICATION_REQUIRED = True
MFA_ADAPTER = "conversations.web.factor_adapter.FactorAdapter"
MFA_FORMS = {
    "authenticate": "conversations.web.factor_forms.CodeForm",
    "reauthenticate": "conversations.web.factor_forms.FreshCodeForm",
    "activate_totp": "conversations.web.factor_forms.ActivateAppForm",
    "add_webauthn": "conversations.web.factor_forms.AddPasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Openbook"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s by which a clock may be wrong
MFA_ALLOW_UNVERIFIED_EMAIL = True  # an address that is not verified counts for nothing here
MFA_RATE_LIMITS = False  # as above
SOCIALACCOUNT_ADAPTER = "conversations.web.provider_adapter.ProviderAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # but for linking an account: conversations.web.provider_entry
SOCIALACCOUNT_EMAIL_VERIFICATION = (
    "none"  # an address counts where a provider is trusted to have proved it, or not at all
)
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_STORE_TOKENS = False
PASSWORD_HASHERS = ["conversations.accounts.passwords.PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTH_PASSWORD_VALIDATORS.append({"NAME": "conversations.accounts.password_words.WordsOfThisServerValidator"})

# By their own names, as the page that offers them has them
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("es", "Español"), ("ar", "العربية")]
LANGUAGE_CODE = "en"
# Made of locale/*/LC_MESSAGES/*.po by `manage.py translations compile`: for Python and templates, and for scripts
OPENBOOK_CATALOGUES = BASE_DIR / ".local" / "locale"
OPENBOOK_SCRIPT_CATALOGUES = OPENBOOK_CATALOGUES / "scripts"
LOCALE_PATHS = [OPENBOOK_CATALOGUES]
FORMAT_MODULE_PATH = "config.languages.formats"
TIME_ZONE = "UTC"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / ".local" / "static"
STATICFILES_DIRS = [
    (f"vendor/{package}", str(BASE_DIR / "node_modules" / folder))
    for package, folder in {
        "marked": "marked/lib",
        "dompurify": "dompurify/dist",
        "highlight": "@highlightjs/cdn-assets/es",
        "diff": "diff/libesm",
        "katex": "katex/dist",
        "mermaid": "@mermaid-js/tiny/dist",
    }.items()
]
STATICFILES_DIRS.append(("languages", str(OPENBOOK_SCRIPT_CATALOGUES)))

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": []}}  # any queue; a worker serves all

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "conversations.rest.authentication.TokenAuthentication",
        "conversations.rest.authentication.HeaderSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "conversations.rest.authentication.HasScope",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["conversations.rest.throttling.RequestsAMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "conversations.rest.pagination.CursorPagination",
    "DEFAULT_SCHEMA_CLASS": "conversations.rest.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "conversations.rest.errors.exception_handler",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Openbook",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "Threads, messages, replies and, for every model request, exactly what the model was given.\n\n"
    "The version is part of each address: `/api/v1/`. Within a version fields, calls, parameters, event types and codes are "
    "only added, so ignore those that you don't know; what would break a caller comes as `/api/v2/` beside it. What is to "
    "go is marked as deprecated here and answers with a `Deprecation` header for at least a year before.",
    "SCHEMA_PATH_PREFIX": "/",  # ids of operations begin with `api_v1`
    "ENUM_NAME_OVERRIDES": {
        "ArtifactKind": "artifacts.models.Kind",
        "ArtifactOrigin": "artifacts.models.ArtifactVersion.Origin",
        "ConnectionKind": "conversations.models.connections.Kind",
        "CacheLifetime": "conversations.models.Assistant.CacheLifetime",
        "Effort": "conversations.models.Effort",
        "RunState": "conversations.models.Replay.State",
        "RequestStatus": "conversations.models.ContextSnapshot.Status",
        "FeedbackState": "conversations.models.Feedback.State",
        "FindingState": "conversations.models.LintFinding.State",
        "MemoryOrigin": "memory.models.Memory.Origin",
        "FeedbackReason": "conversations.models.Feedback.Reason",
        "SharedKind": "conversations.rest.shares.KINDS",
        "ImportedStatus": "conversations.rest.book.IMPORTED_STATUSES",
        "ReasonEnum": "conversations.context.reasons.Reason",
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.observability.logs.JsonFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "openbook": {"level": "INFO"},
        "django": {"level": "INFO"},  # without the console of its own that it has where DEBUG is on: each line once
        "django.request": {"level": "ERROR"},
        "mcp": {"level": "ERROR"},  # else each request that a program got wrong
        # Where all is logged they would write down credentials and conversations.
        **{name: {"level": "WARNING"} for name in ("boto3", "botocore", "google.auth", "urllib3")},
    },
}
