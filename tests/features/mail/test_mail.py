"""Mail: written in the transaction, sent once by the worker, kept readable where there is no mail server."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

import pytest

from app.features.mail import service
from app.features.mail.remote import Mailer


@contextlib.asynccontextmanager
async def smtp_server(refuse=False):
    """A mail server that notes what it is given."""
    letters: list[str] = []

    async def talk(reader, writer):
        async def say(line):
            writer.write(line.encode() + b"\r\n")
            await writer.drain()

        await say("220 test")
        while line := (await reader.readline()).decode().strip():
            word = line.split()[0].upper()
            if word == "DATA":
                await say("354 go on")
                letters.append((await reader.readuntil(b"\r\n.\r\n")).decode())
                await say("250 taken")
            elif word == "QUIT":
                await say("221 bye")
                break
            elif word == "RCPT" and refuse:
                await say("550 no such person")
            else:
                await say("250 ok")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}", letters


async def written(database, body="the text"):
    recipient = f"{secrets.token_hex(6)}@example.test"
    async with database.global_tx() as tx:
        await service.write(tx, recipient, "A subject", body)
    return recipient


async def state_of(database, recipient):
    (letter,) = [letter for letter in await service.outbox(database) if letter["recipient"] == recipient]
    return letter


async def test_a_mail_is_sent_once_and_its_text_forgotten(database):
    recipient = await written(database, "with a secret link")
    async with smtp_server() as (url, letters):
        mailer = Mailer(url, "service@example.test")
        await asyncio.gather(*(service.send_due(database, mailer) for _ in range(4)))
    (letter,) = [letter for letter in letters if recipient in letter]
    assert "with a secret link" in letter
    assert "From: service@example.test" in letter
    state = await state_of(database, recipient)
    assert state["sentAt"]
    assert state["body"] == ""


async def test_a_mail_of_a_transaction_that_failed_is_none(database):
    recipient = f"{secrets.token_hex(6)}@example.test"
    with contextlib.suppress(RuntimeError):
        async with database.global_tx() as tx:
            await service.write(tx, recipient, "A subject", "text")
            raise RuntimeError
    assert not [letter for letter in await service.outbox(database) if letter["recipient"] == recipient]


async def test_a_refused_mail_is_tried_again_later(database, sql):
    recipient = await written(database)
    async with smtp_server(refuse=True) as (url, _):
        await service.send_due(database, Mailer(url, ""))
    state = await state_of(database, recipient)
    assert (state["sentAt"], state["error"]) == (None, "SMTPRecipientsRefused")
    due = "SELECT next_at > clock_timestamp() FROM mail_outbox WHERE recipient = $1"
    assert await sql.fetchval(due, recipient)


async def test_without_a_mail_server_it_stays_readable_and_no_log_has_its_text(database, caplog):
    recipient = await written(database, "canary-in-a-mail")
    await service.send_due(database, Mailer("", ""))
    assert (await state_of(database, recipient))["body"] == "canary-in-a-mail"
    assert "outbox" in caplog.text
    assert "canary" not in caplog.text
    assert recipient not in caplog.text


@pytest.mark.parametrize("url", ["http://mail.test", "smtp://", "mail.test:25"])
def test_an_address_that_is_none_is_said_at_start(url):
    with pytest.raises(ValueError, match="SMTP_URL"):
        Mailer(url, "")
