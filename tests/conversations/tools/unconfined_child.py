"""The process that runs a program, on a system that can't filter its calls."""

from conversations.runtime import confinement
from conversations.runtime.program_child import main


def cut_off(*, becomes_another: bool = False) -> bool:
    return False


confinement.cut_off = cut_off

if __name__ == "__main__":
    main()
