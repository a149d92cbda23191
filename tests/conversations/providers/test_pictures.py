"""Pictures in a request: in each provider's shape and back, and what they take."""

import pytest

from conversations.providers.chat_completions import as_messages_api, chat_payload
from conversations.providers.dialects import DIALECTS
from conversations.providers.image_tokens import image_tokens

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
        dialect=dialect,
        model="m",
        max_tokens=10,
        system=[{"type": "text", "text": "Be brief."}],
        messages=[{"role": "user", "content": CONTENT}],
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


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(256, 256, 100), (512, 512, 361), (1024, 1024, 1369), (1280, 720, 1196), (0, 0, 0)]
)
def test_pictures_count_as_claude_counts_them(width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height) == tokens
