# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in for the Docker Engine: what it answers, and that it refuses what it does not know."""

import asyncio
import json

import pytest
from bench import engine

BODY = {
    "Image": engine.IMAGE,
    "Cmd": ["sleep", "infinity"],
    "Env": ["A=1"],
    "HostConfig": {"NetworkMode": "host", "Privileged": True},
}


@pytest.fixture
def ask():
    """Return a function that asks one engine."""
    one = engine.Engine("bench000")

    def ask(method, path, body=None, **query):
        return one.answer(method, path, {key: [value] for key, value in query.items()}, body or {})

    return ask


def test_a_container_is_what_it_was_created_as(ask):
    assert ask("GET", "/v1.41/containers/json") == (200, [])
    status, created = ask("POST", "/v1.41/containers/create", BODY, name="box")
    assert status == 201
    assert ask("GET", "/containers/json") == (200, []), "it does not run yet"
    assert ask("POST", f"/v1.41/containers/{created['Id']}/start") == (204, None)
    assert ask("POST", "/containers/box/wait", condition="next-exit") == (200, {"StatusCode": 0})
    _status, found = ask("GET", "/v1.41/containers/box/json")
    assert found["State"]["Running"] and found["HostConfig"] == BODY["HostConfig"]
    assert found["Config"]["Cmd"] == BODY["Cmd"] and "A=1" in found["Config"]["Env"]
    (listed,) = ask("GET", "/containers/json", filters='{"name": {"box": true}}')[1]
    assert listed["Id"] == created["Id"]
    assert ask("GET", "/containers/json", filters='{"name": ["other"]}') == (200, [])
    assert (
        ask("POST", "/containers/box/stop") == (204, None)
        and not ask("GET", "/containers/box/json")[1]["State"]["Running"]
    )
    assert ask("DELETE", "/containers/box") == (204, None)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/containers/box/json", 404),
        ("GET", "/images/other:1/json", 404),
        ("POST", "/images/create", 501),
        ("GET", "/containers/box/logs", 501),
        ("PUT", "/version", 501),
    ],
)
def test_what_is_not_there_and_what_it_does_not_know_is_refused(ask, method, path, status):
    with pytest.raises(engine.Refusal) as refused:
        ask(method, path)
    assert refused.value.status == status


def test_a_name_is_taken_once(ask):
    ask("POST", "/containers/create", BODY, name="box")
    with pytest.raises(engine.Refusal) as refused:
        ask("POST", "/containers/create", BODY, name="box")
    assert refused.value.status == 409


def test_images_are_found_by_name_with_and_without_tag(ask):
    for reference in (engine.IMAGE, engine.IMAGE.split(":")[0]):
        assert len(ask("GET", "/images/json", filters=json.dumps({"reference": [reference]}))[1]) == 1
    assert ask("GET", "/images/json", filters='{"reference": ["other"]}') == (200, [])
    assert ask("GET", "/images/" + engine.IMAGE + "/json")[1]["Id"] == engine.IMAGE_ID


def test_output_of_an_execution_is_framed():
    assert engine.frame(1, b"hi") == b"\x01\x00\x00\x00\x00\x00\x00\x02hi"
    assert engine.frame(2, b"") == b""


@pytest.mark.parametrize(
    "text",
    [
        b"POST /v1.41/x?a=1 HTTP/1.1\r\nHost: d\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1.41/x?a=1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_requests_are_read_with_either_kind_of_body(text):
    async def read():
        reader = asyncio.StreamReader()
        reader.feed_data(text)
        reader.feed_eof()
        return await engine.read_request(reader), await engine.read_request(reader)

    (method, path, query, _headers, body), after = asyncio.run(read())
    assert (method, path, query, body, after) == ("POST", "/v1.41/x", {"a": ["1"]}, b"{}", None)
