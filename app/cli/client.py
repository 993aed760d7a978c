"""Speaks `/v1` for the client commands: address, key, retries that are safe."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from app.cli.output import note
from app.cli.roots import fail
from app.kit.retry_after import retry_after

TRIES = 4
"""How often a service that does not answer is asked."""
TIMEOUT_SECONDS = 60.0
PATIENCE_SECONDS = 180.0
"""How long one request is repeated that the service is too busy for, or that met its rate limit of a minute."""
BUSY = frozenset({429, 503})
_PAUSE_SECONDS = 1.0
_USAGE = 2
_NO_FILE = "there is no {path}: set DATA_DIR to the folder that the service was started with"


class RefusedError(Exception):
    """The service refused a request; `reason` is its word, `message` its sentence."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Target:
    """Which service to talk to, and with which key."""

    url: str
    api_key: str


def find_target() -> Target:
    """Take `CTX_URL` and `CTX_API_KEY`, else what the first start wrote to `DATA_DIR/cli.json`; else exit 2.

    The saved key is sent to the saved address only.
    """
    url, key = _named()
    saved = _saved()
    if key:
        url = url or saved.url
    elif url in {"", saved.url}:
        url, key = saved.url, saved.api_key
    if not url or not key:
        fail(_lacking(url, key, saved), _USAGE)
    if not url.startswith(("http://", "https://")):
        fail(f"CTX_URL is {url}; it must begin with http:// or https://", _USAGE)
    return Target(url, key)


def _lacking(url: str, key: str, saved: Target) -> str:
    if key:
        return "CTX_API_KEY is set without CTX_URL; set both"
    if url and saved.url:
        return f"CTX_URL is {url}, and the key in {_file()} is for {saved.url}; set CTX_API_KEY too"
    if url:
        return "CTX_URL is set without CTX_API_KEY; set both"
    return f"{_NO_FILE.format(path=_file())}, or set CTX_URL and CTX_API_KEY"


def find_url() -> str:
    """Take `CTX_URL`, else what the first start wrote to `DATA_DIR/cli.json`, for what needs no key; else exit 2."""
    url = _named()[0] or _saved().url
    if not url:
        fail(f"{_NO_FILE.format(path=_file())}, set CTX_URL, or name the service's address", _USAGE)
    return url


def find_key(url: str) -> str:
    """Take the key that belongs to an address, from `CTX_API_KEY` or `DATA_DIR/cli.json`; else ''. No other sees it."""
    named, key = _named()
    saved = _saved()
    if key and (named or saved.url) == url:
        return key
    return saved.api_key if saved.url == url else ""


def _named() -> tuple[str, str]:
    """Read the address and the key of the environment; exit 2 where no header can carry the key."""
    key = os.environ.get("CTX_API_KEY", "").strip()
    if not _fits_header(key):
        fail("CTX_API_KEY holds characters that no key has; copy the key again", _USAGE)
    return os.environ.get("CTX_URL", "").rstrip("/"), key


def _file() -> Path:
    return Path(os.environ.get("DATA_DIR", ".data")) / "cli.json"


def _saved() -> Target:
    """Read what the first start wrote; empty texts where it wrote nothing; exit 2 where it cannot be read."""
    path = _file()
    try:
        saved = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        target = Target(saved.get("url", "").rstrip("/"), saved.get("apiKey", "").strip())
    except (OSError, ValueError, AttributeError):
        target = None
    if target is None or not _fits_header(target.api_key):
        fail(
            f"{path} is damaged: write its url and apiKey anew, or move it away and set CTX_URL and CTX_API_KEY", _USAGE
        )
    return target


def _fits_header(key: str) -> bool:
    return key.isascii() and key.isprintable()


class Client:
    """A connection to `/v1`; a write is sent with an idempotency key, so that trying again is safe.

    Where the service asks to come back later, this does, and says so.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._http = httpx2.Client(
            base_url=target.url, headers={"Authorization": f"API-Key {target.api_key}"}, timeout=TIMEOUT_SECONDS
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Read.

        Raises:
            RefusedError: the service answered with an error, or does not answer.
        """
        return self._call("GET", path, params=query)

    def send(self, method: str, path: str, body: dict[str, Any], key: str) -> dict[str, Any]:
        """Write with an idempotency key.

        Raises:
            RefusedError: the service answered with an error, or does not answer.
        """
        return self._call(method, path, json=body, headers={"Idempotency-Key": key})

    def upload(self, path: str, file: Path, fields: dict[str, str], key: str) -> dict[str, Any]:
        """Send a file in a form, with an idempotency key.

        Raises:
            RefusedError: the service answered with an error, or does not answer.
            OSError: the file cannot be read.
        """
        with file.open("rb") as content:  # each attempt reads it from its beginning
            sent = {"file": (file.name, content)}
            return self._call("POST", path, files=sent, data=fields, headers={"Idempotency-Key": key})

    def download(self, path: str, target: Path) -> None:
        """Write what is read to a file, whole and on the disk.

        Raises:
            RefusedError: the service answered with an error, does not answer, or broke off.
        """
        for attempt in range(TRIES):
            try:
                self._fetch(path, target)
            except httpx2.TransportError as error:
                if attempt == TRIES - 1:
                    raise self._unreachable(error) from error
                time.sleep(0.2 * 2**attempt)
            else:
                return

    def _fetch(self, path: str, target: Path) -> None:
        with self._http.stream("GET", path) as response, target.open("wb") as file:
            if not response.is_success:
                response.read()
                raise _refusal(response)
            for chunk in response.iter_bytes():
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())

    def _unreachable(self, error: Exception) -> RefusedError:
        message = f"{self.target.url} does not answer ({type(error).__name__}); is the service running?"
        return RefusedError(0, "UNREACHABLE", message)

    def _call(self, method: str, path: str, **parts: Any) -> dict[str, Any]:
        response = self._patiently(method, path, **parts)
        if response.is_success:
            answer: dict[str, Any] = response.json() if response.content else {}
            return answer
        raise _refusal(response)

    def _patiently(self, method: str, path: str, **parts: Any) -> httpx2.Response:
        """Repeat a request that met a rate limit, a restart or a broken connection."""
        attempts, waited = 0, 0.0
        while True:
            try:
                response = self._http.request(method, path, **parts)
            except httpx2.TransportError as error:
                attempts += 1
                if attempts == TRIES:
                    raise self._unreachable(error) from error
                time.sleep(0.2 * 2**attempts)
                continue
            pause = _pause(response)
            if pause is None or waited + pause > PATIENCE_SECONDS:
                return response
            note(f"The service asks to wait; going on in {max(1, round(pause))} s.")
            time.sleep(pause)
            waited += pause


def _pause(response: httpx2.Response) -> float | None:
    """Tell how many seconds to wait before asking again, as the answer says; None: it is final."""
    if response.status_code not in BUSY:
        return None
    return max(retry_after(response.headers), _PAUSE_SECONDS)


def _refusal(response: httpx2.Response) -> RefusedError:
    try:
        error = response.json()["error"]
        return RefusedError(response.status_code, str(error["reason"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return RefusedError(response.status_code, "UNEXPECTED", f"HTTP {response.status_code} from the service")
