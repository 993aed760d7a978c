"""`ctx import` and `ctx search` against the service, over a real socket."""

from __future__ import annotations

import json
import os
import socket
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from app.cli import client as client_module
from tests.cli.conftest import documents
from tests.contract.requirements import proves
from tests.support import archives
from tests.support.indexing import Index


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "notes"
    made.mkdir()
    (made / "one.md").write_text("# First note\n\nAbout herons.\n", encoding="utf-8")
    (made / "two.txt").write_text("Plain words about otters.\n", encoding="utf-8")
    return made


async def test_files_become_documents_and_a_second_run_sends_nothing(ctx, alice, folder):
    code, report = await ctx.json("import", folder, "--tag", "notes")
    assert (code, report["counts"]) == (0, {"created": 2})
    found = await documents(alice)
    assert sorted(found) == ["First note", "two"]
    assert found["two"]["tags"] == ["notes"]
    assert {file["documentId"] for file in report["files"]} == {item["id"] for item in found.values()}
    code, report = await ctx.json("import", folder, "--tag", "notes")
    assert (code, report["counts"]) == (0, {"unchanged": 2})
    assert {item["revision"] for item in (await documents(alice)).values()} == {1}


@proves("IMPORT-BATCH")
async def test_many_files_travel_in_few_requests(ctx, alice, folder, monkeypatch):
    for number in range(120):
        (folder / f"n{number}.md").write_text(f"Note {number}.\n", encoding="utf-8")
    sent, send = [], client_module.Client.send
    monkeypatch.setattr(
        client_module.Client, "send", lambda self, *args: sent.append((args[0], args[1])) or send(self, *args)
    )
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 122})
    assert sent == [("POST", "/v1/documents:batch")] * 2
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"unchanged": 122})
    assert sent == [("POST", "/v1/documents:batch")] * 4
    me = (await alice.client.get("/v1/user/me")).json()["data"]
    assert me["usage"]["documents"]["used"] == 122


async def test_the_counts_are_printed_for_people(ctx, folder):
    result = await ctx("import", folder)
    assert result.exit_code == 0
    assert result.stdout == "2 created\n"
    assert (await ctx("import", folder)).stdout == "2 unchanged\n"


async def test_a_changed_file_updates_its_document(ctx, alice, folder):
    await ctx("import", folder)
    (folder / "one.md").write_text("# Second thoughts\n\nAbout cranes.\n", encoding="utf-8")
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"updated": 1, "unchanged": 1})
    found = (await documents(alice))["Second thoughts"]
    assert found["revision"] == 2
    content = (await alice.client.get(f"/v1/documents/{found['id']}")).json()["data"]["content"]
    assert content == "# Second thoughts\n\nAbout cranes.\n"


async def test_an_edit_made_elsewhere_is_not_overwritten(ctx, alice, folder):
    await ctx("import", folder)
    document = (await documents(alice))["First note"]
    await alice.client.patch(f"/v1/documents/{document['id']}", json={"content": "Edited by somebody."})
    (folder / "one.md").write_text("# First note\n\nEdited here.\n", encoding="utf-8")
    (folder / "three.md").write_text("Goes on.\n", encoding="utf-8")
    result = await ctx("import", folder)
    assert result.exit_code == 1
    assert "was edited since it was imported" in result.stderr
    assert result.stdout == "1 created, 1 unchanged, 1 failed\n"
    kept = (await alice.client.get(f"/v1/documents/{document['id']}")).json()["data"]
    assert kept["content"] == "Edited by somebody."


async def test_what_was_deleted_there_and_changed_here_is_created_anew(ctx, alice, folder):
    await ctx("import", folder)
    document = (await documents(alice))["First note"]
    await alice.client.delete(f"/v1/documents/{document['id']}")
    (folder / "one.md").write_text("# First note\n\nBack again.\n", encoding="utf-8")
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 1, "unchanged": 1})
    assert (await documents(alice))["First note"]["id"] != document["id"]


async def test_a_run_that_was_cut_off_makes_no_duplicate(ctx, alice, folder, tmp_path):
    await ctx("import", folder)
    for memory in (tmp_path / "state").rglob("*.jsonl"):  # as if it had ended before it could remember
        lines = memory.read_text(encoding="utf-8").splitlines()
        memory.write_text(lines[0] + "\n" + lines[1][:20], encoding="utf-8")
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 1, "unchanged": 1})
    assert len(await documents(alice)) == 2


async def test_files_that_cannot_be_imported_are_named_and_the_others_go_on(ctx, alice, folder):
    (folder / "odd.zzz").write_bytes(bytes(range(256)))
    (folder / "empty.md").write_text(" \n", encoding="utf-8")
    (folder / "null.md").write_text("a\0b", encoding="utf-8")
    (folder / "big.md").write_text("x" * (11 * 1024 * 1024), encoding="utf-8")
    (folder / "dangling.md").symlink_to(folder / "nowhere.md")
    code, report = await ctx.json("import", folder, folder / "one.md", folder / "odd.zzz")
    failed = {
        file["path"].rpartition("/")[2]: file["message"] for file in report["files"] if file["result"] == "failed"
    }
    assert code == 1
    assert report["counts"] == {"failed": 3, "skipped": 2, "created": 2, "unchanged": 1}
    assert sorted(failed) == ["big.md", "null.md", "odd.zzz"]
    assert all(failed.values())
    assert len(await documents(alice)) == 2


async def test_hidden_folders_and_other_files_are_left_out(ctx, alice, folder):
    for name in (".git/description.md", ".obsidian/a.md", "sub/.hidden.md", "sub/kept.MD", "picture.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"text of {name}", encoding="utf-8")
    await ctx("import", folder)
    assert sorted(await documents(alice)) == ["First note", "kept", "two"]


async def test_what_git_ignores_is_left_out_and_named(ctx, folder):
    for name in ("build/out.md", "notes.log.md", "docs/keep.log.md", "docs/draft.md", "node_modules/read.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"What {name} says.", encoding="utf-8")
    (folder / ".gitignore").write_text("build/\n*.log.md\n", encoding="utf-8")
    (folder / "docs" / ".gitignore").write_text("!keep.log.md\n/draft.md\n", encoding="utf-8")
    code, report = await ctx.json("import", folder)
    results = {str(Path(file["path"]).relative_to(folder)): file["result"] for file in report["files"]}
    assert code == 0
    for name in ("build", "notes.log.md", "docs/draft.md", "node_modules"):
        assert results[name] == "skipped", name
    assert results["docs/keep.log.md"] == "created"
    assert "build/out.md" not in results


async def test_a_folder_that_cannot_be_read_is_named_and_the_others_go_on(ctx, folder, monkeypatch):
    (folder / "closed").mkdir()
    scan = os.scandir

    def scandir(path):
        if Path(path).name == "closed":
            raise PermissionError
        return scan(path)

    monkeypatch.setattr("app.cli.ignoring.os.scandir", scandir)
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 2, "skipped": 1})


async def test_what_is_skipped_is_named_and_is_no_failure_however_often(ctx, folder):
    (folder / "empty.md").write_text(" \n", encoding="utf-8")
    (folder / "song.mp3").write_bytes(b"ID3")
    for counted in ("2 created, 2 skipped", "2 unchanged, 2 skipped"):
        result = await ctx("import", folder)
        assert (result.exit_code, result.stdout) == (0, counted + "\n")
        assert f"{folder / 'empty.md'}: is empty" in result.stderr.replace("\n", "")
        assert f"{folder / 'song.mp3'}: is of no kind that can be read" in result.stderr.replace("\n", "")
    for number in range(30):
        (folder / f"picture{number}.png").write_bytes(b"x")
    assert "Skipped 12 more" in (await ctx("import", folder)).stderr
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"unchanged": 2, "skipped": 32})
    assert sum(file["result"] == "skipped" for file in report["files"]) == 32


async def test_a_folder_without_files_is_said_to_be_one(ctx, tmp_path):
    (tmp_path / "void").mkdir()
    result = await ctx("import", tmp_path / "void")
    assert (result.exit_code, result.stdout) == (0, "No files were found.\n")


async def test_a_path_that_is_not_there_is_a_mistake_of_the_caller(ctx, tmp_path):
    assert (await ctx("import", tmp_path / "missing")).exit_code == 2


@pytest.mark.parametrize("command", [("import", "."), ("search", "x")])
async def test_without_credentials_both_ways_are_named(command, ctx):
    ctx.environment |= {"CTX_URL": "", "CTX_API_KEY": ""}
    result = await ctx(*command)
    assert result.exit_code == 2
    assert "CTX_URL and CTX_API_KEY" in result.stderr
    assert "cli.json" in result.stderr


async def test_what_ctx_up_wrote_is_enough(ctx, alice, folder, address, tmp_path):
    saved = tmp_path / "data"
    saved.mkdir()
    (saved / "cli.json").write_text(json.dumps({"url": address, "apiKey": alice.key}), encoding="utf-8")
    ctx.environment |= {"CTX_URL": "", "CTX_API_KEY": "", "DATA_DIR": str(saved)}
    assert (await ctx("import", folder)).exit_code == 0
    assert len(await documents(alice)) == 2


async def test_a_key_of_the_environment_goes_to_the_saved_address(ctx, alice, folder, address, tmp_path):
    (tmp_path / "cli.json").write_text(json.dumps({"url": address, "apiKey": "gm_another"}), encoding="utf-8")
    ctx.environment |= {"CTX_URL": "", "DATA_DIR": str(tmp_path)}
    assert (await ctx("import", folder)).exit_code == 0
    assert len(await documents(alice)) == 2


@pytest.mark.parametrize(
    ("named", "saved", "said"),
    [
        ({"CTX_URL": ""}, None, "CTX_API_KEY is set without CTX_URL"),
        ({"CTX_API_KEY": ""}, None, "CTX_URL is set without CTX_API_KEY"),
        ({"CTX_URL": "https://b.test", "CTX_API_KEY": ""}, "https://a.test", "is for https://a.test; set CTX_API_KEY"),
    ],
)
async def test_half_of_what_is_needed_is_named_as_what_it_is(named, saved, said, ctx, tmp_path):
    if saved:
        (tmp_path / "cli.json").write_text(json.dumps({"url": saved, "apiKey": "gm_x"}), encoding="utf-8")
    ctx.environment |= {"DATA_DIR": str(tmp_path)} | named
    result = await ctx("search", "x")
    assert result.exit_code == 2
    assert said in result.stderr
    assert "there is no" not in result.stderr


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(
    "saved",
    [b"{bad", b"[]", b"\xff", b"null", b'{"url": 1}', '{"url": "http://a.test", "apiKey": "schlüssel"}'.encode()],
)
async def test_a_damaged_file_of_the_key_is_named(saved, both, ctx, tmp_path):
    (tmp_path / "cli.json").write_bytes(saved)
    ctx.environment |= {"DATA_DIR": str(tmp_path)} | ({} if both else {"CTX_URL": "", "CTX_API_KEY": ""})
    result = await ctx("search", "x")
    assert result.exit_code == 2
    assert "cli.json is damaged" in result.stderr.replace("\n", "")


@pytest.mark.parametrize("key", ["schlüssel", "gm_a\nb"])
async def test_a_key_that_no_header_carries_is_said_to_be_none(key, ctx):
    ctx.environment["CTX_API_KEY"] = key
    result = await ctx("search", "x")
    assert result.exit_code == 2
    assert "copy the key again" in result.stderr
    assert key not in result.stderr


@pytest.mark.parametrize("command", ["import", "search"])
async def test_a_service_that_is_down_ends_the_command_once(command, ctx, folder, monkeypatch):
    waits = []
    monkeypatch.setattr(client_module.time, "sleep", waits.append)
    with socket.create_server(("127.0.0.1", 0)) as unused:
        ctx.environment["CTX_URL"] = f"http://127.0.0.1:{unused.getsockname()[1]}"
    result = await ctx(command, folder if command == "import" else "herons")
    assert result.exit_code == 1
    assert "does not answer" in result.stderr
    assert "is the service running?" in result.stderr
    assert len(waits) == client_module.TRIES - 1


@proves("IMPORT-FRONTMATTER")
async def test_a_folder_of_an_archive_becomes_the_same_documents(ctx, alice, bob, make, tmp_path):
    for number, content in enumerate(["---\nauthor: x\n---\nb\r\n", "\n\nc", "# Not the title\n"]):
        await make.document(alice.client, title=f"T: {number}", content=content, tags=["Ä: b", "c"])
    for path, content in archives.files(await archives.export(make, alice)):
        if path.endswith(".md"):
            (tmp_path / path.replace("/", "-")).write_bytes(content.encode())
    ctx.environment["CTX_API_KEY"] = bob.key
    assert (await ctx.json("import", tmp_path))[1]["counts"] == {"created": 3}
    mine, theirs = await documents(alice), await documents(bob)
    assert {title: item["contentHash"] for title, item in mine.items()} == {
        title: item["contentHash"] for title, item in theirs.items()
    }


async def test_front_matter_names_title_and_tags_and_line_ends_stay(ctx, alice, folder):
    (folder / "one.md").write_bytes(b"---\r\ntitle: Fog\r\ntags: [sea, notes]\r\n---\r\n\r\n# Horn\r\n\nhoot\n")
    (folder / "two.txt").write_bytes(b"---\ntitle: no Markdown\n---\ntext")
    await ctx("import", folder, "--tag", "notes")
    found = await documents(alice)
    assert (sorted(found), found["Fog"]["tags"]) == (["Fog", "two"], ["notes", "sea"])
    read = (await alice.client.get(f"/v1/documents/{found['Fog']['id']}")).json()["data"]
    assert read["content"] == "# Horn\r\n\nhoot\n"


@proves("IMPORT-BUSY")
async def test_a_file_that_met_a_busy_service_in_its_batch_is_tried_again(ctx, alice, folder, monkeypatch):
    send = client_module.Client.send
    busy = {"status": 503, "error": {"reason": "UNAVAILABLE", "message": "busy"}}

    def once(self, method, path, body, key):
        if path.endswith(":batch"):
            return {"data": [busy] * len(body["items"])}
        return send(self, method, path, body, key)

    monkeypatch.setattr(client_module.Client, "send", once)
    code, report = await ctx.json("import", folder)
    assert (code, report["counts"]) == (0, {"created": 2})
    assert len(await documents(alice)) == 2


@proves("IMPORT-BUSY")
@pytest.mark.parametrize(
    ("status", "headers", "pauses"),
    [
        (503, {"Retry-After": "7"}, [7.0] * 25),
        (429, {"Retry-After": "60"}, [60.0] * 3),
        (429, {"Retry-After": "600"}, []),
        (503, {}, [1.0] * 180),
        (503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, [1.0] * 180),
        (503, {"Retry-After": "soon"}, [1.0] * 180),
    ],
)
def test_who_asks_to_wait_is_waited_for_and_not_for_ever(monkeypatch, status, headers, pauses):
    waits = []
    monkeypatch.setattr(client_module.time, "sleep", waits.append)
    client = client_module.Client(client_module.Target("http://service.test", "gm_x"))
    refusal = {"error": {"reason": "BUSY", "message": "Not now."}}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(status, headers=headers, json=refusal))
    client._http = httpx2.Client(base_url="http://service.test", transport=transport)
    with pytest.raises(client_module.RefusedError) as refused:
        client.get("/v1/user/me")
    assert (refused.value.status, waits) == (status, pauses)


@pytest.mark.parametrize("command", ["import", "search"])
async def test_a_wrong_key_is_said_once(command, ctx, folder):
    ctx.environment["CTX_API_KEY"] = "gm_nothing"
    result = await ctx(command, folder if command == "import" else "herons")
    assert result.exit_code == 1
    assert result.stderr.count("Error:") == 1


async def test_search_prints_what_was_found(ctx, alice, folder, database, sql, model):
    await ctx("import", folder, "--tag", "birds")
    pending = await ctx("search", "herons")
    assert "Still being indexed: 2;" in pending.stdout
    await Index(database, sql, model).run(alice.workspace_id)
    found = await ctx("search", "herons")
    assert found.exit_code == 0
    assert "First note" in found.stdout
    assert "First note — About herons." in found.stdout
    code, answer = await ctx.json("search", "herons", "--tag", "birds", "--limit", "1")
    assert (code, len(answer["data"]["documents"])) == (0, 1)
    literal = await ctx("search", "about OTTERS", "--literal")
    assert "two" in literal.stdout
    nothing = await ctx("search", "zeppelin", "--literal")
    assert (nothing.stdout, "--literal" in nothing.stderr) == ("Nothing was found.\n", False)


async def test_search_of_all_types_or_of_one_shows_them_all(ctx, alice, make):
    document = await make.document(alice.client, title="Heron watch", content="Count them.")
    prompt = await make.prompt(alice.client, title="Heron poem", content="Write one.")
    body = {"name": "Heron things", "description": "All of them."}
    collection = (await alice.client.post("/v1/collections", json=body)).json()["data"]
    lines = {
        "documents": f"Heron watch  ({document['id']})",
        "prompts": f"Heron poem  (prompt {prompt['id']})",
        "collections": f"Heron things  (collection {collection['id']})",
    }
    every = (await ctx("search", "heron", "--literal")).stdout
    assert all(line in every for line in lines.values())
    for kind in lines:
        shown = (await ctx("search", "heron", "--literal", "--type", kind)).stdout
        assert {one for one, line in lines.items() if line in shown} == {kind}
    assert (await ctx("search", "heron", "--type", "keys")).exit_code == 2


async def test_a_search_by_meaning_that_finds_nothing_names_the_one_that_finds_parts_of_words(ctx, alice, make, index):
    await make.document(
        alice.client, title="Log of the harbour", content="The harbour master asks for ZXPTGRQ7 by the pier."
    )
    await index.run(alice.workspace_id)
    nothing = await ctx("search", "ptgr", "--type", "documents")
    assert (nothing.stdout, "--literal finds parts of words" in nothing.stderr) == ("Nothing was found.\n", True)
    assert "Log of the harbour" in (await ctx("search", "ptgr", "--literal")).stdout


@proves("SEARCH-AS-OF")
async def test_search_as_of_a_time_or_day_shows_what_was_said_then_and_how_it_was_looked_for(
    ctx, alice, make, index, sql
):
    made = await make.document(alice.client, title="House rules", content="No walruses in the tea room.")
    then = (await sql.fetchval("SELECT clock_timestamp()")).isoformat()
    await alice.client.patch(f"/v1/documents/{made['id']}", json={"content": "No seals in the tea room."})
    await index.run(alice.workspace_id)
    past = await ctx("search", "walruses", "--as-of", then)
    assert f"House rules  ({made['id']}, revision 1)" in past.stdout
    assert "No walruses in the tea room." in past.stdout
    notice = (await ctx.json("search", "walruses", "--as-of", then))[1]["meta"]["notice"]
    assert notice in past.stderr
    today = (await sql.fetchval("SELECT clock_timestamp()")).astimezone().date()
    for when, found in ((today, ["seals"]), (today - timedelta(days=2), [])):
        code, answer = await ctx.json("search", "seals", "--literal", "--as-of", when)
        hits = answer["data"]["documents"]
        assert (code, ["seals" for hit in hits if "No seals" in hit["highlight"]]) == (0, found)
        assert answer["meta"]["asOf"].startswith(f"{when}T23:59:59")
    for wrong in ("yesterday", "7", "2026-13-01"):
        result = await ctx("search", "seals", "--as-of", wrong)
        assert (result.exit_code, "name a day or a time" in result.stderr) == (2, True)


async def test_what_is_printed_is_what_is_stored(ctx, alice, make):
    made = await make.document(alice.client, title=":key: [bold]zander[/bold]", content="zander :warning: [red]")
    code, found = await ctx.json("search", "--literal", "zander")
    assert code == 0
    assert [hit["documentId"] for hit in found["data"]["documents"]] == [made["id"]]
    assert found["data"]["documents"][0]["title"] == ":key: [bold]zander[/bold]"
    assert ":warning: [red]" in (await ctx("search", "--literal", "zander")).stdout
