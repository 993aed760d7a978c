"""SQL of the authorization server, run inside the synchronous library on the transaction of the request.

Expiry is judged by the database's clock, and a condition stands in the write that depends on it: a code or a refresh
token is claimed by `UPDATE … WHERE`, which waits for a racing claim and then sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pydantic_core
from sqlalchemy import text

from app.features.oauth.schemas import Approval, ClientRow, Consent, DeviceRow, Lineage, TokenRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from sqlalchemy import Connection, RowMapping

GRACE_SECONDS = 10
"""Clients race their own refreshes: within this time a used refresh token gives a fresh pair once more."""

UNUSED_CLIENT_DAYS = 30

_CLIENT = text("""
SELECT client_id, kind, metadata::text AS metadata, secret_hash, registration_hash, created_at,
       coalesce(expires_at > clock_timestamp(), true) AS fresh
  FROM oauth_clients WHERE client_id = :client_id
""")

_INSERT_CLIENT = text("""
INSERT INTO oauth_clients (client_id, kind, metadata, secret_hash, registration_hash, expires_at)
VALUES (:client_id, 'registered', CAST(:metadata AS jsonb), :secret_hash, :registration_hash,
        clock_timestamp() + make_interval(days => :days))
""")

_UPDATE_CLIENT = text(
    "UPDATE oauth_clients SET metadata = CAST(:metadata AS jsonb) WHERE client_id = :client_id AND kind = 'registered'"
)

_DELETE_CLIENT = text("DELETE FROM oauth_clients WHERE client_id = :client_id AND kind = 'registered'")

_REVOKE_CLIENT_GRANTS = text(
    "UPDATE oauth_grants SET revoked_at = clock_timestamp() WHERE client_id = :client_id AND revoked_at IS NULL"
)

# A client that has tokens lives as long as they may, and a while longer.
_TOUCH_CLIENT = text("""
UPDATE oauth_clients
   SET last_used_at = clock_timestamp(),
       expires_at = clock_timestamp() + make_interval(days => :days, secs => :seconds)
 WHERE client_id = :client_id AND kind = 'registered'
""")

_INSERT_GRANT = text("""
INSERT INTO oauth_grants (id, user_id, workspace_id, client_id, client_name, resource, answers_to, scopes)
SELECT :id, m.user_id, m.workspace_id, :client_id, :client_name, :resource, :answers_to, :scopes
  FROM memberships m WHERE m.user_id = :user_id AND m.workspace_id = :workspace_id
RETURNING id
""")

_INSERT_CODE = text("""
INSERT INTO oauth_codes (code_hash, grant_id, family_id, client_id, redirect_uri, code_challenge, resource, scopes,
                         expires_at)
VALUES (:code_hash, :grant_id, :family_id, :client_id, :redirect_uri, :code_challenge, :resource, :scopes,
        clock_timestamp() + make_interval(secs => :seconds))
""")

# The membership is joined, so that a member who left gets no token.
_CODE = text("""
SELECT c.grant_id, c.family_id, c.client_id, c.resource, c.scopes, c.redirect_uri, c.code_challenge, p.user_id, p.role,
       c.used_at IS NOT NULL AS used,
       c.expires_at > clock_timestamp() AND g.revoked_at IS NULL AS live
  FROM oauth_codes c
  JOIN oauth_grants g ON g.id = c.grant_id
  JOIN principals p ON p.workspace_id = g.workspace_id AND p.user_id = g.user_id
 WHERE c.code_hash = :code_hash AND c.client_id = :client_id
""")

_CLAIM_CODE = text("""
UPDATE oauth_codes SET used_at = clock_timestamp()
 WHERE code_hash = :code_hash AND used_at IS NULL AND expires_at > clock_timestamp()
RETURNING grant_id
""")

_REFRESH = text("""
SELECT t.grant_id, t.family_id, t.client_id, t.resource, t.scopes, p.user_id, p.role,
       coalesce(t.used_at < clock_timestamp() - make_interval(secs => :grace), false) AS used,
       t.expires_at > clock_timestamp() AND t.revoked_at IS NULL AND g.revoked_at IS NULL AS live
  FROM oauth_tokens t
  JOIN oauth_grants g ON g.id = t.grant_id
  JOIN principals p ON p.workspace_id = g.workspace_id AND p.user_id = g.user_id
 WHERE t.token_hash = :token_hash AND t.kind = 'refresh'
""")

_CLAIM_REFRESH = text("""
UPDATE oauth_tokens SET used_at = coalesce(used_at, clock_timestamp())
 WHERE token_hash = :token_hash AND kind = 'refresh' AND revoked_at IS NULL AND expires_at > clock_timestamp()
   AND (used_at IS NULL OR used_at >= clock_timestamp() - make_interval(secs => :grace))
RETURNING grant_id
""")

_INSERT_TOKEN = text("""
INSERT INTO oauth_tokens (token_hash, kind, grant_id, family_id, client_id, resource, scopes, expires_at)
VALUES (:token_hash, :kind, :grant_id, :family_id, :client_id, :resource, :scopes,
        clock_timestamp() + make_interval(secs => :seconds))
""")

_REVOKE_FAMILY = text(
    "UPDATE oauth_tokens SET revoked_at = clock_timestamp() WHERE family_id = :family_id AND revoked_at IS NULL"
)

_TOKEN = text("""
SELECT t.kind, t.grant_id, t.family_id, t.client_id, t.resource, t.scopes, g.user_id,
       extract(epoch FROM t.created_at)::bigint AS issued_at, extract(epoch FROM t.expires_at)::bigint AS expires_at,
       t.expires_at > clock_timestamp() AND t.revoked_at IS NULL AND g.revoked_at IS NULL
       AND (t.kind = 'access' OR t.used_at IS NULL) AS live
  FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
 WHERE t.token_hash = :token_hash
""")

_INSERT_DEVICE = text("""
INSERT INTO oauth_device_codes (device_hash, user_code, client_id, client_name, resource, scopes, expires_at)
VALUES (:device_hash, :user_code, :client_id, :client_name, :resource, :scopes,
        clock_timestamp() + make_interval(secs => :seconds))
""")

# Reading a device's request is a poll: the time of the one before decides whether it came too soon.
_POLL_DEVICE = text("""
WITH seen AS (SELECT device_hash, last_polled_at FROM oauth_device_codes WHERE device_hash = :device_hash FOR UPDATE)
UPDATE oauth_device_codes d SET last_polled_at = clock_timestamp()
  FROM seen WHERE d.device_hash = seen.device_hash
RETURNING d.user_code, d.client_id, d.client_name, d.resource, d.scopes, d.grant_id,
          d.expires_at <= clock_timestamp() AS expired, d.denied_at IS NOT NULL AS denied,
          d.used_at IS NOT NULL AS used,
          coalesce(seen.last_polled_at > clock_timestamp() - make_interval(secs => :interval), false) AS too_soon
""")

_CLAIM_DEVICE = text("""
UPDATE oauth_device_codes d SET used_at = clock_timestamp()
  FROM oauth_grants g JOIN principals p ON p.workspace_id = g.workspace_id AND p.user_id = g.user_id
 WHERE d.device_hash = :device_hash AND d.used_at IS NULL AND d.expires_at > clock_timestamp()
   AND g.id = d.grant_id AND g.revoked_at IS NULL
RETURNING d.grant_id, d.client_id, g.resource, g.scopes, p.user_id, p.role
""")

_DEVICE_BY_CODE = text("""
SELECT user_code, client_id, client_name, resource, scopes, grant_id, expires_at <= clock_timestamp() AS expired,
       denied_at IS NOT NULL AS denied, used_at IS NOT NULL AS used
  FROM oauth_device_codes WHERE user_code = :user_code
""")

_ANSWER_DEVICE = text("""
UPDATE oauth_device_codes
   SET grant_id = :grant_id, denied_at = CASE WHEN :denied THEN clock_timestamp() END
 WHERE user_code = :user_code AND grant_id IS NULL AND denied_at IS NULL AND expires_at > clock_timestamp()
RETURNING user_code
""")

# A consent counts as long as it can still be used (a live grant with a live token), and for the place that the person
# was shown: a client may have registered others.
_CONSENT = text("""
SELECT g.id AS grant_id, g.workspace_id
  FROM oauth_grants g JOIN memberships m ON m.workspace_id = g.workspace_id AND m.user_id = g.user_id
 WHERE g.user_id = :user_id AND g.client_id = :client_id AND g.resource = :resource
   AND g.answers_to = :answers_to AND g.revoked_at IS NULL AND g.scopes @> :scopes
   AND EXISTS (SELECT FROM oauth_tokens t
                WHERE t.grant_id = g.id AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp())
 ORDER BY g.created_at DESC LIMIT 1
""")


def _one(connection: Connection, statement: Any, **values: Any) -> RowMapping | None:
    return connection.execute(statement, values).mappings().one_or_none()


def get_client(connection: Connection, client_id: str) -> ClientRow | None:
    """Read a client of the table, whatever its age."""
    row = _one(connection, _CLIENT, client_id=client_id)
    return ClientRow(**(dict(row) | {"metadata": pydantic_core.from_json(row["metadata"])})) if row else None


def insert_client(connection: Connection, client: ClientRow) -> None:
    """Keep a client that registered itself."""
    values = {
        "client_id": client.client_id,
        "metadata": pydantic_core.to_json(client.metadata).decode(),
        "secret_hash": client.secret_hash,
        "registration_hash": client.registration_hash,
        "days": UNUSED_CLIENT_DAYS,
    }
    connection.execute(_INSERT_CLIENT, values)


def update_client(connection: Connection, client_id: str, metadata: dict[str, Any]) -> None:
    """Replace what a client says of itself."""
    connection.execute(_UPDATE_CLIENT, {"client_id": client_id, "metadata": pydantic_core.to_json(metadata).decode()})


def delete_client(connection: Connection, client_id: str) -> None:
    """Remove a client; what it was granted ends with it."""
    connection.execute(_REVOKE_CLIENT_GRANTS, {"client_id": client_id})
    connection.execute(_DELETE_CLIENT, {"client_id": client_id})


def touch_client(connection: Connection, client_id: str, refresh_seconds: int) -> None:
    """Note that a client was given tokens."""
    values = {"client_id": client_id, "days": UNUSED_CLIENT_DAYS, "seconds": refresh_seconds}
    connection.execute(_TOUCH_CLIENT, values)


def insert_grant(
    connection: Connection,
    grant_id: UUID,
    approval: Approval,
    client_id: str,
    client_name: str,
    *,
    resource: str,
    answers_to: str = "",
) -> bool:
    """Write a grant down, with the origin that its codes go to; False when the user is no member of the workspace."""
    row = _one(
        connection,
        _INSERT_GRANT,
        id=grant_id,
        user_id=approval.user_id,
        workspace_id=approval.workspace_id,
        client_id=client_id,
        client_name=client_name,
        resource=resource,
        answers_to=answers_to,
        scopes=list(approval.scopes),
    )
    return row is not None


def insert_code(connection: Connection, **values: Any) -> None:
    """Keep an authorization code's digest with all that it is bound to."""
    connection.execute(_INSERT_CODE, values)


def _lineage(row: RowMapping | None, **more: Any) -> Lineage | None:
    return Lineage(**(dict(row) | {"scopes": tuple(row["scopes"])} | more)) if row else None


def get_code(connection: Connection, code_hash: bytes, client_id: str) -> Lineage | None:
    """Read a code of a client, used or not."""
    return _lineage(_one(connection, _CODE, code_hash=code_hash, client_id=client_id))


def claim_code(connection: Connection, code_hash: bytes) -> bool:
    """Use a code up; only one caller ever hears True."""
    return _one(connection, _CLAIM_CODE, code_hash=code_hash) is not None


def get_refresh(connection: Connection, token_hash: bytes) -> Lineage | None:
    """Read a refresh token; `used` once its grace is over."""
    return _lineage(_one(connection, _REFRESH, token_hash=token_hash, grace=GRACE_SECONDS))


def claim_refresh(connection: Connection, token_hash: bytes) -> bool:
    """Use a refresh token up; True again within the grace."""
    return _one(connection, _CLAIM_REFRESH, token_hash=token_hash, grace=GRACE_SECONDS) is not None


def insert_token(
    connection: Connection, token_hash: bytes, kind: str, line: Lineage, scopes: Sequence[str], seconds: int
) -> None:
    """Keep a token's digest."""
    values = {
        "token_hash": token_hash,
        "kind": kind,
        "grant_id": line.grant_id,
        "family_id": line.family_id,
        "client_id": line.client_id,
        "resource": line.resource,
        "scopes": list(scopes),
        "seconds": seconds,
    }
    connection.execute(_INSERT_TOKEN, values)


def revoke_family(connection: Connection, family_id: UUID) -> None:
    """Revoke every token that descends from one exchange."""
    connection.execute(_REVOKE_FAMILY, {"family_id": family_id})


def get_token(connection: Connection, token_hash: bytes) -> TokenRow | None:
    """Read a token of either kind."""
    row = _one(connection, _TOKEN, token_hash=token_hash)
    return TokenRow(**(dict(row) | {"scopes": tuple(row["scopes"])})) if row else None


def insert_device(connection: Connection, **values: Any) -> None:
    """Keep a device's request."""
    connection.execute(_INSERT_DEVICE, values)


def _device(row: RowMapping | None) -> DeviceRow | None:
    return DeviceRow(**(dict(row) | {"scopes": tuple(row["scopes"])})) if row else None


def poll_device(connection: Connection, device_hash: bytes, interval: int) -> DeviceRow | None:
    """Read a device's request and note the poll."""
    return _device(_one(connection, _POLL_DEVICE, device_hash=device_hash, interval=interval))


def claim_device(connection: Connection, device_hash: bytes, family_id: UUID) -> Lineage | None:
    """Use an approved device code up."""
    return _lineage(_one(connection, _CLAIM_DEVICE, device_hash=device_hash), family_id=family_id)


def get_device(connection: Connection, user_code: str) -> DeviceRow | None:
    """Read a device's request by the code that a person types."""
    return _device(_one(connection, _DEVICE_BY_CODE, user_code=user_code))


def answer_device(connection: Connection, user_code: str, grant_id: UUID | None) -> bool:
    """Approve (with a grant) or deny a device's request, once."""
    values = {"user_code": user_code, "grant_id": grant_id, "denied": grant_id is None}
    return _one(connection, _ANSWER_DEVICE, **values) is not None


def find_consent(
    connection: Connection, user_id: UUID, client_id: str, *, resource: str, answers_to: str, scopes: Sequence[str]
) -> Consent | None:
    """Find a living grant that covers the scopes and was given for answers to this origin."""
    values = {"user_id": user_id, "client_id": client_id, "resource": resource, "answers_to": answers_to}
    row = _one(connection, _CONSENT, **values, scopes=list(scopes))
    return Consent(**row) if row else None
