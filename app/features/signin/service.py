"""Signing in and out, setting and changing passwords, making accounts: what the pages do before anybody is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.features.accounts import service as accounts
from app.features.mail import service as mail
from app.features.signin import queries
from app.features.signin.errors import AddressTaken, LinkUsedUp
from app.features.signin.passwords import check_new
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id
from app.kit.sanitize import one_line
from app.kit.secrets import Token
from app.store.jobs import Job, enqueue_in

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.gate.passwords import Passwords
    from app.gate.ports import Revocations
    from app.gate.site import Site
    from app.store.postgres import Database
    from app.store.tx import Tx

MAIL_JOB = "signin.mail"
SETS_PASSWORD = ["sign_in", "password_reset"]
MAKES_ACCOUNT = ["sign_up", "invite"]
MAX_NAME = 100
_EARLIEST = "The current password is not right."


@dataclass(frozen=True, slots=True)
class Browser:
    """Who is at the other end: address, program, and the session cookie that it already has."""

    address: str
    user_agent: str | None
    cookie: str


@dataclass(frozen=True, slots=True)
class Link:
    """What a live one-time link is for, and whose address it was made for."""

    purpose: str
    email: str


class SignIn:
    """The doors. Each gives the text of a fresh session's cookie; whatever session the browser had ends."""

    def __init__(self, database: Database, passwords: Passwords, revocations: Revocations, signup: str) -> None:
        self._database = database
        self._passwords = passwords
        self._revocations = revocations
        self.signup = signup

    async def sign_in(self, email: str, password: str, browser: Browser) -> str | None:
        """Open a session; None when address or password is wrong, after the same work and the same time.

        Raises:
            Unavailable: too many people sign in at once.
        """
        async with self._passwords.turn():
            return await self._sign_in(email, password, browser)

    async def _sign_in(self, email: str, password: str, browser: Browser) -> str | None:
        account = await queries.account_of_email(self._database, email)
        stored: str | None = account["password_hash"] if account else None
        verdict = await self._passwords.check(stored, password)
        user_id: UUID | None = account["id"] if account else None
        if account is None or stored is None or not verdict.right:
            async with self._database.global_tx() as tx:
                await accounts.audit(tx, "sign_in.failed", user_id=user_id, address=browser.address)
            return None
        async with self._database.global_tx() as tx:
            if verdict.rehashed:
                await queries.rehash(tx, account["id"], verdict.rehashed, stored)
                stored = verdict.rehashed
            return await self._open(tx, account, stored, browser)

    async def _open(self, tx: Tx, account: asyncpg.Record, password_hash: str, browser: Browser) -> str | None:
        token = Token.new()
        opened = await queries.insert_session(
            tx,
            token.digest(),
            account["id"],
            account["workspace_id"],
            password_hash,
            address=browser.address,
            user_agent=browser.user_agent,
        )
        if not opened:
            return None
        if browser.cookie:
            await queries.revoke_token(tx, Token(browser.cookie).digest())
        await accounts.audit(tx, "sign_in", user_id=account["id"], address=browser.address)
        return token.text

    async def sign_out(self, browser: Browser) -> None:
        """End the browser's session; this process refuses its cookie at once, others within seconds."""
        async with self._database.global_tx() as tx:
            row = await queries.revoke_token(tx, Token(browser.cookie).digest())
            if row is not None:
                await accounts.audit(tx, "sign_out", user_id=row["user_id"], address=browser.address)
        if row is not None:
            self._revocations.of_grant(row["id"])

    async def look(self, token: str, purposes: list[str]) -> Link:
        """Tell whose a live link is, without using it: mail programs open links by themselves.

        Raises:
            LinkUsedUp: it is not live.
        """
        link = await queries.peek_link(self._database, Token(token).digest(), purposes)
        if link is None:
            raise LinkUsedUp
        if link["user_id"] is None:
            return Link(link["purpose"], link["email"])
        account = await queries.account_of_id(self._database, link["user_id"])
        assert account is not None
        return Link(link["purpose"], account["email"])

    async def set_password(self, token: str, password: str, browser: Browser) -> str:
        """Use a link up, set the password, end all sessions of the account, and sign in.

        Raises:
            LinkUsedUp: it is not live, or somebody else was first.
            InvalidRequest: the password is too weak.
        """
        email = (await self.look(token, SETS_PASSWORD)).email
        check_new(password, email)
        account = await queries.account_of_email(self._database, email)
        password_hash = await self._passwords.hash(password)
        assert account is not None
        async with self._database.global_tx() as tx:
            if await queries.use_link(tx, Token(token).digest(), SETS_PASSWORD) is None:
                raise LinkUsedUp
            await queries.set_password(tx, account["id"], password_hash)
            cookie = await self._after_change(tx, account, password_hash, browser)
        self._revocations.of_user(account["id"])
        return cookie

    async def change_password(self, user_id: UUID, current: str, new: str, browser: Browser) -> str:
        """Change the password of somebody who is signed in; every other session ends.

        Raises:
            InvalidRequest: the current password is wrong, or the new one too weak.
        """
        account = await queries.account_of_id(self._database, user_id)
        assert account is not None
        stored: str | None = account["password_hash"]
        if not (await self._passwords.check(stored, current)).right:
            raise InvalidRequest(_EARLIEST)
        check_new(new, account["email"])
        password_hash = await self._passwords.hash(new)
        async with self._database.global_tx() as tx:
            if not await queries.change_password(tx, user_id, password_hash, stored or ""):
                raise InvalidRequest(_EARLIEST)
            cookie = await self._after_change(tx, account, password_hash, browser)
        self._revocations.of_user(user_id)
        return cookie

    async def _after_change(self, tx: Tx, account: asyncpg.Record, password_hash: str, browser: Browser) -> str:
        await queries.revoke_sessions(tx, account["id"])
        await queries.end_links(tx, account["id"])
        await accounts.audit(tx, "password.changed", user_id=account["id"], address=browser.address)
        cookie = await self._open(tx, account, password_hash, browser)
        assert cookie is not None
        return cookie

    async def register(self, token: str, name: str, password: str, browser: Browser) -> str:
        """Make the account that a link was sent for, and sign in; an invite stays to be accepted.

        Raises:
            LinkUsedUp, AddressTaken: it is too late.
            InvalidRequest: name or password will not do.
        """
        email = (await self.look(token, MAKES_ACCOUNT)).email
        name = one_line(name, len(name))
        if not 0 < len(name) <= MAX_NAME:
            raise InvalidRequest(f"Tell your name, in at most {MAX_NAME} characters.")
        check_new(password, email)
        password_hash = await self._passwords.hash(password)
        user_id, workspace_id = new_id(), new_id()
        async with self._database.tx(workspace_id) as tx:
            if not await accounts.insert_person(tx, user_id, email, name):
                raise AddressTaken
            if not await self._may_register(tx, token):
                raise LinkUsedUp
            await queries.set_password(tx, user_id, password_hash)
            await accounts.audit(tx, "account.created", user_id=user_id, address=browser.address)
            account: Any = {"id": user_id, "workspace_id": workspace_id}
            cookie = await self._open(tx, account, password_hash, browser)
        assert cookie is not None
        return cookie

    async def _may_register(self, tx: Tx, token: str) -> bool:
        digest = Token(token).digest()
        if await queries.use_link(tx, digest, ["sign_up"]) is not None:
            return self.signup == "open"
        return self.signup != "closed" and await queries.peek_link(self._database, digest, ["invite"]) is not None

    async def ask_for_mail(self, purpose: str, email: str) -> None:
        """Have the worker write to an address; known or not, the same is done here, so that nothing can be told."""
        async with self._database.global_tx() as tx:
            await enqueue_in(tx, [Job(MAIL_JOB, {"purpose": purpose, "email": email})])


async def write_mail(database: Database, site: Site, purpose: str, email: str) -> None:
    """Write the mail that somebody asked for: a link for those it is for, a hint for those who have an account."""
    account = await queries.account_of_email(database, email)
    token = Token.new()
    async with database.global_tx() as tx:
        if account is not None:
            await queries.insert_link(tx, token.digest(), "password_reset", user_id=account["id"])
            intro = "You have an account already. " if purpose == "sign_up" else ""
            text = f"{intro}Choose a new password here:\n\n{site.url}/set-password/{token.text}\n"
            subject, recipient = f"{site.name}: choose a new password", account["email"]
        elif purpose == "sign_up":
            await queries.insert_link(tx, token.digest(), "sign_up", email=email)
            text = f"Finish your account here:\n\n{site.url}/sign-up/{token.text}\n"
            subject, recipient = f"{site.name}: finish your account", email
        else:
            return
        end = "\nThe link works once, within 24 hours. If you did not ask for it, ignore this mail.\n"
        await mail.write(tx, recipient, subject, text + end)


async def create_sign_in_link(database: Database, site_url: str, email: str) -> dict[str, Any]:
    """Make a one-time link that lets its holder set a user's password and sign in; returned this once.

    Raises:
        InvalidRequest: there is no such user.
    """
    account = await queries.account_of_email(database, email)
    if account is None:
        msg = f"No user {email!r} was found; create it with `ctx admin create-user --email {email}`."
        raise InvalidRequest(msg)
    token = Token.new()
    async with database.global_tx() as tx:
        row = await queries.insert_link(tx, token.digest(), "sign_in", user_id=account["id"])
        await accounts.audit(tx, "sign_in_link.created", user_id=account["id"])
    return {"signInLink": f"{site_url}/set-password/{token.text}", "expiresAt": row["expires_at"].isoformat()}


async def mark_seen(database: Database, used: dict[UUID, str | None]) -> None:
    """Write that browser sessions were used just now."""
    await queries.mark_seen(database, used)


async def forget_old(database: Database) -> None:
    """Delete links and sessions that ended long ago."""
    await queries.forget_old(database)
