"""JSON-RPC at the edge: reading one message out of a body, and refusals as well-formed error responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pydantic_core

from app.edge import errors

if TYPE_CHECKING:
    from app.edge.asgi import Headers
    from app.edge.discovery.protected_resource import ProtectedResource
    from app.kit.errors import AppError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REFUSED = -32001
"""Of the range that JSON-RPC leaves to servers and MCP does not reserve."""

ADDED_HEADERS = "contextrepo.headers"
"""Key of the ASGI scope under which handlers leave response headers: the SDK gives them no other way."""

CREDENTIAL = "contextrepo.credential"
"""Key of the ASGI scope under which the guard leaves the credential for the handlers."""

RequestId: TypeAlias = int | str | None


class Refused(Exception):
    """A request that is answered before any handler: an HTTP status with a JSON-RPC error."""

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        *,
        data: Any = None,
        headers: Headers | None = None,
        message_id: RequestId = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message_id = message_id
        self.error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data
        self.headers: Headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        self.headers.extend(headers or [])

    @classmethod
    def by(cls, error: AppError, request_id: str, resource: ProtectedResource, code: int = REFUSED) -> Refused:
        """Carry a refusal of ours: its status, its headers and its REST error object as `data`."""
        data = errors.error_object(error, request_id)
        headers = errors.error_headers(error, resource)
        return cls(errors.status_of(error), code, error.message, data=data, headers=headers)

    def body(self) -> bytes:
        """Serialize the error response; its id is null as long as none could be read."""
        return pydantic_core.to_json({"jsonrpc": "2.0", "id": self.message_id, "error": self.error})


@dataclass(frozen=True, slots=True)
class Message:
    """What the guard needs to know of a message; the rest is judged by the SDK."""

    raw: dict[str, Any]
    id: RequestId
    method: str
    params: dict[str, Any]

    @classmethod
    def read(cls, body: bytes) -> Message:
        """Decode a body.

        Raises:
            Refused: no JSON (also: nested too deeply, not encodable), or not one message.
        """
        try:
            raw = pydantic_core.from_json(body, allow_inf_nan=False)
        except ValueError as error:
            raise Refused(400, PARSE_ERROR, f"The body is not valid JSON: {str(error)[:200]}") from error
        if isinstance(raw, list):
            raise Refused(400, INVALID_REQUEST, "Batches are not supported; send one JSON-RPC message per POST.")
        if not isinstance(raw, dict) or raw.get("jsonrpc") != "2.0":
            raise Refused(400, INVALID_REQUEST, 'The body must be one JSON-RPC message with `"jsonrpc":"2.0"`.')
        message_id = raw.get("id")
        if "id" in raw and (not isinstance(message_id, int | str) or isinstance(message_id, bool)):
            raise Refused(400, INVALID_REQUEST, "`id` must be a text or an integer.")
        method = raw.get("method", "")
        if not isinstance(method, str) or not ("method" in raw or "result" in raw or "error" in raw):
            raise Refused(400, INVALID_REQUEST, "`method` must be a text.", message_id=message_id)
        params = raw.get("params", {})
        if not isinstance(params, dict):
            raise Refused(400, INVALID_PARAMS, "`params` must be an object.", message_id=message_id)
        return cls(raw, message_id, method, params)

    def text(self, name: str) -> str | None:
        """Give a parameter that is a text."""
        value = self.params.get(name)
        return value if isinstance(value, str) else None
