"""The presets that Openbook ships with, offered by the Analyst. Staff may change them freely: this runs once."""

from django.db import migrations

RULES = """\

Rules
- The conversation above is your only source. Never invent names, figures, dates, requirements or decisions, and never fill a gap \
with what is usual elsewhere.
- What was corrected or decided later in the conversation replaces what was said before.
- Keep three things apart: what was said, what you assume (under "Assumptions", each with its reason) and what is still open \
(under "Open questions", each with who could answer it, where that is known).
- Where the conversation says nothing about a section, keep the heading and write one line that says so.
- Write everything, headings too, in the language of the conversation, in plain and exact sentences, as Markdown."""

BRD = """\
Write a business requirements document of what this conversation is about.

Structure
1. Summary: the need, for whom, and what changes when it is met, in at most five sentences.
2. Background and problem: what is the case today and why that is not enough.
3. Goals and measures of success: each goal with how one will see that it is reached; say so where no measure was named.
4. Stakeholders: who is concerned, and what each of them needs.
5. Scope: what is included, and what is expressly not.
6. Functional requirements: a table with the columns ID (FR-1, FR-2 …), Requirement, Reason, Priority. One requirement a row, each \
such that one can test whether it is met. Priority only where the conversation tells it, else "not set".
7. Quality requirements: a table of the same form (QR-1 …) for security, speed, accessibility, law and the like, as far as they \
were spoken of.
8. Constraints and dependencies.
9. Risks: each with its effect and what was proposed against it.
10. Assumptions.
11. Open questions."""

USER_STORIES = """\
Write the user stories that follow from this conversation, with acceptance criteria.

Structure
1. Overview: a table with the columns ID (US-1, US-2 …), Story, Role, Priority. Priority only where the conversation tells it, \
else "not set".
2. For each story a section with its ID and a short name as heading:
   - "As a <role>, I want <what>, so that <benefit>." in the language of the conversation. Only roles that occur in it. Where no \
benefit was said, leave it out and ask for it under "Open questions".
   - Acceptance criteria: two to six, each as Given / When / Then, each such that one can test it. Among them the case that goes \
wrong, where the conversation speaks of it.
   - Notes: rules, limits and examples from the conversation that belong to this story.
3. Assumptions.
4. Open questions.

A story is one thing that one role can do and that can be delivered by itself: split what is larger, and put together what says \
the same. Don't write stories about technology unless the conversation asks for that."""

MEETING_SUMMARY = """\
Summarise this conversation as the minutes of a meeting, for somebody who was not there.

Structure
1. In short: what it was about and what came of it, in at most four sentences.
2. Date and participants, as far as they are named.
3. Topics: for each one what was said and, where views differed, who held which.
4. Decisions: each in one sentence, with its reason.
5. Actions: a table with the columns Action, Responsible, Due. "not named" where the conversation names nobody or no day.
6. Assumptions.
7. Open questions.

An idea is no decision and a wish is no action: list only what was agreed on, and leave the rest under its topic."""

DECISION_RECORD = """\
Write a decision record of the most important decision of this conversation. If several were made that hang together, record \
them as one; if none was made yet, record it with the status "proposed" and say in the decision what is missing for it.

Structure
1. Title: the decision in one line.
2. Status: proposed, accepted or replaced, and the date where it is known.
3. Context: the situation, the forces and the limits that made a decision necessary.
4. Options: each one that was considered with what speaks for it and against it, as a table with the columns Option, For, \
Against. Only options that occur in the conversation.
5. Decision: what is decided, in the present tense and the active voice.
6. Reasons: why this option, and why not the others.
7. Consequences: what becomes easier, what becomes harder, what has to be done now and by whom.
8. Assumptions.
9. Open questions: also what would be a reason to decide anew."""

TEST_PLAN = """\
Write a test plan for what this conversation specifies.

Structure
1. Purpose and scope: what is tested, and what expressly is not.
2. Basis: the requirements and rules of the conversation that are tested, each with an ID (R-1, R-2 …).
3. Approach: kinds of tests, environments, test data and roles, as far as they follow from the conversation.
4. Test cases: a table with the columns ID (TC-1, TC-2 …), Requirement, Given, Steps, Expected result, Kind (normal, boundary, \
error). For every requirement at least one case; limits are tested at, just below and just above their value, and every error \
that was spoken of has a case. An expected result is what one can observe, never "works".
5. Coverage: a table with each requirement and its test cases. What can't be tested as it was said stands there with the reason.
6. Entry and exit criteria.
7. Risks.
8. Assumptions.
9. Open questions."""

SHIPPED = [
    ("brd", "Business requirements", "What is needed, why, for whom, and what is still open.", BRD),
    ("user-stories", "User stories", "Stories with acceptance criteria that can be tested.", USER_STORIES),
    ("meeting-summary", "Meeting summary", "Topics, decisions and actions for those who were not there.", MEETING_SUMMARY),
    ("decision-record", "Decision record", "What was decided, why, and what was considered.", DECISION_RECORD),
    ("test-plan", "Test plan", "Test cases for every requirement, with the limits and the errors.", TEST_PLAN),
]


def ship(apps, schema_editor):
    analyst = apps.get_model("conversations", "Assistant").objects.filter(slug="analyst").first()
    for order, (slug, name, description, prompt) in enumerate(SHIPPED, 1):
        preset = apps.get_model("artifacts", "Preset").objects.create(
            slug=slug,
            name=name,
            description=description,
            prompt=prompt + "\n" + RULES,
            kind="document",
            order=order,
        )
        if analyst:
            preset.assistants.add(analyst)


class Migration(migrations.Migration):
    dependencies = [("artifacts", "0001_initial"), ("conversations", "0003_shipped_assistants")]
    operations = [migrations.RunPython(ship, migrations.RunPython.noop)]
