"""What both sides of the authorization server, programs' and people's, share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.web.page import gate_of
from app.features.oauth.provider.oauth import OAuth
from app.kit.errors import NotFound

if TYPE_CHECKING:
    from starlette.requests import Request


def oauth_of(request: Request) -> OAuth:
    """Give the authorization server.

    Raises:
        NotFound: another server issues this service's tokens.
    """
    try:
        return gate_of(request).get(OAuth)
    except KeyError:
        raise NotFound("Tokens for this service are issued elsewhere; its metadata names the issuer.") from None
