"""The models: what staff see of them and change, and how an assistant's form keeps to what its model can do."""

import re
from typing import Any

import pytest
from django.forms import model_to_dict
from django.test import Client, override_settings

from conversations.models import Assistant, Model
from conversations.providers import model_catalog
from conversations.staff.model_choice import misfits
from tests.conversations.staff.conftest import SignIn, StaffReader, list_url, page_url

pytestmark = pytest.mark.django_db


def row(name: str) -> Model:
    return Model.objects.get(name=name)


def submit(client: Client, model: Model, *prices: dict[str, Any], **changes: Any) -> dict[str, list[str]]:
    """Save the form with these changes and prices. Returns its errors, none where it was saved."""
    values = model_to_dict(model) | changes
    kept = [model_to_dict(price) for price in model.prices.all()]
    data = {name: value for name, value in values.items() if value is not False and value is not None}
    data |= {"prices-TOTAL_FORMS": len(kept) + len(prices), "prices-INITIAL_FORMS": len(kept)}
    for number, price in enumerate([*kept, *prices]):
        data |= {f"prices-{number}-{name}": value for name, value in price.items() if value is not None}
    response = client.post(page_url("model", model.pk), data)
    return {} if response.status_code == 302 else dict(response.context["adminform"].form.errors)


def cell(page: str, name: str, field: str) -> str:
    [line] = [line for line in page.split("<tr>") if line.startswith("<th") and f">{name}<" in line]
    [found] = re.findall(rf'class="field-{field}[^"]*">(.*?)</td>', line)
    return re.sub(r"<[^>]+>", " ", found).strip()


def test_the_list_tells_what_a_model_takes_and_costs(staff: StaffReader) -> None:
    page = staff.read(list_url("model")).text
    told = [cell(page, "claude-haiku-5-5", field) for field in ("sizes", "thinks", "effort", "price", "factor")]
    assert told == [
        "1,000,000 answers 128,000",
        "adaptive unasked, off by disabled",
        "medium low to max",
        "$0.1 in, $0.5 out more above 100,000 tokens",
        "1.30",
    ]
    assert cell(page, "claude-sonnet-5-5", "price") == "$2 in, $10 out"
    assert cell(page, "claude-haiku-4-5", "thinks") == "budget when told, off by disabled"
    assert (cell(page, "offline", "price"), cell(page, "offline", "thinks")) == ("–", "–")


def test_an_operators_price_is_shown_as_such(staff: StaffReader) -> None:
    own = '{"claude-opus-5-5": {"input": 3, "output": 9, "cache_write": 1, "cache_read": 1}}'
    with override_settings(OPENBOOK_PRICES=own):
        assert (
            cell(staff.read(list_url("model")).text, "claude-opus-5-5", "price") == "$3 in, $9 out by OPENBOOK_PRICES"
        )


def test_a_changed_model_counts_at_once(staff: StaffReader, django_capture_on_commit_callbacks: Any) -> None:
    price = {"since": "2026-11-01", "above": 0, "input": 1, "output": 2, "cache_write": 1, "cache_write_hour": 2}
    with django_capture_on_commit_callbacks(execute=True):
        assert submit(staff, row("claude-opus-5-5"), price | {"cache_read": "0.1"}, max_output=9_000) == {}
    assert model_catalog.get("anthropic", "claude-opus-5-5").max_output == 9_000
    assert len(model_catalog.prices()["anthropic", "claude-opus-5-5"]) == 2
    with django_capture_on_commit_callbacks(execute=True):
        staff.post(page_url("model", row("claude-opus-5-5").pk, "delete"), {"post": "yes"})
    assert model_catalog.find("anthropic", "claude-opus-5-5") is None


def test_a_row_that_contradicts_itself_is_refused(staff: StaffReader) -> None:
    assert submit(staff, row("claude-opus-4-6"), default_effort="xhigh") == {
        "default_effort": ["Tick it among the efforts, or choose another one."]
    }
    assert submit(staff, row("claude-opus-4-6"), max_output=1_000_000) == {
        "max_output": ["It leaves no room for a request: keep it below the context window."]
    }


def test_who_may_only_look_changes_nothing(signed_in: SignIn) -> None:
    client, model = signed_in("view_model", "view_modelprice"), row("claude-opus-5-5")
    page = client.get(page_url("model", model.pk)).text
    assert "Claude Opus 5.5" in page and "Prices, in USD" in page
    assert 'name="_save"' not in page
    assert client.post(page_url("model", model.pk), {"label": "Mine"}).status_code == 403
    assert signed_in().get(list_url("model")).status_code == 403


def test_an_assistants_form_offers_the_models(staff: StaffReader) -> None:
    page = staff.read(page_url("assistant", Assistant.objects.get(slug="companion").pk)).text
    assert [
        page.count(f'<datalist id="{name}_offered">') for name in ("model", "rewriting_model", "fallback_model")
    ] == [
        1,
        1,
        1,
    ]
    offered = re.findall(
        r'<option value="([^"]+)">', page.split('<datalist id="model_offered">')[1].split("</datalist>")[0]
    )
    assert offered[0] == "claude-sonnet-5-5"
    assert {"claude-haiku-5-5", "offline"} <= {*offered}
    assert "claude-sonnet-4-5" not in offered


def assistant_form(client: Client, **changes: Any) -> Any:
    assistant = Assistant.objects.get(slug="analyst")
    values = model_to_dict(assistant) | {"provider": "anthropic"} | changes
    data = {name: value for name, value in values.items() if value is not False and value is not None}
    data |= {"fallbacks-TOTAL_FORMS": 0, "fallbacks-INITIAL_FORMS": 0}
    return client.post(page_url("assistant", assistant.pk), data, follow=True)


def test_a_model_without_a_row_is_flagged_with_what_is_assumed(staff: StaffReader) -> None:
    saved = assistant_form(staff, model="claude-local", fallback_model="claude-opus-5", thinking_tokens=0)
    [warning] = [str(message) for message in saved.context["messages"] if message.level_tag == "warning"]
    assert warning.startswith(
        "The model claude-local has no row among those of anthropic. It is taken for one with a window of 200,000 tokens"
    )
    form = staff.read(page_url("assistant", Assistant.objects.get(slug="analyst").pk)).text
    assert form.count("The model claude-local has no row") == 1
    assert "claude-local" in cell_of(staff.read(list_url("assistant")).text, "has no row: taken for a plain one")


def cell_of(page: str, words: str) -> str:
    [found] = [cell for cell in page.split("<td") if words in cell]
    return found


@pytest.mark.once("my-own*")
@pytest.mark.parametrize(
    ("model", "changes", "field", "words"),
    [
        ("claude-opus-5-5", {"max_output_tokens": 128_001}, "max_output_tokens", "writes at most 128,000 tokens."),
        (
            "claude-opus-5-5",
            {"max_output_tokens": 125_000, "thinking_tokens": 4_000},
            "thinking_tokens",
            "writes at most 128,000 tokens, thinking included, which leaves 3,000 for it.",
        ),
        ("claude-haiku-4-5", {}, "hard_cap_tokens", "may have 24,576 of them: keep the hard cap to 175,424."),
        ("claude-opus-4-6", {"effort": "xhigh"}, "effort", "takes only low, medium, high, max."),
        ("my-own", {"effort": "low"}, "effort", "my-own takes no effort: leave it empty."),
    ],
)
def test_what_its_model_cannot_do_is_told_where_it_is_set(
    staff: StaffReader, model: str, changes: dict[str, Any], field: str, words: str
) -> None:
    errors = assistant_form(staff, model=model, **changes).context["adminform"].form.errors
    assert list(errors) == [field]
    assert words in errors[field][0]


def test_every_shipped_assistant_fits_every_model_but_those_with_a_small_window() -> None:
    odd = {
        (assistant.slug, model.name): [*misfits(model, assistant)]
        for assistant in Assistant.objects.all()
        for model in Model.objects.exclude(provider="local")  # an assistant doesn't choose it
        if misfits(model, assistant)
    }
    small = [model.name for model in Model.objects.filter(context_window=200_000)]
    assert odd == {("analyst", name): ["hard_cap_tokens"] for name in small}
