"""REST faces of prompts."""

from __future__ import annotations

from app.edge.rest.router import Rest
from app.features.prompts import operations

_LABEL = "/v1/prompts/{promptId}/labels/{label}"

ROUTES = [
    Rest("GET", "/v1/prompts", operations.list_prompts),
    Rest(
        "POST",
        "/v1/prompts",
        operations.create_prompt,
        status=201,
        location=lambda result: f"/v1/prompts/{result.data.id}",
    ),
    Rest("GET", "/v1/prompts/{promptId}", operations.get_prompt),
    Rest("PATCH", "/v1/prompts/{promptId}", operations.update_prompt),
    Rest("DELETE", "/v1/prompts/{promptId}", operations.delete_prompt, status=204),
    Rest("GET", "/v1/prompts/{promptId}/versions", operations.list_prompt_versions),
    Rest("POST", "/v1/prompts/{promptId}/restore", operations.restore_prompt_version),
    Rest("GET", "/v1/prompts/{promptId}/labels", operations.list_labels, core=False),
    Rest("PUT", _LABEL, operations.set_label, core=False),
    Rest("DELETE", _LABEL, operations.remove_label, status=204, core=False),
]
