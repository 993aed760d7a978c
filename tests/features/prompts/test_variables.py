"""Variables: found in the text or declared, validated, compared, filled in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.prompts.schemas import MAX_VARIABLES, Variable, VariableType
from app.features.prompts.service import MAX_FILLED, names_in, render
from app.kit.errors import InvalidRequest
from tests.contract.requirements import proves

NAMES = ["a", "b", "_x1", "Name"]


def url_of(prompt):
    return f"/v1/prompts/{prompt['id']}"


def names_of(data):
    return [variable["name"] for variable in data["variables"]]


def codes(data):
    return {warning["code"]: warning["fields"] for warning in data.get("warnings", [])}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("${a} and ${b}, ${a}", ["a", "b"]),
        ("$${a}", ["a"]),
        ("${_x1}${X}", ["_x1", "X"]),
        ("{{a}} {a} $a ${} ${ a } ${a b} ${1a} ${a-b} ${a:-c} ${é} ${a", []),
        ("${" + "n" * 64 + "}", ["n" * 64]),
        ("${" + "n" * 65 + "}", []),
        ("${${a}}", ["a"]),
    ],
)
@proves("PRM-VARS")
def test_names_are_found_where_they_are_exactly_written(text, names):
    assert names_in(text) == names


@proves("PRM-VARS")
async def test_undeclared_prompts_take_the_variables_of_their_text(alice, make):
    made = await make.prompt(alice.client, content="${a} ${b} ${a}")
    assert made["variables"] == [{"name": "a", "type": "string"}, {"name": "b", "type": "string"}]
    assert "warnings" not in made
    changed = (await alice.client.patch(url_of(made), json={"content": "${c}"})).json()["data"]
    assert (names_of(changed), changed.get("warnings")) == (["c"], None)
    listed = (await alice.client.get("/v1/prompts")).json()["data"][0]
    assert names_of(listed) == ["c"]


@proves("PRM-VARS", "PRM-DRIFT")
async def test_declared_variables_stay_and_their_drift_is_told(alice, make):
    declared = [{"name": "a", "type": "number", "description": "How many"}, {"name": "z"}]
    made = await make.prompt(alice.client, content="${a} ${b}", variables=declared)
    assert made["variables"] == [declared[0], {"name": "z", "type": "string"}]
    assert codes(made) == {"VARIABLE_UNDECLARED": ["b"], "VARIABLE_UNUSED": ["z"]}
    read = (await alice.client.get(url_of(made))).json()["data"]
    assert (read["variables"], codes(read)) == (made["variables"], codes(made))
    changed = (await alice.client.patch(url_of(made), json={"content": "${a} ${z}"})).json()["data"]
    assert (changed["variables"], codes(changed)) == (made["variables"], {})
    restored = await alice.client.post(f"{url_of(made)}/restore", json={"versionId": made["versionId"]})
    assert codes(restored.json()["data"]) == codes(made)
    none = (await alice.client.patch(url_of(made), json={"variables": []})).json()["data"]
    assert (none["variables"], codes(none)) == ([], {"VARIABLE_UNDECLARED": ["a", "b"]})


@pytest.mark.parametrize(
    "variables",
    [
        [{"name": "1a"}],
        [{"name": "a b"}],
        [{"name": "a\n"}],
        [{"name": ""}],
        [{"name": "n" * 65}],
        [{"name": "a", "type": "colour"}],
        [{"name": "a"}, {"name": "a", "type": "number"}],
        [{"name": "a", "default": 1}],
        [{"type": "string"}],
        ["a"],
        "a",
        7,
        [{"name": f"n{n}"} for n in range(MAX_VARIABLES + 1)],
    ],
    ids=repr,
)
@proves("PRM-VARS")
async def test_a_wrong_declaration_is_refused(alice, make, variables):
    sent = {"title": "T", "description": "D", "content": "${a}", "variables": variables}
    assert (await alice.client.post("/v1/prompts", json=sent)).status_code == 400
    made = await make.prompt(alice.client)
    answer = await alice.client.patch(url_of(made), json={"variables": variables})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"].startswith("variables")


@proves("PRM-DRIFT")
async def test_a_text_with_more_variables_than_can_be_declared_says_so(alice, make):
    made = await make.prompt(alice.client, content="".join(f"${{n{number}}}" for number in range(1_000)))
    assert (len(made["variables"]), codes(made)) == (MAX_VARIABLES, {"VARIABLES_CUT": []})


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", ["", "x", "${a}"], []),
        ("number", ["1", "-1.5e3"], ["", "x", "true", "NaN", "-Infinity", '"1"', "[1]"]),
        ("integer", ["1", "-7"], ["1.5", "x", "false"]),
        ("boolean", ["true", "false"], ["1", "True", "yes"]),
        ("array", ["[]", '["a"]'], ["{}", "a", "[" * 100_000]),
        ("object", ["{}", '{"a": 1}'], ["[]", "{a}"]),
    ],
)
@proves("PRM-VARS")
def test_a_value_must_be_of_its_type(kind, good, bad):
    variables = [Variable(name="a", type=VariableType(kind))]
    for value in good:
        assert render("<${a}>", variables, {"a": value}) == f"<{value}>"
    for value in bad:
        with pytest.raises(InvalidRequest, match=r"^a: "):
            render("<${a}>", variables, {"a": value})


@proves("PRM-NATIVE-GET")
def test_values_cannot_blow_a_text_up():
    variables = [Variable(name="a")]
    text = "${a}" * 100_000
    assert len(render(text, variables, {"a": "x" * 100})) == MAX_FILLED - 485_760
    with pytest.raises(InvalidRequest, match="longer than"):
        render(text, variables, {"a": "x" * 105})
    assert render("x" * (MAX_FILLED + 1) + "${a}", variables, {"a": ""}) == "x" * (MAX_FILLED + 1)


LITERALS = st.one_of(
    st.text(max_size=20).filter(lambda text: "$" not in text),
    st.sampled_from(["{{x}}", '{"a": {"b": [1]}}', "${y}", "${}", "${a ", "$$", "$a", "\r\n", "${a:-b}", "\\${", "\0"]),
)
PLACES = st.sampled_from(NAMES).map(lambda name: ("place", name))
PARTS = st.lists(st.one_of(LITERALS, PLACES), max_size=12)
VALUES = st.dictionaries(st.sampled_from([*NAMES, "y"]), st.one_of(st.text(max_size=20), st.just("${a}${b}")))


@proves("PRM-NATIVE-GET")
@given(PARTS, VALUES, st.sets(st.sampled_from(NAMES)))
def test_only_declared_variables_with_a_value_are_replaced_and_every_other_byte_stays(parts, values, declared):
    # A `$` before a place belongs to the text; a part that could join its neighbour to a place is kept apart.
    written = [part if isinstance(part, str) else f"${{{part[1]}}}" for part in parts]
    expected = [
        values[part[1]] if isinstance(part, tuple) and part[1] in declared and part[1] in values else text
        for part, text in zip(parts, written, strict=True)
    ]
    content = "\u2028".join(written)
    variables = [Variable(name=name) for name in sorted(declared)]
    assert render(content, variables, values) == "\u2028".join(expected)
    assert render(content, variables, {}) == content
    assert render(content, [], values) == content


@proves("PRM-NATIVE-GET")
@given(st.text(), st.text())
def test_a_text_around_a_place_is_kept_byte_for_byte(before, after):
    assert (
        render(f"{before}${{a}}{after}", [Variable(name="a")], {"a": "\\1 \\g<0> ${a}"}).count("\\1 \\g<0> ${a}") >= 1
    )
    if "${a}" not in before + after:
        assert render(f"{before}${{a}}{after}", [Variable(name="a")], {"a": "V"}) == f"{before}V{after}"
