"""Staff can look up what each reason means."""

import re
from pathlib import Path

from django.conf import settings

from conversations.context.reasons import RULES, Reason

GUIDE = Path(settings.BASE_DIR) / "docs" / "reasons.md"


def test_every_reason_has_its_section_in_the_guide_and_its_rule() -> None:
    sections = re.findall(r"^### (\w+)\n(?!\n|#)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(sections) == sorted(Reason.values)
    assert set(RULES) == set(Reason)
