"""Systems that can be asked, by name."""

from collections.abc import Callable, Mapping

from conformance.adapters.letta import Letta
from conformance.adapters.mem0 import Mem0
from conformance.adapters.memory_tool import MemoryTool
from conformance.adapters.openbook import Openbook
from conformance.adapters.options import Options
from conformance.memory import ChatMemory

__all__ = ["ADAPTERS", "Options"]

ADAPTERS: Mapping[str, Callable[[Options], ChatMemory]] = {
    "letta": Letta,
    "mem0": Mem0,
    "memory-tool": MemoryTool,
    "openbook": Openbook,
}
