"""What the service offers, as one document that every wire shows alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.kit.schema import Model


class Authentication(Model):
    """How a credential is sent."""

    schemes: list[str]
    header: str


class Limits(Model):
    """What a request may hold."""

    max_body_bytes: int


class ToolSummary(Model):
    """A tool, and what calling it takes."""

    name: str
    title: str
    scopes: Annotated[list[str], Field(description="Any one of these is needed; empty: any credential will do.")]
    rate_family: str
    read_only: bool


class Capabilities(Model):
    """The service in one document: addresses, tools with their scopes, resources, limits, how to authenticate."""

    name: str
    version: str
    protocol_versions: list[str]
    endpoints: list[str]
    rest: str
    openapi: str
    authentication: Authentication
    limits: Limits
    tools: list[ToolSummary]
    resource_templates: list[str]
