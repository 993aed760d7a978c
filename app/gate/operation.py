"""The unit of the program: one typed async function that declares its whole policy (law 1)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, get_type_hints

from app.gate.principal import CredentialKind
from app.kit.schema import Model
from app.store.tx import reach

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from uuid import UUID

    import asyncpg

    from app.gate.policy import Feature, Meter, Rate, Scope
    from app.gate.principal import Principal
    from app.kit.errors import AppError
    from app.store.jobs import Job
    from app.store.postgres import Database
    from app.store.tx import Tx

A = TypeVar("A", bound=Model)
R = TypeVar("R", bound=Model | None)
S = TypeVar("S")


Kind: TypeAlias = Literal["command", "query", "effect"]
"""A command is one write transaction, a query reads, an effect reaches outside and then writes."""

Call: TypeAlias = dict[str, Any]
"""Who called what, and the jobs it causes: what `gate_record` writes from."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change to tell of: a row for the event log and for the audit trail, written with the change itself."""

    topic: str
    object_id: UUID
    revision: int | None


class RunItem(Protocol):
    """Run an admitted command of the same policy in a transaction of its own.

    Its receipt is kept under `key`, else under the caller's own key with `number` behind it, if there is one.
    """

    def __call__(
        self, operation: Operation[Any, Any], model: type[Model], raw: dict[str, Any], number: int, key: str | None
    ) -> Awaitable[Any]:
        """Parse the arguments and give the result; refusals are raised as they are for a call of its own."""


@dataclass(slots=True)
class Context:
    """What an operation may use: the caller, its transaction or snapshots, services, and what it wants to happen."""

    principal: Principal
    database: Database
    services: dict[type, Any]
    request_id: str
    operation: str = ""
    keyed: bool = False
    """Whether the call carries an `Idempotency-Key`."""
    item: RunItem | None = None
    """Runs another command as an item of this one, in a command of `items` alone."""
    _tx: Tx | None = None
    _prepared: tuple[Any, ...] = ()
    events: list[Event] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    committed: list[Callable[[], None]] = field(default_factory=list)
    """What this process does as soon as the command is committed: forgetting cached principals, no more."""

    @property
    def tx(self) -> Tx:
        """The write transaction of a command or of an effect's commit; a query and a `prepare` have none."""
        if self._tx is None:
            msg = "there is no write transaction here: use ctx.snapshot() or ctx.hot()"
            raise RuntimeError(msg)
        return self._tx

    @property
    def workspace_id(self) -> UUID:
        """The tenant."""
        return self.principal.workspace_id

    def snapshot(self) -> AbstractAsyncContextManager[Tx]:
        """Open a read-only snapshot of the caller's workspace."""
        return self.database.snapshot(self.principal.workspace_id, self.principal.collections)

    async def hot(self, call: str, *args: Any) -> asyncpg.Record | None:
        """Run a listed hot read; its first parameters are the caller's workspace and what of it the caller may see."""
        principal = self.principal
        return await self.database.hot(call, principal.workspace_id, reach(principal.collections), *args)

    def get(self, service: type[S]) -> S:
        """Give the service of a type that the composition root built."""
        found: S = self.services[service]
        return found

    def emit(self, topic: str, object_id: UUID, revision: int | None = None) -> None:
        """Record a change in the event log and the audit trail, in this transaction."""
        self.events.append(Event(topic, object_id, revision))

    def enqueue(self, job: Job) -> None:
        """Enqueue a job in this transaction."""
        self.jobs.append(job)

    def call(self, *jobs: Job) -> Call:
        """Describe this call to a database function that is the whole command and records itself (`gate_record`)."""
        principal = self.principal
        return {
            "workspace": principal.workspace_id,
            "collections": reach(principal.collections),
            "user": principal.user_id,
            "userName": principal.user_name,
            "grant": principal.grant_id,
            "agent": principal.agent,
            "operation": self.operation,
            "request": self.request_id,
            "jobs": [job.to_call() for job in jobs],
        }


@dataclass(frozen=True, slots=True)
class Operation(Generic[A, R]):
    """A capability with its policy; its REST route and its tool are two faces of it.

    `credentials` names the kinds that are let in; empty: every kind, but over REST a browser's session only where the
    operation `takes_cookies`. A `single` command is one statement: a database
    function that sets the tenant, changes what it changes and records that itself (`Context.call`); where `single` is a
    function, it tells for which arguments. Any of the `scopes` is enough, unless `every_scope`; `whole_workspace`: not
    for keys that are restricted to collections.
    One that `needs_key` is refused without an `Idempotency-Key`. `spends` names the meters that it may add to,
    and `most` how much a call may add. One of
    `items` is no transaction and keeps no receipt: it runs other commands, each with its own (`Context.item`).

    An effect reaches outside of the database: `prepare` does that without any transaction and gives what it found;
    `function`, its commit, gets that as a third argument and is one transaction, which judges everything again. The
    receipt belongs to the commit, and a replay prepares nothing.
    """

    name: str
    kind: Kind
    function: Callable[..., Awaitable[R]]
    args: type[A]
    result: type[R]
    scopes: tuple[Scope, ...]
    rate: Rate
    feature: Feature | None
    spends: tuple[Meter, ...]
    plan_exempt: bool
    credentials: frozenset[CredentialKind]
    raises: tuple[type[AppError], ...]
    single: bool | Callable[[A], bool] = False
    needs_key: bool = False
    items: bool = False
    most: int = 1
    prepare: Callable[[Context, A], Awaitable[Any]] | None = None
    every_scope: bool = False
    whole_workspace: bool = False
    takes_cookies: bool = False

    def lacking(self, granted: frozenset[Scope]) -> tuple[Scope, ...]:
        """Give the scopes that a credential lacks for this: all that are missing, or those of which one would do."""
        if self.every_scope:
            return tuple(scope for scope in self.scopes if scope not in granted)
        return self.scopes if granted.isdisjoint(self.scopes) else ()

    def is_single(self, args: A) -> bool:
        """Tell whether the command is one statement for these arguments."""
        return self.single(args) if callable(self.single) else self.single

    @property
    def writes(self) -> bool:
        """Whether it may change anything: all but queries."""
        return self.kind != "query"

    @property
    def summary(self) -> str:
        """The first line of the docstring, for lists and OpenAPI."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0].rstrip(".")

    @property
    def description(self) -> str:
        """The docstring without its `Raises:` part."""
        return (inspect.getdoc(self.function) or "").split("\nRaises:", 1)[0].strip()


P = TypeVar("P")
Function = Callable[[Context, A], Awaitable[R]]
Commit = Callable[[Context, A, P], Awaitable[R]]


def _declare(  # noqa: PLR0913  one keyword for each word of the policy
    kind: Kind,
    name: str,
    *,
    scope: Scope | tuple[Scope, ...] | None,
    rate: Rate,
    raises: tuple[type[AppError], ...] = (),
    feature: Feature | None = None,
    spends: tuple[Meter, ...] = (),
    plan_exempt: bool = False,
    credentials: frozenset[CredentialKind] = frozenset(),
    single: bool | Callable[[A], bool] = False,
    needs_key: bool = False,
    items: bool = False,
    most: int = 1,
    prepare: Function[A, Any] | None = None,
    every_scope: bool = False,
    whole_workspace: bool = False,
    takes_cookies: bool = False,
) -> Callable[[Callable[..., Awaitable[R]]], Operation[A, R]]:
    scopes = () if scope is None else scope if isinstance(scope, tuple) else (scope,)

    def declare(function: Callable[..., Awaitable[R]]) -> Operation[A, R]:
        hints = get_type_hints(function)
        args, result = hints["args"], hints["return"]
        return Operation(
            name,
            kind,
            function,
            args,
            result,
            scopes,
            rate,
            feature,
            spends,
            plan_exempt,
            credentials,
            raises,
            single,
            needs_key,
            items,
            most,
            prepare,
            every_scope,
            whole_workspace,
            takes_cookies or CredentialKind.SESSION in credentials,
        )

    return declare


def command(name: str, **policy: Any) -> Callable[[Function[A, R]], Operation[A, R]]:
    """Declare an operation that is one write transaction, committed by the gate before the answer is sent.

    `scope` (one, any of several, or None for any credential) and `rate` must be given: there is no default to forget.
    """
    return _declare("command", name, **policy)


def query(name: str, **policy: Any) -> Callable[[Function[A, R]], Operation[A, R]]:
    """Declare an operation that only reads, in snapshots of its own, as the read-only database role."""
    return _declare("query", name, **policy)


def effect(
    name: str, *, prepare: Callable[[Context, A], Awaitable[P]], **policy: Any
) -> Callable[[Commit[A, P, R]], Operation[A, R]]:
    """Declare an operation that reaches outside: `prepare` without a transaction, then the decorated commit in one.

    `prepare` checks what would be refused anyway, before it fetches; the commit checks it again behind its locks.
    """
    return _declare("effect", name, prepare=prepare, **policy)
