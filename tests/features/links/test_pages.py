"""Public links in the dashboard: what a person sees after making one, and where its address is found again."""

from __future__ import annotations

import html
import re

from tests.contract.requirements import proves
from tests.support.visitor import signed_in

LINKS = "/dashboard/links"
COPY = re.compile(r'id="([^"]+)"[^>]* value="(http[^"]+/s/[^"]+)"[^>]*><button[^>]* data-copy="\1"')
LISTED = re.compile(r'<pre id="([^"]+)"[^>]*><code>(http[^<]+/s/[^<]+)</code></pre><button[^>]* data-copy="\1"')


@proves("LINK-TOKEN")
async def test_a_new_link_comes_back_open_with_its_address_to_copy_and_is_listed_with_it(service, make, alice, sql):
    person = await signed_in(service, make, alice)
    items = {"document": await make.document(alice.client), "prompt": await make.prompt(alice.client)}
    addresses = set()
    for kind, item in items.items():
        page = f"/dashboard/{kind}s/{item['id']}"
        assert '<details class="more quietly"><summary>Make a public link' in (await person.get(page)).text
        answer = await person.fill(page, f"/dashboard/share/{kind}/{item['id']}")
        assert answer.headers["location"] == f"{page}?done=published#share"
        shown = (await person.get(answer.headers["location"].partition("#")[0])).text
        assert '<details class="more quietly" open><summary>Public link' in shown
        assert '<h2 id="share">' in shown
        addresses |= {html.unescape(address) for _, address in COPY.findall(shown)}
    assert len(addresses) == 2
    listed = (await person.get(LINKS)).text
    assert {html.unescape(address) for _, address in LISTED.findall(listed)} == addresses
    await sql.execute(
        "UPDATE link_tokens SET token_hash = sha256(token_hash) WHERE workspace_id = $1", alice.workspace_id
    )
    replaced = (await person.get(LINKS)).text
    assert (LISTED.findall(replaced), replaced.count("only its digest is kept")) == ([], 2)
