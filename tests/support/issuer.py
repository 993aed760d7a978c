"""A little OpenID Connect issuer over HTTP on loopback: metadata, keys, and a whole sign-in for clients."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jws, jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

SigningKey = RSAKey | ECKey | OKPKey
_KINDS: dict[str, tuple[type[Any], Any]] = {
    "RS256": (RSAKey, 2048),
    "PS256": (RSAKey, 2048),
    "ES256": (ECKey, "P-256"),
    "EdDSA": (OKPKey, "Ed25519"),
}


class LittleIssuer:
    """Signs what it is told to; `hits` counts what it was asked for, `away` makes it answer 503."""

    def __init__(self, port: int, path: str) -> None:
        self.url = f"http://127.0.0.1:{port}{path}"
        self.path = path
        self.away = False
        self.hits: dict[str, int] = {}
        self.keys: list[tuple[str, SigningKey]] = []
        self.metadata: dict[str, Any] = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "grant_types_supported": ["authorization_code"],
        }
        self.place = f"{path}/.well-known/openid-configuration"
        self.more_keys: list[dict[str, Any]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.rotate()

    def rotate(self, algorithm: str = "ES256", *, keep: bool = False) -> str:
        """Sign with a fresh key from now on; the old ones leave the list unless they are kept."""
        kind, size = _KINDS[algorithm]
        key = kind.generate_key(size, {"kid": secrets.token_hex(8), "use": "sig"}, auto_kid=False)
        self.keys = [(algorithm, key), *(self.keys if keep else [])]
        return str(key.kid)

    def token(self, header: dict[str, Any] | None = None, key: SigningKey | None = None, **claims: Any) -> str:
        """Issue an access token; a claim of None is left out."""
        algorithm, own = self.keys[0]
        now = int(time.time())
        said = {
            "iss": self.url,
            "sub": secrets.token_hex(8),
            "exp": now + 300,
            "iat": now,
            "client_id": "little",
            "scope": "documents.write prompts.write workspace.write",
        } | claims
        kept = {name: value for name, value in said.items() if value is not None}
        head = {"alg": algorithm, "kid": own.kid, "typ": "at+jwt"} | (header or {})
        head = {name: value for name, value in head.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[head["alg"]], strict_check_header=False)
        return jwt.encode(head, kept, key or own, registry=registry)

    # -- the wire ---------------------------------------------------------------------------------------------------

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, dict[str, Any] | None, str]:
        """Give status, JSON and `Location` of a request."""
        parts = urlsplit(target)
        self.hits[parts.path] = self.hits.get(parts.path, 0) + 1
        if self.away:
            return 503, {"error": "away"}, ""
        name = parts.path.removeprefix(self.path)
        if parts.path == self.place or name == "/jwks":
            listed = [dict(key.as_dict(private=False)) for _, key in self.keys]
            return 200, {"keys": [*listed, *self.more_keys]} if name == "/jwks" else self.metadata, ""
        if name == "/authorize":
            return self._authorize(dict(parse_qsl(parts.query)))
        if (method, name) == ("POST", "/token"):
            return self._token(dict(parse_qsl(body.decode())))
        if (method, name) == ("POST", "/register"):
            return 201, json.loads(body) | {"client_id": secrets.token_hex(4)}, ""
        return 404, {"error": "not_found"}, ""

    def _authorize(self, asked: dict[str, str]) -> tuple[int, dict[str, Any] | None, str]:
        """Let everybody in as the same person."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        sent = {"code": code, "state": asked["state"], "iss": self.url}
        return 303, None, f"{asked['redirect_uri']}?{urlencode(sent)}"

    def _token(self, sent: dict[str, str]) -> tuple[int, dict[str, Any] | None, str]:
        asked = self.codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or proof != asked["code_challenge"] or sent["client_id"] != asked["client_id"]:
            return 400, {"error": "invalid_grant"}, ""
        said = {"sub": "the-person", "aud": asked["resource"], "scope": asked["scope"], "client_id": asked["client_id"]}
        token = self.token(**said)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 300, "scope": asked["scope"]}, ""


@contextlib.contextmanager
def little_issuer(path: str = "/realm") -> Iterator[LittleIssuer]:
    """Run an issuer inside the block."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, found, location = issuer.answer(self.command, self.path, body)
            text = json.dumps(found).encode() if found is not None else b""
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = _serve  # noqa: N815  the library's names

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = LittleIssuer(server.server_address[1], path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
