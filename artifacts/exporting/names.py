"""What the files are called."""

import re
import unicodedata

LONGEST_BYTES = 150
"""File systems allow 255, and a name may get a number and a folder."""

LANGUAGES = """
bash=sh c=c c#=cs c++=cpp cpp=cpp cs=cs csharp=cs css=css csv=csv diff=diff go=go graphql=graphql html=html ini=ini java=java
javascript=js js=js json=json jsx=jsx kotlin=kt latex=tex lua=lua markdown=md md=md mermaid=mmd perl=pl php=php plantuml=puml
powershell=ps1 proto=proto protobuf=proto py=py python=py r=r rb=rb rs=rs ruby=rb rust=rs scala=scala sh=sh shell=sh sql=sql
svg=svg swift=swift terraform=tf toml=toml ts=ts tsx=tsx typescript=ts vue=vue xml=xml yaml=yaml yml=yaml
"""
EXTENSIONS = dict(pair.split("=") for pair in LANGUAGES.split())
MEDIA_TYPES = {
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "csv": "text/csv; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def file_name(title: str, extension: str) -> str:
    """The title as every system takes it, whatever its script, with the extension."""
    stem = safe(title)
    ending = f".{extension}"
    return stem if stem.lower().endswith(ending) and len(stem) > len(ending) else stem + ending


def safe(title: str) -> str:
    """A name for a file or folder: no separators, nothing invisible, not too long."""
    visible = "".join(_visible(letter) for letter in unicodedata.normalize("NFC", title))
    name = re.sub(r"\s+", " ", re.sub(r'[\\/:*?"<>|]+', "-", visible))
    name = name.encode()[:LONGEST_BYTES].decode(errors="ignore").strip(" .-")
    return f"{name}_" if RESERVED.fullmatch(name) else name or "untitled"


def media_type(extension: str) -> str:
    return MEDIA_TYPES.get(extension, "text/plain; charset=utf-8")


def source_extension(kind: str, language: str, is_csv: bool) -> str:
    """What a file with the content as it is ends with."""
    match kind:
        case "code":
            return EXTENSIONS.get(language.strip().lower(), "txt")
        case "table":
            return "csv" if is_csv else "md"
        case "html" | "svg":
            return kind
        case "mermaid":
            return "mmd"
    return "md"


def _visible(letter: str) -> str:
    """Controls and what turns the reading direction around would make a name look like another one."""
    category = unicodedata.category(letter)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    return "" if category in {"Cf", "Cs", "Co", "Cn"} and letter not in "\u200c\u200d" else letter
