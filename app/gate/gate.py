"""The gate: `admit` decides before the body is parsed, `run` is the only way to a transaction (law 2)."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import asyncpg

from app.gate import queries, replay
from app.gate.arguments import parse_args
from app.gate.guesses import Guesses
from app.gate.operation import Context, Operation
from app.gate.quota import Meters, Quota
from app.gate.refusals import HOW_TO_SEND, accepts, insufficient, not_accepted, not_valid, without_plan
from app.kit.errors import (
    AppError,
    FeatureNotInPlan,
    PreconditionRequired,
    RateLimited,
    Unauthenticated,
    Unavailable,
    WholeWorkspaceOnly,
)
from app.kit.schema import Model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from app.gate.limiter import Limiter, RateState
    from app.gate.marks import Marks
    from app.gate.operation import RunItem
    from app.gate.policy import Limit, Plans
    from app.gate.ports import Cached
    from app.gate.principal import Principal
    from app.store.postgres import Database

A = TypeVar("A", bound=Model)
R = TypeVar("R", bound=Model | None)
T = TypeVar("T")
S = TypeVar("S")

SESSION = "session"
"""The name of the browser sessions' resolver."""

_TRIES = 3
_RETRY_SECONDS = 1
_MAX_AGENT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Credential:
    """What a wire found: the `Authorization` header, or the browser session's cookie where the wire reads it.

    `resource` is the public URL of the surface that was called: a token is valid for exactly one (RFC 8707).
    """

    authorization: str | None
    agent: str | None = None
    session: str | None = None
    resource: str = ""
    client: str | None = None
    """What the calling program says it is (`User-Agent`); only ever shown to the credential's owner."""
    address: Callable[[], str] | None = None
    """Works out where it came from, for counting wrong ones; None where that is limited otherwise."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Proof that the policy was checked; only `Gate.admit` makes one, and `Gate.run` wants one."""

    operation: Operation[Any, Any]
    principal: Principal
    rate: RateState


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """What a run gives back: the result, its bytes as they go over the wire, and whether they come from a receipt."""

    result: R
    body: bytes
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who was admitted, and by which request."""

    principal: Principal
    request_id: str


class Gate:
    """Holds what every call passes through."""

    def __init__(
        self,
        *,
        database: Database,
        limiter: Limiter,
        plans: Plans,
        resolvers: Mapping[str, Cached],
        services: dict[type, Any],
        secret_key: str,
        secret_key_old: str = "",
        marks: Marks | None = None,
    ) -> None:
        self.database = database
        self.plans = plans
        self._limiter = limiter
        self._guesses = Guesses(limiter)
        self._resolvers = resolvers
        self._services = services
        self._quota = Quota(self.get(Meters))
        self._secrets = (secret_key, secret_key_old) if secret_key_old else (secret_key,)
        self._marks = marks

    def get(self, service: type[S]) -> S:
        """Give the service of a type, for wires that are no operations."""
        found: S = self._services[service]
        return found

    async def admit(self, operation: Operation[Any, Any], credential: Credential) -> Admission:
        """Check the policy in the contract's order: 401, 402 plan, 403, 429, 402 feature.

        Raises:
            Unauthenticated, PlanRequired, EntitlementUnavailable, SignInRequired, EveryScopeNeeded, InsufficientScope,
            RateLimited, FeatureNotInPlan.
        """
        principal = await self.authenticate(credential)
        plan = principal.plan
        if plan is None and not operation.plan_exempt:
            raise without_plan(principal)
        if operation.credentials and not accepts(operation, principal):
            raise not_accepted(operation, principal)
        if operation.lacking(principal.scopes):
            raise insufficient(operation, principal)
        if operation.whole_workspace and principal.collections is not None:
            raise WholeWorkspaceOnly
        limits = (plan or self.plans.plans["trial"]).rates
        rate = await self._limiter.spend(str(principal.user_id), operation.rate, limits[operation.rate])
        if not rate.allowed:
            msg = f"Too many {operation.rate} requests; retry after {rate.reset_seconds} s."
            raise RateLimited(msg, limit=rate.limit, retry_after=rate.reset_seconds)
        if operation.feature and plan and operation.feature not in plan.features:
            names = self.plans.with_feature(operation.feature)
            msg = f"The plan {plan.name} lacks this feature; plans that have it: {', '.join(names)}."
            raise FeatureNotInPlan(msg, details={"feature": operation.feature, "plansWithFeature": names})
        return Admission(operation, principal, rate)

    async def limit(self, subject: str, family: str, limit: Limit) -> None:
        """Count one call of a subject that is no principal: an address, or an account that is signed in to.

        Raises:
            RateLimited: it is one too many.
        """
        state = await self._limiter.spend(subject, family, limit)
        if not state.allowed:
            msg = f"Too many attempts; try again in {state.reset_seconds} s."
            raise RateLimited(msg, limit=state.limit, retry_after=state.reset_seconds)

    async def give_back(self, subject: str, family: str) -> None:
        """Take back what `limit` counted last, where only failures count and this was none."""
        await self._limiter.give_back(subject, family)

    async def authenticate(self, credential: Credential) -> Principal:
        """Resolve a credential to its principal.

        Raises:
            Unauthenticated: none, of an unknown scheme, or not valid (any more).
            RateLimited: too many wrong ones came from this address; what was good here before is still looked at.
        """
        scheme, _, text = (credential.authorization or "").partition(" ")
        if not scheme and credential.session:
            scheme, text = SESSION, credential.session
        elif not scheme:
            raise Unauthenticated(f"Send a credential: {HOW_TO_SEND}.")
        elif scheme.lower() == SESSION:  # a cookie's value is no credential for programs
            scheme = ""
        resolver = self._resolvers.get(scheme.lower())
        principal = await self._resolve(resolver, text.strip(), credential) if resolver else None
        if principal is None:
            if credential.address is not None:
                await self._guesses.count(credential.address)
            raise not_valid(scheme.lower(), text)
        agent = _printable(credential.agent)
        if self._marks is not None and principal.credential_id is not None:
            self._marks.used(principal.kind, principal.credential_id, agent or _printable(credential.client))
        return replace(principal, agent=agent) if agent else principal

    async def _resolve(self, resolver: Cached, text: str, credential: Credential) -> Principal | None:
        limited = credential.address if self._guesses.any else None
        if limited is not None and not resolver.knows(text, credential.resource):
            self._guesses.check(limited)
        return await _translated(resolver(text, credential.resource))

    async def run(
        self,
        admission: Admission,
        operation: Operation[A, R],
        args: A,
        *,
        request_id: str,
        idempotency_key: str | None = None,
    ) -> Answer[R]:
        """Run an admitted operation and commit before returning.

        Raises:
            AppError: what the operation declares, no key where one is needed, a receipt's refusals, or `Unavailable`
                when a store is away.
        """
        assert admission.operation is operation
        keyed = idempotency_key is not None
        if operation.needs_key and not keyed:
            msg = "Send an Idempotency-Key: sent twice, this must happen once."
            raise PreconditionRequired(msg)
        call = _Caller(admission.principal, request_id)
        await _translated(self._quota.reserve(call.principal, operation))
        if operation.items or not operation.writes:
            ctx = self._context(call, operation, keyed=keyed)
            if operation.items:
                ctx.item = self._items(call, operation, idempotency_key)
            result = await _translated(operation.function(ctx, args))
            return Answer(result, result.to_json() if result is not None else b"")
        if operation.prepare is None:
            return await self._repeated(call, operation, args, idempotency_key)
        ctx = self._context(call, operation, keyed=keyed)
        keys = self._keys(ctx, operation, args, idempotency_key)
        if keys and (stored := await _translated(replay.kept_answer(ctx, keys))) is not None:
            return Answer(_parse_result(operation, stored), stored, replayed=True)
        prepared = (await _translated(operation.prepare(ctx, args)),)
        return await self._repeated(call, operation, args, idempotency_key, prepared)

    def _context(self, call: _Caller, operation: Operation[Any, Any], *, keyed: bool) -> Context:
        return Context(call.principal, self.database, self._services, call.request_id, operation.name, keyed)

    async def _repeated(
        self, call: _Caller, operation: Operation[A, R], args: A, key: str | None, prepared: tuple[Any, ...] = ()
    ) -> Answer[R]:
        """Run a command, or the commit of an effect with what was prepared, again when the database asks for it."""
        for attempt in range(1, _TRIES + 1):
            ctx = self._context(call, operation, keyed=key is not None)
            ctx._prepared = prepared  # noqa: SLF001  for the commit of an effect
            try:
                return await _translated(self._command(ctx, operation, args, key))
            except _Retryable:
                if attempt == _TRIES:
                    msg = "The write collided with others; retry it."
                    raise Unavailable(msg, retry_after=_RETRY_SECONDS) from None
                await asyncio.sleep(random.uniform(0.005, 0.05) * attempt)  # noqa: S311  jitter, not a secret
        raise AssertionError

    def _items(self, call: _Caller, whole: Operation[Any, Any], whole_key: str | None) -> RunItem:
        base = replay.normalize_key(whole_key) if whole_key is not None else None

        async def run(
            operation: Operation[Any, Any], model: type[Model], raw: dict[str, Any], number: int, key: str | None
        ) -> Any:
            policy = (operation.scopes, operation.feature, operation.credentials)
            assert policy == (whole.scopes, whole.feature, whole.credentials)
            own = f"{base}#{number}" if key is None and base is not None else key
            return (await self._repeated(call, operation, parse_args(model, raw), own)).result

        return run

    def _keys(self, ctx: Context, operation: Operation[A, R], args: A, raw_key: str | None) -> list[replay.ReceiptKey]:
        """Scope the caller's key, once for each secret that it may have been kept under."""
        if raw_key is None:
            return []
        text = replay.normalize_key(raw_key)
        return [replay.receipt_key(secret, ctx.principal, operation, args, text) for secret in self._secrets]

    async def _command(self, ctx: Context, operation: Operation[A, R], args: A, raw_key: str | None) -> Answer[R]:
        keys = self._keys(ctx, operation, args, raw_key)
        key = keys[0] if keys else None
        opening = queries.claim_receipt(ctx.workspace_id, key) if key else ""
        begun = False
        limits = await self._quota.near(ctx.principal, operation)
        alone = not keys and not limits and operation.is_single(args)
        database, collections = self.database, ctx.principal.collections
        held = database.single(ctx.workspace_id) if alone else database.tx(ctx.workspace_id, opening, collections)
        try:
            async with held as tx:
                begun = True
                ctx._tx = tx  # noqa: SLF001  the gate alone gives an operation its transaction
                if keys and (stored := await replay.stored_answer(tx, keys)) is not None:
                    tx.closing = replay.renewed(ctx, keys, stored)
                    return Answer(_parse_result(operation, stored), stored, replayed=True)
                result = await self._quota.within(tx, limits, lambda: operation.function(ctx, args, *ctx._prepared))  # noqa: SLF001
                body = result.to_json() if result is not None else b""
                if not alone:
                    tx.closing = queries.finish(ctx, key, replay.pack(body, key) if key else b"")
        except asyncpg.LockNotAvailableError as error:
            if begun:
                raise
            raise replay.in_progress() from error
        for call in ctx.committed:
            call()
        return Answer(result, body)


def _parse_result(operation: Operation[A, R], body: bytes) -> R:
    model: Any = operation.result
    result: Any = model.model_validate_json(body, extra="ignore") if body else None
    return cast("R", result)


def _printable(text: str | None) -> str:
    """Keep what may be shown of how a program calls itself."""
    return "".join(filter(str.isprintable, text or ""))[:_MAX_AGENT_LENGTH]


class _Retryable(Exception):
    """A serialization failure or deadlock: the whole transaction may run again."""


_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the driver's state when a backend dies between two messages
    asyncpg.TooManyConnectionsError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.DiskFullError,
    OSError,  # also: a name that does not resolve, several addresses that all fail, no descriptor left
    asyncio.TimeoutError,
)


async def translated(awaitable: Awaitable[T]) -> T:
    """Turn the store's troubles into product words, for wires that run no operation.

    Raises:
        Unavailable: the store is away or overloaded.
    """
    try:
        return await _translated(awaitable)
    except _Retryable as error:
        raise Unavailable("This collided with another request; retry it.", retry_after=_RETRY_SECONDS) from error


async def _translated(awaitable: Awaitable[T]) -> T:
    """Turn the store's troubles into product words."""
    try:
        return await awaitable
    except AppError:
        raise
    except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError) as error:
        raise _Retryable from error
    except _AWAY as error:
        msg = (
            "The database cannot serve this just now. Retry the identical request; with an Idempotency-Key it is safe."
        )
        raise Unavailable(msg, retry_after=_RETRY_SECONDS) from error
