"""The vocabulary that an operation declares its policy with."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Scope(StrEnum):
    """What a credential may do; write implies read."""

    PROMPTS_READ = "prompts.read"
    PROMPTS_WRITE = "prompts.write"
    DOCUMENTS_READ = "documents.read"
    DOCUMENTS_WRITE = "documents.write"
    WORKSPACE_READ = "workspace.read"
    WORKSPACE_WRITE = "workspace.write"


MEANINGS = {
    Scope.PROMPTS_READ: "Read prompts",
    Scope.PROMPTS_WRITE: "Create, change and delete prompts",
    Scope.DOCUMENTS_READ: "Read and search documents and collections",
    Scope.DOCUMENTS_WRITE: "Create, change and delete documents and collections",
    Scope.WORKSPACE_READ: "Read who changed what in the workspace",
    Scope.WORKSPACE_WRITE: "Nothing yet beyond reading who changed what: kept for what agents share in a workspace",
}
"""The scopes in plain words, for people who consent and for the API's description."""

READ_SCOPES = frozenset(scope for scope in Scope if scope.endswith(".read"))


def implied(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Add the read scope that each write scope implies."""
    return scopes | {Scope(scope.replace(".write", ".read")) for scope in scopes}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What scopes are called in tokens and challenges: by their own names, or as an external issuer names them."""

    names: dict[str, frozenset[Scope]]

    @classmethod
    def of(cls, mapping: Mapping[str, Iterable[str]]) -> Vocabulary:
        """Read an operator's mapping; without one every scope has its own name.

        Raises:
            ValueError: it names a scope that there is not.
        """
        given = {scope for scopes in mapping.values() for scope in scopes}
        if unknown := given.difference(Scope):
            msg = f"AUTH_SCOPES: there is no scope {min(unknown)!r}; the scopes are {', '.join(Scope)}"
            raise ValueError(msg)
        own = {scope.value: frozenset({scope}) for scope in Scope}
        return cls({name: frozenset(map(Scope, scopes)) for name, scopes in mapping.items()} or own)

    def read(self, names: Iterable[str]) -> frozenset[Scope]:
        """Translate the names of a token; unknown ones mean nothing here."""
        return frozenset().union(*(self.names.get(name, frozenset()) for name in names))

    def write(self, scopes: Iterable[Scope]) -> list[str]:
        """Name what a client has to ask for to get some scopes."""
        found = (next((name for name, given in self.names.items() if scope in given), None) for scope in scopes)
        return sorted({name for name in found if name})


class Role(StrEnum):
    """A member's role in a workspace; rights are role ∩ scopes."""

    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"

    @property
    def scopes(self) -> frozenset[Scope]:
        """The scopes that the role can exercise."""
        return READ_SCOPES if self is Role.VIEWER else frozenset(Scope)


class Rate(StrEnum):
    """Rate families, counted per user over a sliding window (contract: "Rate limits")."""

    SCRAPE = "scrape"
    API = "api"
    READONLY = "readonly"


class Feature(StrEnum):
    """Plan features."""

    WEB_PAGES = "web_pages"


class Meter(StrEnum):
    """What a plan may limit in amount: what is stored now, or what is done in a calendar month (UTC)."""

    DOCUMENTS = "documents"
    PROMPTS = "prompts"
    COLLECTIONS = "collections"
    STORAGE_BYTES = "storage_bytes"
    API_KEYS = "api_keys"
    API_UNITS_MONTH = "api_units_month"
    SCRAPES_MONTH = "scrapes_month"
    REASON_MONTH = "reason_month"

    @property
    def monthly(self) -> bool:
        """Whether it counts what happens in a month, and so is reserved before the call."""
        return self.endswith("_month")


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` calls within any `seconds`."""

    count: int
    seconds: int


@dataclass(frozen=True)
class Plan:
    """A plan of `plans.toml`: features, rate limits and allowances (absent allowance: unlimited)."""

    name: str
    features: frozenset[Feature]
    rates: dict[Rate, Limit]
    limits: dict[Meter, int]
    trial: bool


@dataclass(frozen=True)
class Plans:
    """All plans by name."""

    plans: dict[str, Plan]

    @classmethod
    def load(cls, path: Path | None = None) -> Plans:
        """Read `plans.toml`; the packaged one unless an operator names another."""
        source = path or Path(__file__).with_name("plans.toml")
        raw: dict[str, Any] = tomllib.loads(source.read_text(encoding="utf-8"))
        return cls({name: _plan(name, entry) for name, entry in raw.items()})

    def with_feature(self, feature: Feature) -> list[str]:
        """Name the hosted plans that have a feature."""
        return [name for name in self.hosted if feature in self.plans[name].features]

    @cached_property
    def hosted(self) -> list[str]:
        """The plans that are for sale, in the file's order."""
        return [name for name, plan in self.plans.items() if name != "self-hosted" and not plan.trial]


def _plan(name: str, entry: dict[str, Any]) -> Plan:
    rates = {Rate(family): Limit(int(count), int(entry["window_seconds"])) for family, count in entry["rates"].items()}
    return Plan(
        name=name,
        features=frozenset(Feature(feature) for feature in entry.get("features", [])),
        rates=rates,
        limits={Meter(meter): int(count) for meter, count in entry.get("limits", {}).items()},
        trial=bool(entry.get("trial", False)),
    )
