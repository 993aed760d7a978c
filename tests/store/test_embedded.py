"""The embedded servers with real processes: start, stop, crash, side by side, as root and as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import redis

from app.process import is_alive
from app.store import embedded
from app.store.embedded import account, files

SITE = Path(asyncpg.__file__).parents[1]
ROOT = Path(embedded.__file__).parents[3]


# Starts the servers, reports the process ids, and waits to be killed.
HOLDER = """
import json, sys, time
from pathlib import Path
from app.store import embedded
with embedded.running(Path(sys.argv[1]), durable=False) as servers:
    print(json.dumps([servers.postgres.process.pid, servers.valkey.process.pid]), flush=True)
    time.sleep(float(sys.argv[2]))
"""


def query(url: str, *statements: str) -> Any:
    async def run() -> Any:
        connection = await asyncpg.connect(url)
        try:
            for statement in statements:
                answer = await connection.fetchval(statement)
        finally:
            await connection.close()
        return answer

    return asyncio.run(run())


def ping(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        return bool(client.ping())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def wait_until_gone(pids: list[int], seconds: float = 15) -> list[int]:
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def postgres_url(servers: embedded.EmbeddedServers) -> str:
    assert servers.postgres is not None
    return servers.postgres.url()


def pids_of(servers: embedded.EmbeddedServers) -> list[int]:
    assert servers.postgres is not None
    assert servers.valkey is not None
    assert servers.postgres.process is not None
    assert servers.valkey.process is not None
    return [servers.postgres.process.pid, servers.valkey.process.pid]


def test_data_and_ports_survive_a_restart(tmp_path: Path) -> None:
    with embedded.running(tmp_path / "d") as servers:
        first = postgres_url(servers)
        pids = pids_of(servers)
        query(first, "CREATE TABLE kept AS SELECT 42 AS n")
        assert servers.valkey is not None
        assert ping(servers.valkey.url)
    assert not any(is_alive(pid) for pid in pids)
    with embedded.running(tmp_path / "d") as servers:
        assert postgres_url(servers) == first
        assert query(first, "SELECT n FROM kept") == 42


def test_server_settings_and_extensions(tmp_path: Path) -> None:
    with embedded.running(tmp_path, valkey=False) as servers:
        url = postgres_url(servers)
        expected = {
            "listen_addresses": "127.0.0.1",
            "max_connections": "100",
            "shared_buffers": "128MB",
            "synchronous_commit": "on",
            "fsync": "on",
            "idle_in_transaction_session_timeout": "30s",
            "password_encryption": "scram-sha-256",
        }
        assert {name: query(url, f"SHOW {name}") for name in expected} == expected
        assert query(url, "CREATE EXTENSION vector", "SELECT '[1,2]'::vector <-> '[1,4]'::vector") == 2.0


def test_everything_is_private(tmp_path: Path) -> None:
    data_dir = tmp_path / "d"
    with embedded.running(data_dir, durable=False):
        folders = [data_dir, data_dir / "postgres", data_dir / "postgres" / "data", data_dir / "valkey"]
        assert {mode(path) for path in folders} == {0o700}
        names = ["lock", "ports.json", "postgres.log", "valkey.log", "postgres/password"]
        assert {mode(data_dir / name) for name in names} == {0o600}


def test_wrong_passwords_are_refused(tmp_path: Path) -> None:
    with embedded.running(tmp_path, durable=False) as servers:
        host = postgres_url(servers).rpartition("@")[2]
        with pytest.raises(asyncpg.InvalidPasswordError):
            query(f"postgresql://postgres:wrong@{host}", "SELECT 1")
        assert servers.valkey is not None
        with pytest.raises(redis.AuthenticationError):
            ping("redis://" + servers.valkey.url.rpartition("@")[2])


def test_secrets_are_neither_in_arguments_nor_in_the_log(tmp_path: Path) -> None:
    with embedded.running(tmp_path, durable=False) as servers:
        assert servers.valkey is not None
        url = postgres_url(servers)
        with pytest.raises(asyncpg.PostgresError):
            query(url, "ALTER ROLE nobody_here PASSWORD 'hush-hush'")
        secrets = [url.split(":")[2].partition("@")[0], servers.valkey.url.split(":")[2].partition("@")[0]]
        arguments = [Path(f"/proc/{pid}/cmdline").read_text() for pid in pids_of(servers)]
    text = (tmp_path / "postgres.log").read_text() + (tmp_path / "valkey.log").read_text() + "".join(arguments)
    assert "nobody_here" in text  # the error itself is logged
    assert not [secret for secret in [*secrets, "hush-hush"] if secret in text]


def test_a_shared_folder_is_no_data_dir(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(embedded.EmbeddedError, match="open to others"):
        embedded.prepare_data_dir(tmp_path)
    assert mode(tmp_path) == 0o755


def test_two_data_dirs_run_side_by_side(tmp_path: Path) -> None:
    with embedded.running(tmp_path / "a", durable=False) as a, embedded.running(tmp_path / "b", durable=False) as b:
        query(postgres_url(a), "CREATE TABLE only_in_a ()")
        with pytest.raises(asyncpg.UndefinedTableError):
            query(postgres_url(b), "SELECT 1 FROM only_in_a")
        assert a.valkey is not None
        assert b.valkey is not None
        assert ping(a.valkey.url)
        assert ping(b.valkey.url)


def test_a_data_dir_has_one_holder(tmp_path: Path) -> None:
    with (
        embedded.running(tmp_path, postgres=False),
        pytest.raises(embedded.AlreadyRunningError),
        embedded.running(tmp_path, postgres=False),
    ):
        pass


def test_a_port_taken_in_the_meantime_is_replaced(tmp_path: Path) -> None:
    with embedded.running(tmp_path, durable=False):
        kept = json.loads((tmp_path / "ports.json").read_text())
    with socket.socket() as one, socket.socket() as two:
        for sock, port in ((one, kept["postgres"]), (two, kept["valkey"])):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            sock.listen()
        with embedded.running(tmp_path, durable=False) as servers:
            assert query(postgres_url(servers), "SELECT 1") == 1
            assert set(json.loads((tmp_path / "ports.json").read_text()).values()).isdisjoint(kept.values())


def test_a_port_lost_between_choice_and_start_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        files.remember_ports(tmp_path, postgres=port, valkey=port)
        first = iter([True, True])
        real = files._is_free
        monkeypatch.setattr(files, "_is_free", lambda p: next(first, None) or real(p))
        with embedded.running(tmp_path, durable=False) as servers:
            assert query(postgres_url(servers), "SELECT 1") == 1
            assert servers.valkey is not None
            assert ping(servers.valkey.url)


def start_holder(
    data_dir: Path, python: str = sys.executable, **switch: Any
) -> tuple[subprocess.Popen[str], list[int]]:
    environment = {"PYTHONPATH": f"{ROOT}:{SITE}", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [python, "-P", "-c", HOLDER, str(data_dir), "60"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd="/",
        **switch,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the holder did not start"
    return process, json.loads(line)


def test_a_killed_parent_leaves_no_orphan_and_no_damage(tmp_path: Path) -> None:
    process, pids = start_holder(tmp_path)
    process.kill()
    process.wait()
    # At once: the next start has to wait for the old server's shutdown by itself.
    with embedded.running(tmp_path, durable=False) as servers:
        assert query(postgres_url(servers), "SELECT 1") == 1
        assert wait_until_gone(pids) == []
    assert "interrupted" not in (tmp_path / "postgres.log").read_text()


def test_a_pid_file_that_names_a_stranger_is_ignored(tmp_path: Path) -> None:
    with embedded.running(tmp_path, durable=False, valkey=False) as servers:
        lines = (tmp_path / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
        url = postgres_url(servers)
    stale = tmp_path / "postgres" / "data" / "postmaster.pid"
    stale.write_text("\n".join([str(os.getppid()), *lines[1:]]) + "\n")
    with embedded.running(tmp_path, durable=False, valkey=False):
        assert query(url, "SELECT 1") == 1


def test_an_interrupted_first_start_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "data.new" / "base").mkdir(parents=True)
    (tmp_path / "postgres" / "data.new" / "PG_VERSION").write_text("18\n")
    with embedded.running(tmp_path, durable=False, valkey=False) as servers:
        assert query(postgres_url(servers), "SELECT 1") == 1


def test_a_failure_names_the_reason_and_the_log(tmp_path: Path) -> None:
    with embedded.running(tmp_path, durable=False, valkey=False):
        pass
    (tmp_path / "postgres" / "data" / "PG_VERSION").write_text("12\n")
    with (
        pytest.raises(embedded.EmbeddedError, match=r"FATAL.*postgres\.log"),
        embedded.running(tmp_path, durable=False, valkey=False),
    ):
        pass


def test_a_start_can_be_given_up(tmp_path: Path) -> None:
    servers = embedded.EmbeddedServers(embedded.prepare_data_dir(tmp_path), durable=False)
    with pytest.raises(embedded.StartInterruptedError):
        servers.start(should_stop=lambda: True)
    assert not (tmp_path / "postgres" / "data").exists()


def ordinary_python() -> str:
    """Find an interpreter that `nobody` may execute; the one of this run may lie below /root."""
    for candidate in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")):
        if candidate:
            probe = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            try:
                if subprocess.run(probe, user="nobody", cwd="/", check=False).returncode == 0:
                    return candidate
            except PermissionError:
                continue
    pytest.fail("no Python 3.11 that the account nobody may run; apt-get install -y python3")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests already run as an ordinary user")
def test_an_ordinary_user_runs_the_servers(open_folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(open_folder, nobody.pw_uid, nobody.pw_gid)
    process, pids = start_holder(
        open_folder / "d", ordinary_python(), user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]
    )
    try:
        assert {Path(f"/proc/{pid}").stat().st_uid for pid in pids} == {nobody.pw_uid}
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert wait_until_gone(pids) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root switches accounts")
def test_root_switches_to_an_account_and_copies_hidden_binaries(
    open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: mode(path) for path in tmp_path.parents}
    monkeypatch.setattr(account, "BINARY_CACHE", open_folder / "cache")
    monkeypatch.setattr(account.Runner, "_reaches", lambda *_: False)
    with embedded.running(tmp_path, durable=False) as servers:
        assert query(postgres_url(servers), "SELECT 1") == 1
        assert 0 not in {Path(f"/proc/{pid}").stat().st_uid for pid in pids_of(servers)}
        executable = str(Path(f"/proc/{pids_of(servers)[0]}/exe").readlink())
    assert executable.startswith(str(open_folder))
    assert {path: mode(path) for path in tmp_path.parents} == before  # no folder above was opened


def test_a_run_file_is_believed_only_while_its_lock_is_held(tmp_path: Path) -> None:
    run = embedded.RunFile(pid=os.getpid(), url="http://127.0.0.1:1", pids={"api": [1]})
    embedded.write_run_file(tmp_path, run)
    assert mode(tmp_path / "run.json") == 0o600
    assert embedded.read_run_file(tmp_path) is None
    lock = embedded.DataDirLock(tmp_path)
    lock.acquire()
    assert embedded.read_run_file(tmp_path) == run
    embedded.write_run_file(tmp_path, embedded.RunFile(pid=2**22 + 1))
    assert embedded.read_run_file(tmp_path) is None
    (tmp_path / "run.json").write_text("{not json")
    assert embedded.read_run_file(tmp_path) is None
    lock.release()


def test_a_secret_is_made_once_and_private(tmp_path: Path) -> None:
    first = embedded.read_or_create_secret(tmp_path / "secret")
    assert len(first) >= 40
    assert embedded.read_or_create_secret(tmp_path / "secret") == first
    assert mode(tmp_path / "secret") == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
