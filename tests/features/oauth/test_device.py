"""Devices without a browser."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.requirements import proves
from tests.features.oauth.flow import ISSUER, Flow, fields_of

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
OWN = {"sec-fetch-site": "same-origin"}


class Device:
    def __init__(self, flow):
        self.flow = flow
        self.begun = {}

    async def begin(self, **parameters):
        answer = await self.flow.http.post(
            "/oauth/device_authorization", data={"client_id": self.flow.client_id} | parameters
        )
        self.begun = answer.json()
        return answer

    async def poll(self, **parameters):
        return await self.flow.token(grant_type=GRANT, device_code=self.begun["device_code"], **parameters)

    async def enter(self, code=None):
        """The page after the person has typed the code."""
        page = await self.flow.http.get("/oauth/device")
        sent = fields_of(page.text) | {"user_code": code or self.begun["user_code"]}
        return await self.flow.http.post("/oauth/device", data=sent, headers=OWN)

    async def pause(self, sql):
        await sql.execute("UPDATE oauth_device_codes SET last_polled_at = last_polled_at - interval '10 s'")


@pytest.fixture
async def device(person):
    made = Device(Flow(person.http, client_id="ctx"))
    assert (await made.begin(resource=f"{ISSUER}/v1")).status_code == 200
    return made


@proves("OAUTH-DEVICE")
async def test_a_device_gets_tokens_when_a_person_allows_it(device, bearer, sql):
    assert device.begun["verification_uri"] == f"{ISSUER}/oauth/device"
    assert (device.begun["interval"], device.begun["expires_in"]) == (5, 900)
    assert (await device.poll()).json()["error"] == "authorization_pending"
    assert (await device.poll()).json()["error"] == "slow_down"
    page = await device.enter(device.begun["user_code"].lower().replace("-", " "))
    assert "ctx command line" in page.text
    assert device.begun["user_code"] in page.text
    done = await device.flow.submit(page)
    assert "has access now" in done.text
    await device.pause(sql)
    tokens = (await device.poll()).json()
    assert (await bearer(tokens["access_token"]).get("/v1/user/me")).status_code == 200
    assert (await device.poll()).json()["error"] == "invalid_grant"
    assert (await device.flow.refresh(tokens["refresh_token"])).status_code == 200


async def test_of_many_polls_exactly_one_gets_the_tokens(device):
    await device.flow.submit(await device.enter())
    answers = await asyncio.gather(*(device.poll() for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 9


async def test_a_denial_is_told(device, sql):
    await device.flow.submit(await device.enter(), decision="deny")
    assert (await device.poll()).json()["error"] == "access_denied"
    again = await device.enter()
    assert again.status_code == 400


async def test_a_code_that_expired_is_told(device, sql):
    await sql.execute("UPDATE oauth_device_codes SET expires_at = clock_timestamp()")
    assert (await device.poll()).json()["error"] == "expired_token"
    assert (await device.enter()).status_code == 400


async def test_a_device_code_is_of_its_client_only(device, person):
    other = Flow(person.http)
    await other.register(grant_types=["authorization_code", GRANT])
    answer = await other.token(grant_type=GRANT, device_code=device.begun["device_code"])
    assert answer.status_code == 400
    assert (await other.token(grant_type=GRANT, device_code="unknown")).json()["error"] == "invalid_grant"
    assert (await device.poll(resource=f"{ISSUER}/mcp")).json()["error"] == "invalid_target"


async def test_a_client_that_did_not_register_for_it_cannot_begin(flow):
    assert (await Device(flow).begin()).json()["error"] == "unauthorized_client"


@pytest.mark.parametrize(
    ("parameters", "error"),
    [({"resource": "https://other.example"}, "invalid_target"), ({"scope": "admin"}, "invalid_scope")],
)
async def test_a_wrong_beginning_is_refused(device, parameters, error):
    assert (await device.begin(**parameters)).json()["error"] == error


@pytest.mark.parametrize("code", ["", "AAAA-AAAA", "BCDF-GHJK", "x" * 500, "<script>"])
async def test_an_unknown_code_is_refused(device, code):
    page = await device.enter(code or " ")
    assert page.status_code == 400
    assert "unknown or its time is over" in page.text
