"""`python -m tests.bench.logins`: what a hundred people who sign in at once do to everybody's reads.

Each round measures the p99 of document reads alone, then while 100 sign-ins with a password are under way all the
time; the median of the rounds' ratios counts. Every visitor has an address of its own, since addresses are limited.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
from pathlib import Path

import httpx2

from tests.bench.client import Order
from tests.bench.measure import Client
from tests.clients.browser import fields_of
from tests.support import stack as stacks
from tests.support.stack import ServerProcess

PEOPLE = 100
MUST = 2.0


class Crowd:
    """People who try to sign in again and again, each with one request in flight."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._forms: list[tuple[httpx2.AsyncClient, dict[str, str]]] = []
        self.tries = 0

    async def arrive(self) -> None:
        """Open the form in a hundred browsers."""
        for number in range(PEOPLE):
            headers = {"x-forwarded-for": f"198.18.0.{number}", "sec-fetch-site": "same-origin"}
            http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=60)
            page = await http.get("/sign-in")
            self._forms.append((http, fields_of(page.text) | {"password": "a guess of somebody"}))

    async def sign_in(self, round_number: int) -> None:
        """Send all forms at once; an account that does not exist costs the same work."""
        sent = (
            http.post("/sign-in", data=form | {"email": f"{number}-{round_number}@example.com"})
            for number, (http, form) in enumerate(self._forms)
        )
        answers = await asyncio.gather(*sent)
        wrong = {answer.status_code for answer in answers} - {401}
        if wrong:
            msg = f"sign-ins were answered {wrong}: the figures mean nothing"
            raise RuntimeError(msg)
        self.tries += len(answers)

    async def leave(self) -> None:
        """Close the browsers."""
        for http, _ in self._forms:
            await http.aclose()


async def _p99(client: Client, order: Order) -> float:
    answer = await asyncio.to_thread(client.run, order)
    if answer["refused"]:
        msg = f"{answer['refused']} of {answer['requests']} reads were refused"
        raise RuntimeError(msg)
    return float(answer["p99"])


async def _round(client: Client, order: Order, crowd: Crowd, number: int) -> tuple[float, float]:
    alone = await _p99(client, order)
    signing_in = asyncio.create_task(crowd.sign_in(number))
    await asyncio.sleep(0)
    crowded = await _p99(client, order)
    begun = not signing_in.done()
    await signing_in
    if not begun:
        msg = "the sign-ins were over before the reads were: take shorter slices"
        raise RuntimeError(msg)
    return alone, crowded


async def _measure(server: ServerProcess, key: str, options: argparse.Namespace, cpu: int | None) -> float:
    url = f"http://127.0.0.1:{server.port}"
    authorization = {"Authorization": f"API-Key {key}"}
    async with httpx2.AsyncClient(base_url=url, headers=authorization) as http:
        made = await http.post("/v1/documents", json={"title": "Read", "content": "by everybody " * 80})
    path = f"/v1/documents/{made.raise_for_status().json()['data']['id']}"
    order = Order(server.port, options.seconds, "GET", [path], headers=authorization)
    crowd, client = Crowd(url), Client(cpu)
    try:
        os.nice(10)  # the load is not what is measured; its other process began before
        await crowd.arrive()
        await _p99(client, order)
        ratios = []
        for number in range(options.rounds):
            alone, crowded = await _round(client, order, crowd, number)
            ratios.append(crowded / alone)
            print(f"round {number + 1}: p99 {alone * 1000:.2f} ms alone, {crowded * 1000:.2f} ms among sign-ins")
    finally:
        client.close()
        await crowd.leave()
    return statistics.median(ratios)


def main() -> int:
    """Measure and print; 1 when the bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.logins", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, contextlib.ExitStack() as running:
        stack = running.enter_context(stacks.running(Path(folder), durable=True))
        key = stack.user("bench@example.com")
        server = ServerProcess(stack.settings, extra={"TRUSTED_PROXIES": "127.0.0.1"})
        running.enter_context(stacks.serving(server))
        ratio = asyncio.run(_measure(server, key, options, cpus[-1] if len(cpus) > 1 else None))
    print(f"p99 of document reads with {PEOPLE} sign-ins at once: {ratio:.2f} × alone (must be ≤ {MUST:.1f})")
    return int(ratio > MUST)


if __name__ == "__main__":
    sys.exit(main())
