"""Which rule wins, as a table and for any rules; the rows that a query gives each rule are the ones that the table says."""

import uuid
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from conversations.holds import actions
from conversations.holds.actions import HoldSubject
from conversations.models import Feedback, File, Project, RetentionRule, Thread
from conversations.runtime.ids import lowest_uuid7
from conversations.threads import projects
from conversations.upkeep import retention
from conversations.upkeep.retention_rules import Rule, in_order, winner
from conversations.upkeep.retention_scope import COLUMNS, scopes
from tests.conversations.factories import make_file, make_thread, make_user

DAY = timedelta(days=1)


def id_at(at: datetime) -> uuid.UUID:
    """An id that was made then."""
    return uuid.UUID(int=lowest_uuid7(at).int + (uuid.uuid4().int & (1 << 60) - 1))


P, Q = uuid.UUID(int=1), uuid.UUID(int=2)
SETTING, ROW = Rule(days=400), Rule(id=1, days=300)
SHORT, LONG, GOOD = Rule(id=2, days=30, group=7), Rule(id=3, days=90, group=8), Rule(id=4, days=0, group=9)
OF_P = Rule(id=5, days=1_000, project=P)
ALL = [SETTING, ROW, GOOD, LONG, SHORT, OF_P]


@pytest.mark.parametrize(
    ("rules", "groups", "project", "expected"),
    [
        pytest.param([SETTING], {7}, P, SETTING, id="nothing but the setting"),
        pytest.param([SETTING, ROW], set(), None, ROW, id="a row in place of the setting"),
        pytest.param(ALL, {1}, Q, ROW, id="a group and a project without a rule"),
        pytest.param(ALL, {8}, None, LONG, id="the group before the installation"),
        pytest.param(ALL, {8, 7}, None, SHORT, id="of several groups the shortest"),
        pytest.param(ALL, {8, 9}, None, LONG, id="for good is the longest"),
        pytest.param(ALL, {9}, Q, GOOD, id="a group may keep for good"),
        pytest.param(ALL, {7, 8, 9}, P, OF_P, id="the project before all, though it is longer"),
    ],
)
def test_the_narrowest_rule_wins(
    rules: list[Rule], groups: set[int], project: uuid.UUID | None, expected: Rule
) -> None:
    assert winner(rules, groups=groups, project=project) == expected
    assert winner(reversed(rules), groups=groups, project=project) == expected, "in whichever order they are stored"


GROUPS, PROJECTS = [1_001, 1_002, 1_003], [uuid.UUID(int=number) for number in (11, 12)]
ids = st.integers(1, 1_000)
rules = st.lists(
    st.one_of(
        st.builds(Rule, id=ids, days=st.integers(0, 5), group=st.sampled_from(GROUPS)),
        st.builds(Rule, id=ids, days=st.integers(0, 5), project=st.sampled_from(PROJECTS)),
        st.builds(Rule, id=ids, days=st.integers(0, 5)),
    ),
    max_size=6,
    unique_by=lambda rule: (rule.group, rule.project),
)


@given(rules=rules, groups=st.sets(st.sampled_from(GROUPS)), project=st.sampled_from([None, *PROJECTS]))
def test_more_rules_never_loosen_a_promise(rules: list[Rule], groups: set[int], project: uuid.UUID | None) -> None:
    every = [SETTING, *rules]
    won = winner(every, groups=groups, project=project)
    assert won.applies(groups=groups, project=project)
    same = [each for each in every if each.group and each.group in groups]
    if won.group:
        assert (won.days or 10**6) == min(each.days or 10**6 for each in same)
    assert winner([won, SETTING], groups=groups, project=project) == won
    assert {*in_order(every)} == {*every}


@pytest.fixture
def people(db: None) -> list[Thread]:
    """A thread for every choice of groups and of a project."""
    for number in GROUPS:
        Group.objects.create(pk=number, name=f"group {number}")
    threads = []
    for choice in range(8):
        user = make_user()
        user.groups.set([number for number in GROUPS if choice >> (number - GROUPS[0]) & 1])
        threads += [make_thread(user), make_thread(user)]
        if choice < len(PROJECTS):
            now = timezone.now()
            Project.objects.create(id=PROJECTS[choice], user=user, name="p", created_at=now, updated_at=now)
            Thread.objects.filter(id=threads[-1].id).update(project=PROJECTS[choice])
    return threads


@pytest.mark.django_db
def test_each_row_is_in_the_scope_of_the_rule_that_wins(people: list[Thread]) -> None:
    owned = {
        thread.id: ({*thread.user.groups.values_list("pk", flat=True)}, thread.project_id)
        for thread in Thread.objects.select_related("user")
    }

    @settings(max_examples=25, deadline=None, suppress_health_check=[*HealthCheck])
    @given(rules=rules)
    def agree(rules: list[Rule]) -> None:
        every = [SETTING, *rules]
        decided = [
            (id, scope.rule)
            for scope in scopes("threads", every)
            for id in Thread.objects.filter(scope.rows).values_list("id", flat=True)
        ]
        assert dict(decided) == {id: winner(every, groups=g, project=p) for id, (g, p) in owned.items()}
        assert len(decided) == len(owned)

    agree()
    assert {*COLUMNS} == {"threads", "snapshots", "files", "feedback"}


@pytest.mark.django_db
def test_rules_delete_what_is_old_but_for_pins_and_holds(user: User, settings: Settings) -> None:
    settings.OPENBOOK_THREAD_DAYS, settings.OPENBOOK_FILE_DAYS = 400, 50
    interns = Group.objects.create(name="Interns")
    RetentionRule.objects.create(kind="threads", group=interns, days=30)
    intern, held = make_user("intern"), make_user("held")
    for each in (intern, held):
        each.groups.add(interns)
    project = projects.create(intern, name="Long")
    RetentionRule.objects.create(kind="threads", project=project, days=0)
    threads = {name: make_thread(of, ["Hello?"]) for name, of in (
        ("staff", user), ("intern", intern), ("pinned", intern), ("project", intern), ("held", held), ("new", intern),
    )}  # fmt: skip
    old = timezone.now() - 60 * DAY
    Thread.objects.exclude(id=threads["new"].id).update(updated_at=old)
    Thread.objects.filter(id=threads["pinned"].id).update(pinned=True)
    Thread.objects.filter(id=threads["project"].id).update(project=project)
    files = {name: make_file(thread.user, b"words", thread=thread, id=id_at(old)) for name, thread in threads.items()}
    hold = actions.begin(HoldSubject(user=held), reason="A lawsuit", by="root")
    retention.apply()
    assert {name for name, thread in threads.items() if Thread.objects.filter(id=thread.id).exists()} == {*threads} - {
        "intern"
    }
    stayed = {name for name, file in files.items() if File.objects.filter(id=file.id).exists()}
    assert stayed == {"pinned", "held"}, "a pinned thread keeps what is in it"
    actions.end(hold, by="root")
    retention.apply()
    assert not Thread.objects.filter(user=held).exists()
    assert not Feedback.objects.exists()
