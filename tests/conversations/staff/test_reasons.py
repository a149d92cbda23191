"""What each reason means is written down for staff, and one click away from where it stands."""

import re

import pytest
from django.conf import settings
from django.urls import reverse

from conversations.context.explain.wording import wording
from conversations.context.reasons import RULES, Reason
from conversations.context.sources import all_sources
from tests.conversations.factories import make_snapshot, make_thread
from tests.conversations.staff.conftest import StaffReader, page_url

SECTIONS = re.split(
    r"^### ", (settings.BASE_DIR / "docs" / "reasons.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)


def test_each_reason_has_a_section_with_an_example_and_a_way_on() -> None:
    told = {section.splitlines()[0]: section for section in SECTIONS[1:]}
    assert sorted(told) == sorted(Reason.values) and set(RULES) == set(Reason)
    assert [code for code, section in told.items() if not ("*Example:*" in section and "*Way on:*" in section)] == []


@pytest.mark.django_db
def test_a_request_leads_to_what_its_reasons_mean(staff: StaffReader) -> None:
    thread = make_thread(turns=[f"Turn {number} of the talk." for number in range(301)])
    page = staff.get(page_url("contextsnapshot", make_snapshot(thread).pk)).content.decode()
    address = f"{reverse('reasons')}#turn_limit"
    assert f'href="{address}"' in page
    guide = staff.get(address).content.decode()
    assert set(re.findall(r'<h3 id="([a-z_]+)"', guide)) == set(Reason.values)


def test_each_reason_has_words_for_the_person() -> None:
    words = wording()
    assert set(words["reasons"]) == set(Reason.values)
    assert {source.name for source in all_sources()} <= words["sections"].keys() & words["sources"].keys()
