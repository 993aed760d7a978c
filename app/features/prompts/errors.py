"""What can be wrong with a request about a prompt."""

from __future__ import annotations

from app.kit.errors import NotFound


class PromptNotFound(NotFound):
    """Absent, deleted, or another workspace's."""

    def __init__(self) -> None:
        super().__init__("Prompt not found. List or search prompts to find its id.")


class PromptVersionNotFound(NotFound):
    """The prompt has no such version."""

    def __init__(self) -> None:
        super().__init__("Version not found. List the prompt's versions to find its id.")


class PromptRevisionNotFound(NotFound):
    """The prompt has no such revision, or had none by then, or what it said beside its text was not kept."""

    def __init__(self) -> None:
        super().__init__(
            "Revision not found. The prompt has revisions up to its current `revision`; list its versions to see when "
            "each text was made."
        )


class LabelNotFound(NotFound):
    """The prompt has no such label."""

    def __init__(self) -> None:
        super().__init__("Label not found. List the prompt's labels, or leave the label out for the current version.")
