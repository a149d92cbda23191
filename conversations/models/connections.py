import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from conversations.runtime import encryption

PURPOSE = "connection"
PORTS = {"http": 80, "https": 443}


class Kind(models.TextChoices):
    """What a connection speaks."""

    ANTHROPIC = "anthropic", "Anthropic's Messages API"
    OPENAI = "openai", "OpenAI's Chat Completions, as most servers speak them"
    BEDROCK = "bedrock", "Claude by Amazon Bedrock"


RESERVED = ("anthropic", "bedrock", "claude_cli", "local", "offline", "openai", "vertex")
"""The names of the providers that the environment configures."""


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What a service is given and nobody is shown. ``key`` is empty where there is none."""

    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class SecretsOfAnotherPlace(Exception):
    """The address or the proxy was changed since, and the secrets were given for the one before."""


class Connection(models.Model):
    """A service that models are asked of, made by staff. Its slug is the name of a provider."""

    slug = models.SlugField(
        max_length=40, unique=True, help_text="Its name in assistants and records. It can't be changed later."
    )
    label = models.CharField(max_length=80, help_text="What staff call it.")
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.ANTHROPIC)
    base_url = models.CharField("address", max_length=300, blank=True)
    server = models.CharField(
        max_length=40, blank=True, help_text="What it is, where its address does not tell. Empty: told by the address."
    )
    region = models.CharField(
        max_length=40,
        blank=True,
        validators=[RegexValidator(r"^[a-z0-9-]*\Z", "Write it as the cloud does, such as eu-central-1.")],
        help_text="Of a cloud alone: where it is asked, such as eu-central-1.",
    )
    secrets = models.BinaryField(default=b"", editable=False)
    connect_seconds = models.FloatField(
        "seconds to connect", default=5.0, validators=[MinValueValidator(0.1), MaxValueValidator(60)]
    )
    proxy = models.CharField(max_length=300, blank=True)
    is_active = models.BooleanField(default=True, help_text="Models are asked by it, and it is offered for assistants.")
    order = models.PositiveSmallIntegerField(default=0)
    tested_at = models.DateTimeField(null=True, editable=False)
    is_working = models.BooleanField(null=True, editable=False)
    test_result = models.CharField(max_length=600, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["order", "label"]
        constraints = [
            models.CheckConstraint(
                condition=Q(*(~Q(slug=name) for name in RESERVED)),  # a list would be dumped otherwise than made
                name="connection_slug_free",
                violation_error_message=f"Choose another name: {', '.join(RESERVED)} are configured by the environment.",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def place(self) -> str:
        """Where what is sent can be read: the server, and the proxy before it. Empty for the maker's own, directly."""
        return " ".join(filter(None, (origin(self.base_url), origin(self.proxy))))

    def set_secrets(self, secrets: Secrets) -> None:
        """Keep them for the place that the connection leads to now."""
        content = {"place": self.place, "key": secrets.key, "headers": dict(secrets.headers)}
        has_some = secrets.key or secrets.headers
        self.secrets = encryption.encrypt(json.dumps(content), purpose=PURPOSE) if has_some else b""

    def read_secrets(self) -> Secrets:
        """Raises ``NotDecryptable`` and ``SecretsOfAnotherPlace``."""
        if not self.secrets:
            return Secrets()
        content = json.loads(encryption.decrypt(bytes(self.secrets), purpose=PURPOSE))
        if content["place"] != self.place:
            raise SecretsOfAnotherPlace
        return Secrets(key=content["key"], headers=content["headers"])


def origin(url: str) -> str:
    """Scheme, host and port of an address, in one form."""
    if not url:
        return ""
    parts = urlsplit(url)
    return f"{parts.scheme}://{(parts.hostname or '').rstrip('.')}:{parts.port or PORTS.get(parts.scheme, '')}"
