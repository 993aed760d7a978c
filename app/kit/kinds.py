"""Which files can be read, by the ending of their name or their media type."""

from __future__ import annotations

from typing import Final

_OPEN = "application/vnd.oasis.opendocument"
_OFFICE = "application/vnd.openxmlformats-officedocument"

MEDIA_TYPES: Final = {
    "pdf": "application/pdf",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "odt": f"{_OPEN}.text",
    "ods": f"{_OPEN}.spreadsheet",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "ipynb": "application/x-ipynb+json",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
}
"""Kinds that are converted."""

_PLAIN = frozenset({"txt", "text", "md", "markdown", "rst", "adoc", "org", "log", "tex", "srt", "vtt"})

_NAMED = """
json yaml toml xml sql css scss java go php swift lua c cpp scala dart r ini proto graphql svelte vue zig nim tsx jsx
bash diff
"""
_OTHER = """
yml:yaml py:python pyi:python js:javascript mjs:javascript ts:typescript rs:rust rb:ruby sh:bash zsh:bash ps1:powershell
h:c hpp:cpp cc:cpp cs:csharp kt:kotlin pl:perl hs:haskell ex:elixir exs:elixir erl:erlang clj:clojure jl:julia tf:hcl
patch:diff jsonl:json ndjson:json cfg:ini conf:ini
"""

LANGUAGES: Final = {name: name for name in _NAMED.split()} | dict(pair.split(":") for pair in _OTHER.split())
"""Kinds that are kept within a fence, and the language it names."""

_BY_MEDIA_TYPE: Final = {
    **{media_type: kind for kind, media_type in MEDIA_TYPES.items() if kind != "htm"},
    "text/plain": "txt",
    "text/markdown": "md",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
}

_TEXT_TYPES: Final = {"md": "text/markdown", "markdown": "text/markdown", "json": "application/json", "xml": "text/xml"}

UNNAMED: Final = "application/octet-stream"
"""What senders write who do not know the media type."""


def kind_of(name: str, media_type: str) -> str | None:
    """Tell what a file is: by its name's ending, else by its media type; None when no reader knows it."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in MEDIA_TYPES or ending in LANGUAGES or ending in _PLAIN:
        return ending
    return _BY_MEDIA_TYPE.get(media_type)


def media_type_of(name: str, sent: str) -> str:
    """Give the media type that was sent with a file, or that of its kind where the sender named none."""
    if sent != UNNAMED:
        return sent
    kind = kind_of(name, sent)
    if kind is None:
        return sent
    return MEDIA_TYPES.get(kind) or _TEXT_TYPES.get(kind, "text/plain")
