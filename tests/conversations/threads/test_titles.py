"""A thread is named after what its first message says, not after the signs that it is written with."""

import pytest

from conversations.threads.titles import first_words, title_from, titles_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is a monad?", "What is a monad?"),
        ("  # Plan for *Friday*\n\nMore", "Plan for Friday More"),
        ("**Bold** words and `code_with_underscores`", "Bold words and code_with_underscores"),
        ("```python\nprint(1)\n```\nWhy does this fail?", "Why does this fail?"),
        ("Why does this fail?\n```python\nprint(1)\n```", "Why does this fail?"),
        ("```\nprint(1)\n```", "print(1)"),
        ("```", "```"),
        ("- [ ] buy flour\n- [x] buy salt", "buy flour buy salt"),
        ("> She said no.\n\nWhat now?", "She said no. What now?"),
        ("See [the docs](https://example.org/a_b) first", "See the docs first"),
        ("2 * 3 * 4 and *.py", "2 * 3 * 4 and *.py"),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b | | 1 | 2 |"),
        ("", ""),
        ("Hello! My boiler leaks. Nobody answers the phone at the company, what can I do?", "My boiler leaks"),
        (
            "Good evening, my boiler at home leaks badly and nobody answers the phone.",
            "My boiler at home leaks badly and nobody answers the phone",
        ),
        (
            "Dois-je déclarer mes trois ruches à la mairie de mon village cette année ?",
            "Dois-je déclarer mes trois ruches à la mairie…",
        ),
        (
            'He wrote "the lamp beside the piano is gone", what do I answer him?',
            'He wrote "the lamp beside the piano is gone"',
        ),
        ("今晚煮了四个人的扁豆还有米饭。" * 8, "今晚煮了四个人的扁豆还有米饭"),
        ("word " * 40, "word word word word word word word word word word word word…"),
    ],
)
def test_a_title_is_the_first_words_without_the_signs_of_markdown(text: str, title: str) -> None:
    assert title_from(text) == title


def test_titles_of_older_threads_are_known_too() -> None:
    assert titles_from("# Plan\nfor Friday") == {"Plan for Friday", first_words("# Plan\nfor Friday")}
    long = "Ana plays the harp. Which pieces by composers of her own country could she learn first?"
    assert titles_from(long) == {"Ana plays the harp", first_words(long)}


@pytest.mark.parametrize("piece", ["[", "[a](", "*a ", "`", "> ", "- ", "```\n", "| ", "**", "[](a"])
def test_no_text_takes_longer_than_it_is_long(piece: str) -> None:
    """A quadratic one would take minutes here."""
    assert len(title_from(piece * 400_000)) <= 61
