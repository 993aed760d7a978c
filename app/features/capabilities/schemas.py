"""Arguments of the question what the service offers (contract: beside the 35 operations)."""

from __future__ import annotations

from app.kit.schema import Model


class GetCapabilities(Model):
    """No arguments: the answer is the same for everybody."""
