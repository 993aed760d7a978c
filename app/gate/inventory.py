"""Every operation of the process and its faces: the one source of lists, counts, OpenAPI and the generated tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.gate.operation import Operation


@dataclass(frozen=True, slots=True)
class Inventory:
    """The operations by name, checked at start."""

    operations: dict[str, Operation[Any, Any]]

    @classmethod
    def of(cls, operations: Iterable[Operation[Any, Any]]) -> Inventory:
        """Collect operations; two with one name are a fault of the program."""
        found: dict[str, Operation[Any, Any]] = {}
        for operation in operations:
            if found.setdefault(operation.name, operation) is not operation:
                msg = f"two operations are named {operation.name}"
                raise ValueError(msg)
        return cls(found)
