"""The engine of the model on this machine as a child of this process, and what the table of models says of its model."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from config.local_model.engine import EngineOrder
from config.worker.child_process import Child
from conversations.models import Assistant, Model
from conversations.providers import model_catalog, provider_name
from conversations.providers.local_model import PROVIDER, SMALL_MODEL, header_of, obstacle_to_start, served_model
from conversations.runtime import local_engine
from conversations.runtime.gguf import ModelHeader

log = logging.getLogger("openbook.local_model")

REPLIES = 2
"""Answered at once; others wait."""
ANSWER_TOKENS = 2_048
OUR_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TZ")
"""What the engine is given of ours, which holds keys."""

SMALL_SAMPLING: Mapping[str, float] = {
    "temp": 0.3,
    "top_p": 0.9,
    "dry_multiplier": 1.0,
    "dry_allowed_length": 4,
    "dry_penalty_last_n": 512,
}
"""Without a penalty the small model says one sentence again and again until its answer is full. One on whole phrases (DRY): one
on single words would keep it from saying what was said before."""
SAMPLING: Mapping[str, float] = {"temp": 0.7, "top_p": 0.95, "penalty_repeat": 1.05, "penalty_last_n": 128}


@contextmanager
def engine_running(*, apart: bool = True) -> Iterator[None]:
    """Have the engine run while the block does, where a model on this machine answers. Several processes of one data folder
    may: one of their engines loads the model, and another one takes over when that ends."""
    child = make_child(apart=apart) if is_wanted() else None
    if child:
        child.start()
    try:
        yield
    finally:
        if child:
            child.stop()


def is_wanted() -> bool:
    """Whether replies come from it: of the server's default provider, of an assistant's, or in the place of another."""
    named = Q(provider=PROVIDER) | Q(fallbacks__provider=PROVIDER) | Q(offered_models__provider=PROVIDER)
    return provider_name() == PROVIDER or Assistant.objects.filter(named).exists()


def make_child(*, apart: bool) -> Child | None:
    if obstacle := obstacle_to_start():
        log.error("the model on this machine can't be started", extra={"cause": obstacle.message})
        return None
    path = local_engine.weights(settings.OPENBOOK_LOCAL_MODEL)
    assert path
    context = context_tokens(header := header_of(path))
    if served_model() != SMALL_MODEL:
        describe(header, context)
    order = EngineOrder(
        folder=str(settings.LOCAL_DIR),
        model=str(path.absolute()),
        context_tokens=context,
        replies=REPLIES,
        sampling=dict(SMALL_SAMPLING if served_model() == SMALL_MODEL else SAMPLING),
    )
    return Child(
        "the engine of the local model",
        [sys.executable, "-m", "config.local_model.engine"],
        apart=apart,
        order=order.line(),
        environment=environment(),
        hears=lambda line: log.warning("local_model", extra={"line": line}),
    )


def context_tokens(header: ModelHeader) -> int:
    """What the engine holds of each conversation: all that the model was trained for; of a model that the operator chose, no
    more than is set."""
    if served_model() == SMALL_MODEL:
        return header.context_tokens
    return min(header.context_tokens, settings.OPENBOOK_LOCAL_CONTEXT_TOKENS)


def describe(header: ModelHeader, context: int) -> None:
    """The row of a model that the operator chose. Its window is that of the engine, but for what the estimate may fall short of
    in scripts that the model's tokenizer hardly knows, which is a half; the rest is for staff to change."""
    window = {"context_window": context // 2 + min(ANSWER_TOKENS, context // 4)}
    name = served_model()
    others = {"label": name, "max_output": min(ANSWER_TOKENS, context // 4), "takes_tools": header.calls_tools}
    Model.objects.update_or_create(
        provider=PROVIDER, name=name, defaults=window, create_defaults={**window, **others, "order": 1}
    )
    model_catalog.reread()


def environment() -> dict[str, str]:
    given = {name: os.environ[name] for name in OUR_ENVIRONMENT if name in os.environ}
    return {**given, "PYTHONPATH": str(Path(settings.BASE_DIR))}
