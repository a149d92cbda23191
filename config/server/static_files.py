"""Static files as they were collected."""

from collections.abc import Awaitable, Callable, MutableMapping
from os import stat_result
from pathlib import Path
from typing import Any

from servestatic import ServeStaticASGI
from servestatic.utils import decode_path_info, scantree

Message = MutableMapping[str, Any]


class StaticFiles(ServeStaticASGI):  # type: ignore[misc]  # without types
    """What is answered for a file is made when it is asked for first: for all of them it takes a tenth of a second of each
    start. Which files there are is seen at the start."""

    def __init__(self, pages: Any, root: Path, **options: Any) -> None:
        self._root = root
        self._stats: dict[str, stat_result] = {}
        self._unasked: dict[str, str] = {}  # their paths by address
        super().__init__(pages, root, **options)

    def update_files_dictionary(self, root: str, prefix: str) -> None:
        self._stats = dict(scantree(root))
        self._unasked = {prefix + path.removeprefix(root): path for path in self._stats}

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        url = decode_path_info(scope["path"])
        if path := self._unasked.pop(url, ""):
            self.add_file_to_dictionary(url, path, root=self._root, stat_cache=self._stats)
        await super().__call__(scope, receive, send)
