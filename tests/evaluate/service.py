"""The product under evaluation: it is loaded and asked over HTTP."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx2

from app.features.search.service import UNRANKED
from tests.evaluate.baselines import DEPTH
from tests.evaluate.data import Passage, Question, Task, Workspace

BATCH = 100
MAX_PASSAGES = 50
MAX_QUESTION = 2000
UNTITLED = "Untitled"
"""The title of what has none: an id such as `state_of_the_union#62` is made of words, which titles count twice."""


class Service:
    """One workspace of the service."""

    name = "service"

    def __init__(self, client: httpx2.Client, loaded: dict[str, Any] | None = None) -> None:
        """Use a workspace; `loaded` is what `state` gave when it was loaded before."""
        self.client = client
        self.state: dict[str, Any] = loaded or {"ids": {}, "collections": {}}
        self.seconds: list[float] = []

    def load(self, workspace: Workspace) -> None:
        """Write the documents."""
        items = [
            {
                "op": "create",
                "title": row.get("title") or UNTITLED,
                "content": row["text"],
                "tags": [row["group"]] if row.get("group") else [],
            }
            for row in workspace.stored
        ]
        for start in range(0, len(items), BATCH):
            rows = workspace.stored[start : start + BATCH]
            body = {"items": items[start : start + BATCH]}
            for row, made in zip(rows, self._post("/v1/documents:batch", body), strict=True):
                assert made["status"] == httpx2.codes.CREATED, made
                self.state["ids"][made["data"]["id"]] = row["id"]
        if workspace.collections:
            self._collect(workspace)

    def _collect(self, workspace: Workspace) -> None:
        ids = {stored: document for document, stored in self.state["ids"].items()}
        for group in sorted({row["group"] for row in workspace.stored}):
            made = self._post("/v1/collections", {"name": group})
            members = [ids[row["id"]] for row in workspace.stored if row["group"] == group]
            self._post(f"/v1/collections/{made['id']}/items", {"itemIds": members, "itemType": "document"})
            self.state["collections"][group] = made["id"]

    def wait(self) -> None:
        """Wait until everything is indexed."""
        while self._pending():
            time.sleep(1)

    def _pending(self) -> int:
        answer = self.client.get("/v1/search", params={"q": "x", "semantic": "false", "limit": 1})
        return int(answer.raise_for_status().json()["meta"]["pending"])

    def rank(self, task: Task, question: Question) -> list[str]:
        """Order what a task is about for a question, best first."""
        began = time.perf_counter()
        text = question.text[:MAX_QUESTION]
        if task.place is None:
            ranked = self._documents(text, question.group)
        else:
            ranked = [unit for passage in self._passages(text, question.group) for unit in task.place(passage)]
        self.seconds.append(time.perf_counter() - began)
        return ranked

    def _documents(self, text: str, group: str | None) -> list[str]:
        params: dict[str, str | int] = {"q": text, "type": "documents", "limit": DEPTH, "tags": group or ""}
        answer = self.client.get("/v1/search", params=params).raise_for_status().json()
        _require_reranker(answer["meta"])
        hits = answer["data"]["documents"]
        return [self.state["ids"][one["documentId"]] for hit in hits for one in (hit, *hit.get("copies", ()))]

    def _passages(self, text: str, group: str | None) -> list[Passage]:
        body = {"query": text, "limit": MAX_PASSAGES, "collectionId": self.state["collections"].get(group)}
        found = self._post("/v1/pd/search", {name: value for name, value in body.items() if value is not None})
        _require_reranker(found["meta"])
        return [Passage(self.state["ids"][hit["documentId"]], hit["content"]) for hit in found["results"]]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self.client.post(path, json=body).raise_for_status().json()["data"]


def _require_reranker(meta: dict[str, Any]) -> None:
    """Refuse what a reranker that failed left in the search's own order."""
    if UNRANKED in (notice := meta.get("notice") or ""):
        raise RuntimeError(notice)


class Kept:
    """What a folder remembers of workspaces that were loaded there: keys and ids."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "evaluated.json"
        self._known = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}

    def get(self, name: str) -> dict[str, Any] | None:
        """Give what was put."""
        found: dict[str, Any] | None = self._known.get(name)
        return found

    def put(self, name: str, value: dict[str, Any]) -> None:
        """Remember."""
        self._known[name] = value
        self._file.write_text(json.dumps(self._known), encoding="utf-8")
