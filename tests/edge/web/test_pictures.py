"""The pictures of the README are those that the script takes, and light enough for a clone and a slow line."""

from __future__ import annotations

import re
from pathlib import Path

from tests.edge.web.pictures import MAX_BYTES, names

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "pictures"


def test_the_readme_shows_each_picture_in_both_schemes():
    shown = re.findall(r'(?:src|srcset)="deploy/pictures/([^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(names()) == sorted(path.name for path in FOLDER.iterdir())


def test_each_picture_is_light():
    for path in FOLDER.iterdir():
        data = path.read_bytes()
        assert len(data) <= MAX_BYTES, path.name
        assert (data[:4], data[8:12]) == (b"RIFF", b"WEBP"), path.name
