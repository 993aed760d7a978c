"""Calls of a model behind HTTP: JSON out, a bounded body back, and each failure said in the same words.

What is sent and what an answer means is the caller's; how often it is asked, and for how long, `patiently` decides.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

import httpx2

from app.kit.retry_after import retry_after
from app.store.patience import CallFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger(__name__)

_OK: Final = 200
_REFUSED: Final = (400, 422)
"""What endpoints answer to a request that has a field they do not know."""

_TOO_MANY: Final = 429
_SERVER: Final = 500


class ModelClient:
    """Posts JSON to one model's endpoint, with its key."""

    def __init__(self, name: str, url: str, key: str, *, seconds: float, most: int) -> None:
        """`name` is what logs call the model, `most` how many bytes its answer may have."""
        self._name = name
        self._url = url.rstrip("/")
        self._most = most
        self._renamed = False
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(headers=headers, timeout=seconds)

    async def post(self, path: str, sent: Mapping[str, Any]) -> bytes:
        """Give the body of the answer.

        Raises:
            CallFailed: it is away, answers with another status than 200, or with too much.
        """
        try:
            async with self._client.stream("POST", f"{self._url}{path}", json=sent) as answer:
                body = bytearray()
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > self._most:
                        raise CallFailed("its answer is too large")
        except httpx2.HTTPError as error:
            log.warning("%s cannot be reached (%s)", self._name, type(error).__name__)
            raise CallFailed("it cannot be reached", again=True) from error
        status = answer.status_code
        if status != _OK:
            log.warning("%s answered with status %d", self._name, status)
            raise CallFailed(
                f"it answered with status {status}",
                again=status == _TOO_MANY or status >= _SERVER,
                after=retry_after(answer.headers),
                refusal=bytes(body) if status in _REFUSED else b"",
            )
        return bytes(body)

    async def post_either(self, path: str, sent: Mapping[str, Any], names: tuple[str, str], value: Any) -> bytes:
        """Post with one more field that endpoints know by one of two names: the second, once a refusal speaks of it.

        Raises:
            CallFailed: as `post` does.
        """
        if not self._renamed:
            try:
                return await self.post(path, {**sent, names[0]: value})
            except CallFailed as error:
                if not any(name.encode() in error.refusal for name in names):
                    raise
        body = await self.post(path, {**sent, names[1]: value})
        self._renamed = True
        return body

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
