"""What support staff see of artifacts and presets, found here by Django's admin."""

from artifacts.staff.artifacts import ArtifactAdmin, PresetAdmin

__all__ = [
    "ArtifactAdmin",
    "PresetAdmin",
]
