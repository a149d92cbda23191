"""``make own-facts``: learns the weights of ``memory/consolidation/own_facts.py`` from the made messages, and writes them.

The same messages and the same versions of the packages give the same weights. What is kept aside plays no part.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from memory.consolidation import own_facts
from tests.made_messages import LEARN, MadeMessage, messages

LEAST_OFTEN = 4
"""Parts that a feature is in, of those that are learnt from."""
LEAST_WEIGHT = 0.1
"""What weighs less is left out: half of the features, for about a point in a hundred."""
STRENGTH = 0.5
"""How far the weights may go to fit the messages (the inverse of the penalty)."""


def examples(some: Iterable[MadeMessage]) -> Iterator[tuple[Mapping[str, float], bool]]:
    """The features of each part of which it is known whether it tells a fact of who writes.

    Beside the part that holds the value of a fact, others of its message may tell one too, unless they ask.
    """
    for message in some:
        for part in own_facts.parts(message.text):
            text = message.text[part.start : part.end].casefold()
            tells = message.is_own and any(value in text for value in message.values)
            if tells or not message.is_own or "?" in text:
                yield own_facts.features(message.text, part), tells


def learnt(some: Iterable[MadeMessage]) -> dict[str, float]:
    """Weights by feature; that of no name is what each part begins with."""
    known = list(examples(some))
    counts = Counter(feature for features, _ in known for feature in features)
    numbers = {feature: n for n, feature in enumerate(sorted(f for f, count in counts.items() if count >= LEAST_OFTEN))}
    names = list(numbers)
    columns = [sorted(numbers[feature] for feature in features if feature in numbers) for features, _ in known]
    starts = [0]
    for row in columns:
        starts.append(starts[-1] + len(row))
    places = [number for row in columns for number in row]
    values = [features[names[number]] for row, (features, _) in zip(columns, known, strict=True) for number in row]
    matrix = csr_matrix((values, places, starts), shape=(len(known), len(numbers)))
    model = LogisticRegression(C=STRENGTH, max_iter=2_000).fit(matrix, [tells for _, tells in known])
    weights = dict(zip(numbers, model.coef_[0].tolist(), strict=True))
    return {"": float(model.intercept_[0])} | {
        f: weight for f, weight in weights.items() if abs(weight) >= LEAST_WEIGHT
    }


def write(weights: Mapping[str, float]) -> None:
    lines = (f"{feature}\t{round(100 * weights[feature])}\n" for feature in sorted(weights))
    own_facts.WEIGHTS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    weights = learnt(messages(LEARN))
    write(weights)
    sys.stdout.write(f"{len(weights)} weights in {own_facts.WEIGHTS}\n")
