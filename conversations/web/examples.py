"""What to try first, on the page of a thread to come: examples that show memory, artifacts and the book.

The offline responder answers each of them, too: it may be all that answers when somebody sees the page first.
"""

from typing import NotRequired, TypedDict

OTHERS = ""


class Example(TypedDict):
    """``text`` is put into the message box, ``hint`` tells what to try after it. ``assistant`` is chosen for it, by its slug;
    without one it is whoever is chosen."""

    text: str
    hint: str
    assistant: NotRequired[str]


EXAMPLES: dict[str, tuple[Example, ...]] = {
    OTHERS: (
        Example(
            text="My sister Inês arrives in Lisbon on Friday at nine.",
            hint="Memory: later, in a new conversation, ask “When does my sister arrive?”",
        ),
        Example(
            text="Write a packing list for a weekend in Lisbon.",
            hint="Artifacts: the Analyst makes a document beside the chat, with versions, ready for Word or PDF.",
            assistant="analyst",
        ),
        Example(
            text="What were you given to write this answer?",
            hint="The book: open it below the reply, and compare.",
        ),
    ),
    "analyst": (
        Example(
            text="Write a one-page brief for an app with which a bakery takes orders.",
            hint="It becomes a document beside the chat, with versions, ready for Word or PDF.",
        ),
        Example(
            text="Draw how an order goes from the customer to the oven as a Mermaid diagram.",
            hint="Then ask for a change: the diagram gets a second version, and you can compare both.",
        ),
        Example(
            text="Compare three ways to take payments in a table: cost, effort and risk.",
            hint="Talk it over, then choose a preset below: it makes a whole document of the conversation.",
        ),
    ),
}
"""By the slug of the assistant; else those of ``OTHERS``."""
