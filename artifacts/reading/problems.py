"""Why a file could not be read, or not to its end."""


class FileProblem(Exception):
    """``code`` is stable; ``message`` is for the person and says what to do.

    Codes: ``unknown_type``, ``empty``, ``encrypted``, ``damaged``, ``too_large`` (a picture, what an archive unpacks to, or
    the text as a whole), ``too_many_parts``, ``too_long`` (time), ``too_much_memory``, ``no_such_page``, ``failed``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


TOO_LONG = "too_long"
"""The code where the time was over."""
TOO_MUCH_MEMORY = "The file takes too much memory to read. Give a smaller one, or a part of it."
