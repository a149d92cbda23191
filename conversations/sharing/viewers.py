"""Whether a request for a shared page is somebody who reads it. Told by what the request says of itself: nobody is given a
cookie, and no address is kept, so that a page which is opened twice was viewed twice."""

import re
from collections.abc import Mapping

MACHINE = re.compile(
    r"bot\b|bot[/;]|crawl|spider|slurp|preview|embed|fetch|scan|monitor|validator|archive|facebookexternal|whatsapp|"
    r"telegram|skype|discord|slack|pinterest|headless|python|curl|wget|http-?client|okhttp|axios|java/|go-http|libwww",
    re.IGNORECASE,
)
"""Those that open links to show a preview of them, to index or to check them."""


def is_reader(headers: Mapping[str, str]) -> bool:
    """A browser that opens the page itself. Browsers send ``Sec-Fetch-Dest`` where the address is safe; older ones never do."""
    agent = headers.get("User-Agent", "")
    ahead = headers.get("Sec-Purpose", "") + headers.get("Purpose", "") + headers.get("X-Moz", "")
    return (
        agent.startswith("Mozilla/")
        and not MACHINE.search(agent)
        and not ahead
        and headers.get("Sec-Fetch-Dest", "document") == "document"
    )
