"""The pages of the handbook, in their order; each has a text of its name in `pages/`."""

from __future__ import annotations

from app.edge.discovery.facts import Guide

ROOT = "/docs"
_START, _USE, _RUN, _REFERENCE = "Start", "Use", "Run", "Reference"

_PAGES = [
    ("getting-started", "Getting started", "From nothing to the first search, in five minutes.", _START),
    ("connect", "Connect a client", "Claude, ChatGPT, Cursor, Codex and others, step by step.", _START),
    ("plans", "Plans and limits", "What a plan allows, what is counted, and the three refusals.", _START),
    ("dashboard", "The dashboard", "The pages for people, and what each is for.", _USE),
    ("prompts", "Prompts", "Templates with variables, versions and labels.", _USE),
    ("documents", "Documents", "Text and Markdown with every version, from files, web pages and folders.", _USE),
    ("collections", "Collections", "Groups of items, and keys that see one group alone.", _USE),
    ("search", "Search and passages", "By meaning, by word, and step by step through long documents.", _USE),
    ("reason", "Answers with citations", "Questions answered from documents, each statement cited.", _USE),
    ("coordination", "Editing together", "Revisions, safe retries, partial edits and leases.", _USE),
    ("sharing", "Public links", "Show a document or prompt to people without an account.", _USE),
    ("self-hosting", "Self-hosting", "Run it on one machine, on your own Postgres, behind a proxy.", _RUN),
    ("scaling", "Scaling", "What to add when one process is not enough, and what is measured.", _RUN),
    ("security", "Security and privacy", "Who sees what, what leaves the machine, what is recorded.", _RUN),
    ("troubleshooting", "Troubleshooting", "Refusals and what to do about them; the doctor.", _RUN),
    ("api", "API reference", "Every REST operation with its scope, rate and refusals.", _REFERENCE),
    ("tools", "Tool reference", "Every MCP tool with its arguments.", _REFERENCE),
]

GUIDES = [Guide(f"{ROOT}/{name}", title, description, section) for name, title, description, section in _PAGES]
