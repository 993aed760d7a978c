"""Arguments and results of the operations on browser sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.kit.ids import Id
from app.kit.schema import Model


class ListSignIns(Model):
    """No arguments: the caller's own."""


class SignIn(Model):
    """One browser where the caller is signed in."""

    id: UUID
    current: Annotated[bool, Field(description="Whether it is the one that asks.")]
    address: str | None
    user_agent: str | None
    created_at: datetime
    last_seen_at: datetime


class EndSignIn(Model):
    """Which one to end."""

    sign_in_id: Id
