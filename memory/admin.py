"""What support staff see of what is remembered, found here by Django's admin."""

from memory.staff.consolidation import ConsolidationAdmin
from memory.staff.memories import DailySummaryAdmin, MemoryAdmin, ThreadSummaryAdmin, TopicAdmin

__all__ = [
    "ConsolidationAdmin",
    "DailySummaryAdmin",
    "MemoryAdmin",
    "ThreadSummaryAdmin",
    "TopicAdmin",
]
