"""Resolves access tokens of the external issuer for the gate (RFC 9068, and what issuers did before it)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from joserfc import jws, jwt
from joserfc.errors import JoseError, UnsupportedAlgorithmError

from app.features.accounts.service import is_address
from app.features.issuer import queries, service
from app.features.issuer.schemas import Bearer
from app.gate.principal import CredentialKind
from app.kit.errors import Unauthenticated

if TYPE_CHECKING:
    from app.features.accounts.service import Principals
    from app.features.issuer.remote import Issuer
    from app.gate.policy import Vocabulary
    from app.gate.principal import Principal
    from app.store.postgres import Database

ALGORITHMS = (
    *("RS256", "RS384", "RS512"),
    *("PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512"),
    *("EdDSA", "Ed25519"),
)
"""Signatures that only the issuer can make: nothing symmetric, and never `none`."""

LEEWAY_SECONDS = 30.0
_TYPES = frozenset({"at+jwt", "application/at+jwt", "jwt"})
_NO_ACCESS_TOKEN = frozenset({"at_hash", "c_hash"})  # OpenID Connect: only in tokens that tell a client who signed in
_MAX_TOKEN = 16 * 1024
_MAX_SUBJECT = 255


class _Registry(jws.JWSRegistry):
    """Our algorithms, room for certificates in the header, and parameters that nobody has to understand."""

    max_header_length = 8 * 1024

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Give one of our algorithms; the library's own look-up warns of names that RFC 9864 replaces."""
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError(name)
        return self.algorithms[name]


_REGISTRY = _Registry()
_UNREADABLE = (JoseError, ValueError, TypeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Trust:
    """What the operator said of the issuer: other audiences that mean this service, names of scopes, who may come."""

    audiences: frozenset[str]
    vocabulary: Vocabulary
    signup: str


class IssuerTokens:
    """The resolver of `Bearer` credentials where another service issues them."""

    def __init__(self, database: Database, principals: Principals, issuer: Issuer, trust: Trust) -> None:
        self._database = database
        self._principals = principals
        self._issuer = issuer
        self._trust = trust

    async def __call__(self, credential: str, resource: str) -> Principal | None:
        """Return the token's principal; None for a token that is not of the issuer, or not of this time.

        Raises:
            Unauthenticated: the token is for another resource; the message names the one to ask for.
            NoAccount: nobody here is who the token names.
            Unavailable: the issuer's keys cannot be read.
        """
        claims = await self._verified(credential)
        bearer = read_claims(claims) if claims is not None and claims.get("iss") == self._issuer.url else None
        if bearer is None:
            return None
        if bearer.audiences.isdisjoint({resource, f"{resource}/", *self._trust.audiences}):
            msg = f"This token is not for this service. Ask the issuer for one with resource={resource}"
            raise Unauthenticated(msg, presented=True)
        row = await queries.find(self._database, self._issuer.url, bearer.subject)
        if not bearer.valid_from - LEEWAY_SECONDS <= row["now"] < bearer.expires_at + LEEWAY_SECONDS:
            return None
        if row["identity_id"] is None:
            await service.admit(self._database, self._issuer.url, bearer, signup=self._trust.signup)
            row = await queries.find(self._database, self._issuer.url, bearer.subject)
        if row["user_id"] is None:
            return None
        grant_id = uuid5(row["identity_id"], bearer.client)
        return self._principals.build(row, CredentialKind.OAUTH, grant_id, self._trust.vocabulary.read(bearer.scopes))

    async def _verified(self, credential: str) -> dict[str, Any] | None:
        """Check the signature; what the header says of keys is only a hint at one of the issuer's."""
        header = _header(credential)
        if header is None:
            return None
        algorithm, kid = header["alg"], header.get("kid")
        for key in await self._issuer.find(kid):
            if key.alg is not None and key.alg != algorithm:
                continue
            try:
                return jwt.decode(credential, key, algorithms=[algorithm], registry=_REGISTRY).claims
            except _UNREADABLE:
                continue
        return None


def _header(credential: str) -> dict[str, Any] | None:
    """Read the header of an access token in the form of a JWT; None for whatever else."""
    if len(credential) > _MAX_TOKEN or not credential.isascii():
        return None
    try:
        header: dict[str, Any] = jws.extract_compact(credential.encode(), registry=_REGISTRY).protected
        _REGISTRY.check_header(header)
    except _UNREADABLE:
        return None
    if header["alg"] not in ALGORITHMS or "crit" in header or "b64" in header:
        return None
    return header if header.get("typ", "jwt").lower() in _TYPES else None


def read_claims(claims: dict[str, Any]) -> Bearer | None:
    """Read the claims; None when one that must be there is missing, or is not what it should be."""
    subject, expires = claims.get("sub"), claims.get("exp")
    starts = [claims.get(name, 0) for name in ("nbf", "iat")]
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT or "\0" in subject:
        return None
    if not all(_is_time(value) for value in (expires, *starts)) or not _NO_ACCESS_TOKEN.isdisjoint(claims):
        return None
    email = _text(claims, "email") if claims.get("email_verified") is True else ""
    return Bearer(
        subject=subject,
        client=_text(claims, "client_id") or _text(claims, "azp"),
        audiences=_words(claims.get("aud"), split=False),
        scopes=_words(claims.get("scope")) | _words(claims.get("scp")),
        expires_at=float(expires or 0),
        valid_from=float(max(starts)),
        email=email if is_address(email) else "",
        name=_text(claims, "name") or _text(claims, "preferred_username"),
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12  # noqa: PLR2004  NaN too


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) and "\0" not in value else ""


def _words(value: object, *, split: bool = True) -> frozenset[str]:
    """Read a claim that is one text (of several words, where they are split) or a list of texts."""
    if isinstance(value, str):
        return frozenset(value.split() if split else [value])
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()
