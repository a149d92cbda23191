"""Pictures in a request: in each provider's shape and back, and what they take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers.chat_completions import as_messages_api, chat_payload
from conversations.providers.dialects import DIALECTS
from conversations.providers.image_tokens import RULES, ImageRule, image_rule, image_tokens, sent_size
from conversations.providers.messages_api import RequestParts

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
CONTENT = [
    {"type": "text", "text": "<file>"},
    PICTURE,
    {"type": "text", "text": "</file>"},
    {"type": "text", "text": "What is it?"},
]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_picture_is_a_part_of_its_own_and_comes_back_as_it_was(dialect) -> None:  # type: ignore[no-untyped-def]
    payload = chat_payload(
        RequestParts(
            model="m",
            max_tokens=10,
            system=[{"type": "text", "text": "Be brief."}],
            messages=[{"role": "user", "content": CONTENT}],
        ),
        dialect,
    )
    message = payload["messages"][-1]
    assert message["content"] == [
        {"type": "text", "text": "<file>"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        {"type": "text", "text": "</file>\n\nWhat is it?"},
    ]
    assert as_messages_api(payload)["messages"][-1]["content"] == [
        CONTENT[0],
        PICTURE,
        {"type": "text", "text": "</file>\n\nWhat is it?"},
    ]


OPUS, OLDER_OPUS, HAIKU = "claude-opus-4-8", "claude-opus-4-6", "us.anthropic.claude-haiku-4-5-20251001-v1:0"


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        # platform.claude.com/docs/en/build-with-claude/vision and /vision-coordinates
        (OPUS, 200, 200, 64),
        (OPUS, 1000, 1000, 1296),
        (OPUS, 1092, 1092, 1521),
        (OPUS, 1920, 1080, 2691),
        ("claude-opus-5-5", 3840, 2160, 4784),
        (OLDER_OPUS, 1920, 1080, 1560),
        (OLDER_OPUS, 3840, 2160, 1560),
        (HAIKU, 1075, 1520, 1551),
        ("anthropic/claude-opus-4.8", 1920, 1080, 2691),
        # developers.openai.com/api/docs/guides/images-vision
        ("gpt-4o", 1024, 1024, 765),
        ("gpt-4o-2024-08-06", 2048, 4096, 1105),
        ("gpt-4.1", 1024, 1024, 765),
        ("gpt-4o-mini", 1024, 1024, 2833 + 4 * 5667),
        ("gpt-5-2025-08-07", 1024, 1024, 70 + 4 * 140),
        ("o3", 1024, 1024, 75 + 4 * 150),
        ("gpt-5.2", 1024, 1024, 1229),
        ("gpt-4.1-mini", 1024, 1024, 1659),
        ("gpt-5.5", 4000, 3000, 11_868),
        ("openai/gpt-6-astra", 1080, 1350, 1755),
        # ai.google.dev/gemini-api/docs/image-understanding and /media-resolution
        ("gemini-2.5-flash", 300, 200, 258),
        ("gemini-2.5-flash", 960, 540, 6 * 258),
        ("gemini-3-pro", 960, 540, 1120),
        # mistralai.github.io/mistral-common/usage/images
        ("mistral-medium-latest", 1540, 1540, 55 * 56),
        ("pixtral-12b", 1024, 1024, 64 * 65),
        # whatever is not known
        ("qwen2.5-vl-7b", 512, 512, 361),
        ("qwen2.5-vl-7b", 1024, 1024, 1369),
        ("", 0, 0, 0),
    ],
)
def test_pictures_count_as_their_makers_publish_it(model: str, width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height, image_rule(model)) == tokens


@pytest.mark.parametrize(
    ("model", "size", "sent"),
    [
        (OLDER_OPUS, (1920, 1080), (1456, 819)),
        (HAIKU, (1075, 1520), (924, 1307)),
        (OPUS, (1075, 1520), (1075, 1520)),
        (OPUS, (3840, 2160), (2576, 1449)),
        ("gpt-5.5", (4000, 3000), (3669, 2752)),
        ("gpt-5.5", (8000, 1000), (6000, 750)),
        ("gpt-4o", (1536, 1024), (1152, 768)),
    ],
)
def test_pictures_are_made_smaller_as_their_makers_publish_it(
    model: str, size: tuple[int, int], sent: tuple[int, int]
) -> None:
    assert sent_size(*size, image_rule(model)) == sent


def test_a_budget_of_squares_is_met_as_openai_shows_it() -> None:
    rule = ImageRule.of({"side": 32, "most": 1536, "fit": "whole"})
    assert sent_size(1800, 2400, rule) == (1056, 1408)
    assert image_tokens(1800, 2400, rule) == 1452


@given(st.sampled_from([rule for _, rule in RULES]), st.integers(1, 9_000), st.integers(1, 9_000))
def test_no_picture_takes_more_than_its_rule_allows(rule: ImageRule, width: int, height: int) -> None:
    sent = sent_size(width, height, rule)
    assert sent[0] <= width
    assert sent[1] <= height
    assert rule.takes(*sent)
    assert image_tokens(width, height, rule) > 0
