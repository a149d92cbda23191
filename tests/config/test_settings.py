"""What the settings make of the environment, each time in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHOW = "from config import settings; print(settings.OPENBOOK_PROVIDER)"


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, "offline"),
        ({"OPENAI_API_KEY": "sk-1"}, "openai"),
        ({"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "openai"),
        ({"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"}, "anthropic"),
        ({"OPENAI_API_KEY": "sk-1", "OPENBOOK_PROVIDER": "offline"}, "offline"),
    ],
)
def test_the_provider_is_chosen_by_the_key_that_is_there(environment: dict[str, str], provider: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "OPENBOOK_PROVIDER"}
    values = {**inherited, "SECRET_KEY": "tests", **environment}
    done = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=ROOT, env=values, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [provider]
