"""The sample texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

TAG: Final = "sample-data"
"""What tells sample data from everything else."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A document or a prompt, with the texts that it had before."""

    title: str
    content: str
    tags: list[str] = field(default_factory=list)
    description: str = ""
    earlier: str = ""
    change_log: str = ""


COLLECTION: Final = {
    "name": "Sample: release of the reading app",
    "description": "What a small team keeps for its agents: how it releases, what it decided, whom it serves.",
    "icon": "\N{CLOSED BOOK}",
    "color": "#2f5d50",
    "tags": [TAG],
}

DOCUMENTS: Final = [
    Sample(
        "Sample: release runbook",
        """# Release runbook

Releases leave on Tuesdays. Whoever is on duty follows the list; an agent may do steps 1 to 4.

## Before

1. Every check on the main branch is green.
2. The changelog names each visible change.
3. The version is raised by one.
4. The translation files are complete.

## Release

| step | who | how long |
|---|---|---|
| tag and build | on duty | 10 minutes |
| send to 5 % of readers | on duty | 2 hours |
| send to everybody | on duty | a day |

## If something breaks

Stop the rollout first, then look. A release is taken back by sending the build before it.
""",
        tags=[TAG, "runbook"],
        earlier="""# Release runbook

Releases leave on Thursdays. Whoever is on duty follows the list.

## Before

1. Every check on the main branch is green.
2. The changelog names each visible change.

## Release

| step | who | how long |
|---|---|---|
| tag and build | on duty | 10 minutes |
| send to everybody | on duty | a day |

## If something breaks

Stop the rollout first, then look.
""",
        change_log="Tuesdays, and a small group of readers first",
    ),
    Sample(
        "Sample: decision about offline reading",
        """# Decision: books are kept on the phone

**Decided** in March. Readers on trains lose their connection, and pages that do not open are what they complain about
most.

- A book that is opened is kept whole, up to 2 GB for all books together.
- The book that was not opened for the longest time goes first.
- Notes are written to the phone and sent later. Two notes on one sentence are both kept.

We did not choose to keep single chapters: readers jump back and forth more than we thought.
""",
        tags=[TAG, "decision"],
    ),
    Sample(
        "Sample: what readers said in spring",
        """# What readers said in spring

Forty talks of half an hour. Quotes are shortened.

> I read in the evening, and white pages are too bright.

Most read between nine and eleven in the evening. Thirty of forty read in dark mode; six did not know that there is one.

> Where did my notes go when I changed phones?

Notes matter more than we believed: a reader with notes stays twice as long. Five lost some when they changed phones.
""",
        tags=[TAG, "research"],
    ),
]

PROMPTS: Final = [
    Sample(
        "Sample: notes for a release",
        "Write the notes for release ${version} of the reading app, for ${audience}.\n\n"
        "Take the changes from the changelog and say of each what the reader can do now. At most ${lines} lines, no "
        "superlatives.\n",
        tags=[TAG],
        description="Turns a changelog into notes that readers understand.",
    ),
    Sample(
        "Sample: answer a reader",
        "A reader wrote:\n\n${message}\n\nAnswer in the language of the message. Look into the documents of the "
        "collection first, cite what you use, and say so when nothing there answers it.\n",
        tags=[TAG],
        description="Answers from what is stored, and says when nothing is.",
    ),
]
