"""What servers answer, within what a model may be given. Pure."""

from conversations.context.tokens.estimate import estimate_tokens

CUT = "\n[… cut here by Openbook: the whole answer takes about {tokens:,} tokens]"


def within(text: str, tokens: int) -> str:
    """As much of its beginning as so many estimated tokens hold, with a mark where it is cut."""
    whole = estimate_tokens(text)
    if whole <= tokens:
        return text
    size = len(text) * tokens // whole
    while estimate_tokens(text[:size]) > tokens:
        size = size * 9 // 10
    return text[:size] + CUT.format(tokens=whole)
