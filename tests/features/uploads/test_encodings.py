"""Files in the encodings of old, and mails that say something else than they hold, are read as they were written."""

from __future__ import annotations

import base64
import quopri

import pytest

from app.features.uploads import converting
from app.store.readers import Unreadable

SAID = "Mr Müller wohnt in Köln"


def read(kind, body):
    return converting.convert({"kind": kind}, body)


def mail(head, body, subject=b"Log"):
    lines = [b"From: a@example.com", b"To: b@example.com", b"Subject: " + subject, b"MIME-Version: 1.0", *head]
    return b"\r\n".join([*lines, b"", body, b""])


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_text_tables_and_pages_are_read_in_any_encoding(encoding):
    assert read("txt", SAID.encode(encoding))["content"] == SAID
    assert "| Zoë | Köln |" in read("csv", "Name,Ort\nZoë,Köln\n".encode(encoding))["content"]
    assert read("csv", "Größe\n1\n".encode(encoding))["content"].startswith("| Größe |")
    found = read("html", f"<html><head><title>Größe</title></head><body><p>{SAID}</p></body></html>".encode(encoding))
    assert found == {"content": SAID + "\n", "title": "Größe"}


def test_a_page_in_the_charset_that_it_names():
    page = '<html><head><meta charset="koi8-r"><title>x</title></head><body><p>Я люблю книги</p></body></html>'
    assert read("html", page.encode("koi8-r"))["content"] == "Я люблю книги\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-32"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("html", f"<html><head><title>Log</title></head><body><p>{SAID}</p></body></html>"),
        ("html", f"<p>{'今天天气非常好' * 9}</p>"),
        ("csv", "Name,Ort\nZoë,Köln\n"),
        ("csv", "名,地\n今天天气非常好,北京\n"),
        ("tsv", "Name\tOrt\nZoë\tKöln\n"),
    ],
)
def test_two_or_four_bytes_a_letter_without_a_mark_are_no_text(kind, said, encoding):
    with pytest.raises(Unreadable, match="no text in a known encoding"):
        read(kind, said.encode(encoding))


def test_a_stray_nul_is_borne_with():
    page = f"<p>{SAID}</p>" * 9
    assert read("html", b"\0" + page.encode())["content"].count(SAID) == 9


PLAIN = b"Content-Type: text/plain; charset=%s"
EIGHT = b"Content-Transfer-Encoding: 8bit"
QUOTED = b"Content-Transfer-Encoding: quoted-printable"
OLD = SAID.encode("cp1252")
PARTS = b"--B\r\n%s\r\n%s\r\n\r\n%s\r\n--B\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>%s</p>\r\n--B--"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ([PLAIN % b"utf-8", EIGHT], OLD),
        ([PLAIN % b"us-ascii", EIGHT], OLD),
        ([PLAIN % b"iso-8859-1", EIGHT], OLD),
        ([PLAIN % b"no-such", EIGHT], OLD),
        ([PLAIN % b"utf-8", QUOTED], b"Mr M=FCller wohnt in K=F6ln"),
        ([b"Content-Type: text/html; charset=utf-8", EIGHT], b"<p>" + OLD + b"</p>"),
        ([b"Content-Type: multipart/alternative; boundary=B"], PARTS % (PLAIN % b"utf-8", EIGHT, OLD, OLD)),
        ([], OLD),
        ([], SAID.encode()),
    ],
)
def test_a_part_of_a_mail_in_another_charset_than_it_says(head, body):
    assert SAID in read("eml", mail(head, body))["content"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_a_subject_that_is_not_encoded(encoding):
    found = read("eml", mail([], b"Hello", "Grüße aus Köln".encode(encoding)))
    assert found["title"] == "Grüße aus Köln"
    assert "**Subject**: Grüße aus Köln" in found["content"]


FAR = {
    "Shift_JIS": "今日はとても良い天気です",
    "EUC-JP": "私の名前は田中です。",
    "ISO-2022-JP": "私の名前は田中です。",
    "GB2312": "今天天气非常好",
    "Big5": "今天天氣非常好",
    "EUC-KR": "오늘은 날씨가 매우 좋습니다",
    "latin-1": SAID,
}
WAYS = {"8bit": bytes, "base64": base64.encodebytes, "quoted-printable": quopri.encodestring}


def word(text, charset):
    return f"=?{charset}?B?{base64.b64encode(text).decode()}?=".encode()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["%s", "<p>%s</p>"])
@pytest.mark.parametrize("charset", FAR)
def test_a_mail_in_the_charset_that_it_names(charset, form, way):
    said = FAR[charset]
    kind = "text/html" if "<" in form else "text/plain"
    head = [f"Content-Type: {kind}; charset={charset}".encode(), f"Content-Transfer-Encoding: {way}".encode()]
    found = read("eml", mail(head, WAYS[way]((form % said).encode(charset)), word(said.encode(charset), charset)))
    assert found["title"] == said
    assert f"**Subject**: {said}\n" in found["content"]
    assert said in found["content"].partition("**From**")[2]


def test_a_mail_in_a_charset_by_the_name_that_windows_gives_it():
    said = FAR["Shift_JIS"]
    body = said.encode("cp932")
    found = read("eml", mail([PLAIN % b"Windows-31J", EIGHT], body, word(body, "Windows-31J")))
    assert found["title"] == said
    assert said in found["content"].partition("**From**")[2]


def test_a_subject_in_many_words_of_which_one_ends_within_a_letter():
    said = FAR["Shift_JIS"] * 5
    raw = said.encode("cp932")
    subject = b"\r\n ".join(word(raw[at : at + 31], "Shift_JIS") for at in range(0, len(raw), 31))
    found = read("eml", mail([], b"Hello", b"Re: " + subject + b" (2)"))
    assert found["title"] == f"Re: {said} (2)"


def test_a_subject_that_is_no_base64_changes_nothing_else():
    found = read("eml", mail([PLAIN % b"Shift_JIS", EIGHT], FAR["Shift_JIS"].encode("cp932"), b"=?Shift_JIS?B?a?="))
    assert FAR["Shift_JIS"] in found["content"]
