"""Labels hold what the installation knows: whatever services, models and callers write, the number of series is bounded."""

import ast
import re
import secrets
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from config.observability import figures, installation, label_values, metrics
from config.observability.measuring import MeasuringListener, tool_labels
from config.observability.open_telemetry import response_values
from conversations.models import Assistant, ContextSnapshot, Reply, Thread
from conversations.providers.base import Finished, ModelCall, ProviderError, TextDelta, Usage
from tests.processes import ROOT

pytestmark = pytest.mark.django_db

NAMES = 50


def series(text: str) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (sample.name, tuple(sample.labels.values()))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(errors: list[str]) -> set[tuple[str, tuple[str, ...]]]:
    """As the metrics are with these codes of errors in the database."""
    found = installation.look()
    requests = [installation.Requests("failed", error, 1) for error in errors]
    told = metrics.rendered(SimpleNamespace(**{**vars(found), "requests": requests}), [])  # type: ignore[arg-type]
    return series(told.decode())


def work_with(name: str) -> None:
    """A reply of which all is called so that is not the installation's own."""
    listener = MeasuringListener()
    thread = Thread(assistant=Assistant.objects.get(slug="companion"))
    call = ModelCall()
    call.note(TextDelta(text="Hi"))
    call.note(Finished(stop_reason=name, usage=Usage(input_tokens=3, output_tokens=4), model=name, message_id=name))
    reply = listener.reply()
    reply.record_opened(thread, Reply())
    with listener.model_request(ContextSnapshot(provider=name, model=name, runs=""), call):
        pass
    with pytest.raises(ProviderError), listener.model_request(ContextSnapshot(provider=name, model=name), ModelCall()):
        raise ProviderError(name, "no", retryable=False)
    with listener.tool(name, name) as step:
        step.failed(name)
    with listener.context() as step:
        step.failed(name)
    reply.record_closed("failed", name, Usage())


def test_names_that_nobody_here_knows_make_no_further_series() -> None:
    work_with("first")
    before = scrape(["first"])
    names = [secrets.token_urlsafe(24) for _ in range(NAMES)]
    for name in names:
        work_with(name)
    after = scrape(names)
    assert after == before
    assert any(label_values.OTHER in labels for _, labels in after)


def test_names_that_the_installation_knows_are_told(settings: Any) -> None:
    settings.OPENBOOK_MODEL = "own-model"
    label_values.learn("gen_ai.request.model", "of-an-assistant")
    for label, name in (
        ("gen_ai.provider.name", "anthropic"),
        ("gen_ai.request.model", "own-model"),
        ("gen_ai.response.model", "of-an-assistant"),
        ("gen_ai.tool.name", "save_artifact"),
        ("error.type", "rate_limited"),
        ("error.type", "TimeoutError"),
    ):
        assert label_values.bounded(label, name) == name


def test_staff_who_rename_for_ever_find_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(label_values._learnt, "gen_ai.agent.name", set())
    for number in range(2 * label_values.MOST_LEARNT):
        label_values.learn("gen_ai.agent.name", f"assistant {number}")
    told = {label_values.bounded("gen_ai.agent.name", f"assistant {number}") for number in range(1_000)}
    assert len(told) <= label_values.MOST_LEARNT + 1


def test_each_label_of_each_figure_has_its_names() -> None:
    labels = {label for figure in figures.FIGURES for label in figure.labels}
    assert labels - label_values.KNOWN.keys() == set()


def test_a_span_holds_nothing_of_the_services_own() -> None:
    key = secrets.token_urlsafe(24)
    values = response_values(Finished(stop_reason=key, model=key, message_id=key, request_id=key))
    assert key not in str(values)
    assert key not in str(tool_labels(key))


def codes() -> Iterator[tuple[str, str]]:
    """Each code that the code gives to an error of a model, with its file."""
    for path in sorted([*ROOT.glob("conversations/**/*.py"), *ROOT.glob("memory/**/*.py")]):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if re.search("StreamError|(?i:provider_?error)", text) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if node.func.id in {"ProviderError", "StreamError", "provider_error"} and isinstance(
                    first, ast.Constant
                ):
                    yield str(first.value), path.name


def test_each_code_of_an_error_is_known() -> None:
    found = list(codes())
    assert len(found) > 30
    assert [(code, name) for code, name in found if code not in label_values.CODES] == []
