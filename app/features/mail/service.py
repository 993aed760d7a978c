"""Writing mails, and sending what is due."""

from __future__ import annotations

import logging
import smtplib
from typing import TYPE_CHECKING, Any

from app.features.mail import queries
from app.store.jobs import Job, enqueue_in

if TYPE_CHECKING:
    from app.features.mail.remote import Mailer
    from app.store.postgres import Database
    from app.store.tx import Tx

log = logging.getLogger(__name__)
SEND_JOB = "mail.send"
_MAX_ATTEMPTS = 8
_BATCH = 20
_LISTED = 50


async def write(tx: Tx, recipient: str, subject: str, body: str) -> None:
    """Write a mail in the transaction that causes it; the worker sends it once that is committed."""
    await queries.insert(tx, recipient, subject, body)
    await enqueue_in(tx, [Job(SEND_JOB, {})])


async def send_due(database: Database, mailer: Mailer) -> None:
    """Send the mails that are due; without a mail server they stay in the outbox for the administrator to read."""
    for mail in await queries.claim(database, _MAX_ATTEMPTS, _BATCH):
        if not mailer.configured:
            await queries.hold(database, mail["id"], "SMTP_URL is not set")
            log.warning("a mail (%s) waits in the outbox: `ctx admin outbox` shows it", mail["subject"])
            continue
        try:
            await mailer.send(mail["recipient"], mail["subject"], mail["body"])
        except (OSError, smtplib.SMTPException) as error:
            await queries.mark_failed(database, mail["id"], type(error).__name__)
            log.warning("a mail could not be sent (%s), attempt %d", type(error).__name__, mail["attempts"])
        else:
            await queries.mark_sent(database, mail["id"])


async def outbox(database: Database) -> list[dict[str, Any]]:
    """List the newest mails for the administrator, texts included."""
    return [
        {
            "recipient": row["recipient"],
            "subject": row["subject"],
            "body": row["body"],
            "createdAt": row["created_at"].isoformat(),
            "sentAt": row["sent_at"].isoformat() if row["sent_at"] else None,
            "error": row["error"],
        }
        for row in await queries.newest(database, _LISTED)
    ]


async def forget_old(database: Database) -> None:
    """Delete old mails."""
    await queries.forget_old(database)
