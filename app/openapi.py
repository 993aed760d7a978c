"""Write what the API offers to files that are committed, so that each change of it is seen in review."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import features
from app.edge.discovery.protected_resource import protected_resource
from app.edge.mcp.routes import REST
from app.edge.rest.openapi import as_file, document
from app.edge.rest.router import OperationRoute
from app.settings import Settings

if TYPE_CHECKING:
    from app.edge.rest.router import Rest

_URL = "https://api.example.com"


def files() -> dict[str, str]:
    """Build the texts of the files by name; they depend on the code only, never on the machine's settings."""
    settings = Settings.model_construct(public_url=_URL)
    faces: list[Rest] = list(features.collect("rest", "ROUTES"))
    resource = protected_resource(settings, REST)
    routes = [OperationRoute(face, resource=resource, body_limit=settings.max_body_bytes) for face in faces]
    return {
        "v1.json": as_file(document(settings, routes, core_only=True)),
        "full.json": as_file(document(settings, routes, core_only=False)),
        "operations.json": as_file(_operations(faces)),
    }


def _operations(faces: list[Rest]) -> dict[str, Any]:
    """List every operation with its policy and its faces."""
    tools: dict[str, list[str]] = {}
    for tool in features.collect("tools", "TOOLS"):
        if (operation := getattr(tool, "operation", None)) is not None:
            tools.setdefault(operation.name, []).append(tool.name)
    found: dict[str, Any] = {}
    for face in faces:
        operation = face.operation
        entry = found.setdefault(
            operation.name,
            {
                "kind": operation.kind,
                "scopes": list(operation.scopes),
                "rate": operation.rate,
                "feature": operation.feature,
                "planExempt": operation.plan_exempt,
                "raises": sorted({error.reason for error in operation.raises}),
                "rest": [],
                "tools": sorted(set(tools.get(operation.name, []))),
            },
        )
        entry["rest"].append(f"{face.method} {face.path} {face.status}")
    return dict(sorted(found.items()))


def main(folder: Path) -> None:
    """Write the files below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
