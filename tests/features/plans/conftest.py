"""An instance whose plans have small allowances."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.support.factories import Make
from tests.support.service import serving

_RATES = "window_seconds = 60\nrates = { scrape = 1000, api = 1000, readonly = 1000 }\n"
_LIMITS = {
    "self-hosted": "",
    "trial": "",
    "items": "documents = 2\nprompts = 1\ncollections = 1\napi_keys = 2\n",
    "bytes": "storage_bytes = 1000\n",
    "units": "api_units_month = 2\n",
    "answers": "reason_month = 1\n",
    "wide": "documents = 1000000\n",
}


@pytest_asyncio.fixture(scope="module")
async def limited(settings, database, tmp_path_factory):
    """Factories of that instance; `limited.on(plan)` makes a user who has one of its plans."""
    plans = tmp_path_factory.mktemp("plans") / "plans.toml"
    entries = (f"[{name}]\n{_RATES}" + (f"[{name}.limits]\n{text}" if text else "") for name, text in _LIMITS.items())
    plans.write_text("".join(entries), encoding="utf-8")
    async with serving(settings.model_copy(update={"plans_file": plans})) as app:
        made = Limited(app, database)
        made.plans_file = plans
        yield made


class Limited(Make):
    """Makes users with a plan."""

    async def on(self, plan: str):
        user = await self.user()
        await self.plan(user, plan)
        return user


@pytest.fixture
def refusal():
    """What a refusal for a spent allowance says."""

    def read(answer, meter):
        assert answer.status_code == 402, answer.text
        error = answer.json()["error"]
        assert (error["code"], error["reason"], error["details"]["meter"]) == (402, "QUOTA_EXCEEDED", meter)
        assert error["details"].keys() == {"meter", "limit", "used", "resetsAt"}
        return error["details"]

    return read
