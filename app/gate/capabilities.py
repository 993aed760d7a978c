"""What the service offers, as one document that every wire shows alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.kit.schema import Model


class Authentication(Model):
    """How a credential is sent."""

    schemes: list[str]
    header: str


class RateLimit(Model):
    """At most so many calls within any so many seconds."""

    limit: int
    window_seconds: int


class Limits(Model):
    """What a request may hold, and how often requests may come."""

    max_body_bytes: int
    rates: Annotated[
        dict[str, dict[str, RateLimit]],
        Field(
            description="By plan and rate family; counted per person over a sliding window. `user/me` names the plan."
        ),
    ]


class ToolSummary(Model):
    """A tool, and what calling it takes."""

    name: str
    title: str
    scopes: Annotated[list[str], Field(description="Any one of these is needed; empty: any credential will do.")]
    rate_family: str
    read_only: bool


class ResourceSummary(Model):
    """A resource at a fixed address."""

    uri: str
    title: str
    mime_type: str
    public: Annotated[bool, Field(description="Whether it can be read without a credential.")]


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
    resources: list[ResourceSummary]
    resource_templates: Annotated[list[str], Field(description="Addresses of what is stored, by `{id}`.")]
