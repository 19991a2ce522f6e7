# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for the Docker Engine: one small process that answers for every host of the bench, on a socket of each.

It keeps containers as values and runs nothing in them; `docker exec` runs the command on the host itself. It is strict: a
question that it does not know is answered with status 501 and written to its log, so that nothing is believed by accident.
What an engine answers was read in the Docker Engine API reference, version 1.41.
"""

import asyncio
import hashlib
import json
import re
import resource
import struct
import sys
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

API = "1.41"
VERSION = "20.10.24"
CREATED = "2026-01-01T00:00:00Z"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def identity(*words):
    """Return an id as the engine makes them."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


IMAGE = "taco-lab/training:1"  # the one that each engine has at first
IMAGE_ID = "sha256:" + identity(IMAGE)


def filters(query):
    """Return the filters of a question; the engine takes a list of values or a dictionary with them for keys."""
    return {key: list(values) for key, values in json.loads(query.get("filters", ["{}"])[0]).items()}


class Refusal(Exception):
    """An answer other than success."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Engine:
    """The containers and images of one host. Questions in, (status, value) out."""

    def __init__(self, host):
        self.host = host
        self.containers = {}
        self.names = {IMAGE: IMAGE_ID}  # of images
        self.labels = {IMAGE_ID: {}}  # of each image
        self.executions = {}

    def answer(self, method, path, query, body):
        """Return the status and the value for a question, None as value for none."""
        path = re.sub(r"^/v1\.\d+", "", path)
        for verb, pattern, function in ROUTES:
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                return function(self, *map(unquote, match.groups()), query=query, body=body)
        raise Refusal(501, f"the stand-in for the engine does not know {method} {path}")

    def version(self, query, body):
        return 200, {"Version": VERSION, "ApiVersion": API, "MinAPIVersion": "1.12", "Os": "linux", "Arch": "amd64"}

    def info(self, query, body):
        return 200, {
            "ID": identity(self.host),
            "Name": self.host,
            "ServerVersion": VERSION,
            "DockerRootDir": "/var/lib/docker",
            "Runtimes": {"runc": {"path": "runc"}, "nvidia": {"path": "nvidia-container-runtime"}},
            "DefaultRuntime": "runc",
            "Containers": len(self.containers),
            "ContainersRunning": len(self.containers),
            "OSType": "linux",
            "Swarm": {"LocalNodeState": "inactive"},
        }

    def image(self, name, query, body):
        one = self.names.get(name, name)
        if one not in self.labels:
            raise Refusal(404, f"No such image: {name}")
        return 200, {
            "Id": one,
            "RepoTags": [tag for tag, known in self.names.items() if known == one],
            "RepoDigests": [],
            "Created": CREATED,
            "Config": {"Cmd": ["bash"], "Entrypoint": None, "Env": [PATH], "Labels": self.labels[one], "Volumes": None},
        }

    def commit(self, query, body):
        """An image has the labels of the container that it was committed from."""
        labels = self.containers[self._find(query["container"][0])]["Config"]["Labels"]
        one = "sha256:" + identity(str(len(self.labels)))
        self.labels[one] = labels
        self.names[f"{query['repo'][0]}:{query['tag'][0]}"] = one
        return 201, {"Id": one}

    def images(self, query, body):
        wanted = filters(query).get("reference", list(self.names))
        return 200, [
            {"Id": one, "RepoTags": [name], "RepoDigests": []}
            for name, one in self.names.items()
            if {name, name.split(":")[0]} & set(wanted)
        ]

    def list(self, query, body):
        wanted = filters(query).get("name", [""])
        return 200, [
            {
                "Id": one["Id"],
                "Names": [one["Name"]],
                "Image": one["Config"]["Image"],
                "ImageID": one["Image"],
                "Command": " ".join(one["Config"]["Cmd"] or []),
                "Created": 1767225600,
                "State": one["State"]["Status"],
                "Status": "Up 1 hour" if one["State"]["Running"] else "Created",
                "Ports": [],
                "Labels": {},
            }
            for one in self.containers.values()
            if (one["State"]["Running"] or query.get("all", ["0"])[0].lower() in ("1", "true"))
            and any(name in one["Name"] for name in wanted)
        ]

    def create(self, query, body):
        name = query["name"][0]
        if name in self.containers:
            raise Refusal(409, f'Conflict. The container name "/{name}" is already in use')
        config = {key: value for key, value in body.items() if key not in ("HostConfig", "NetworkingConfig")}
        config["Env"] = [PATH] + [one for one in config.get("Env") or [] if not one.startswith("PATH=")]
        image = self.image(body["Image"], {}, {})[1]
        config["Labels"] = {**image["Config"]["Labels"], **(config.get("Labels") or {})}
        mode = body["HostConfig"].get("NetworkMode") or "default"
        self.containers[name] = {
            "Id": identity(self.host, name),
            "Name": "/" + name,
            "Created": CREATED,
            "Image": image["Id"],
            "State": {"Status": "created", "Running": False, "Paused": False, "ExitCode": 0, "Error": ""},
            "Config": dict({"Cmd": None, "Entrypoint": None}, **config),
            "HostConfig": body["HostConfig"],
            "NetworkSettings": {"Networks": {mode: {"NetworkID": identity(mode), "Aliases": None}}, "Ports": {}},
            "Mounts": [],
        }
        return 201, {"Id": self.containers[name]["Id"], "Warnings": []}

    def _find(self, name):
        for known, one in self.containers.items():
            if name == known or (len(name) >= 12 and one["Id"].startswith(name)):
                return known
        raise Refusal(404, f"No such container: {name}")

    def inspect(self, name, query, body):
        return 200, self.containers[self._find(name)]

    def top(self, name, query, body):
        """Answer as an engine does for a container in which nothing but its own command runs."""
        command = " ".join(self.containers[self._find(name)]["Config"]["Cmd"])
        return 200, {"Titles": ["PID", "STAT", "USER", "COMMAND"], "Processes": [["1", "S", "root", command]]}

    def start(self, name, query, body):
        self.containers[self._find(name)]["State"].update(Status="running", Running=True)
        return 204, None

    def stop(self, name, query, body):
        self.containers[self._find(name)]["State"].update(Status="exited", Running=False)
        return 204, None

    def wait(self, name, query, body):
        """`docker run --detach` begins to wait and takes no notice of the answer."""
        return 200, {"StatusCode": 0}

    def remove(self, name, query, body):
        del self.containers[self._find(name)]
        return 204, None

    def prepare_execution(self, name, query, body):
        one = identity(self.containers[self._find(name)]["Id"], str(len(self.executions)))
        self.executions[one] = {"argv": body["Cmd"], "code": None}
        return 201, {"Id": one}

    def execution(self, one, query, body):
        code = self.executions[one]["code"]
        return 200, {"ID": one, "Running": code is None, "ExitCode": code, "Pid": 0}


ROUTES = [
    ("GET", "/version", Engine.version),
    ("GET", "/info", Engine.info),
    ("GET", "/images/json", Engine.images),
    ("GET", "/images/(.+)/json", Engine.image),
    ("POST", "/commit", Engine.commit),
    ("GET", "/containers/json", Engine.list),
    ("POST", "/containers/create", Engine.create),
    ("GET", "/containers/([^/]+)/json", Engine.inspect),
    ("GET", "/containers/([^/]+)/top", Engine.top),
    ("POST", "/containers/([^/]+)/start", Engine.start),
    ("POST", "/containers/([^/]+)/stop", Engine.stop),
    ("POST", "/containers/([^/]+)/wait", Engine.wait),
    ("DELETE", "/containers/([^/]+)", Engine.remove),
    ("POST", "/containers/([^/]+)/exec", Engine.prepare_execution),
    ("GET", "/exec/([^/]+)/json", Engine.execution),
]


def frame(stream, data):
    """Return output as the engine sends it over a connection that it took over: 1 for stdout, 2 for stderr."""
    return struct.pack(">BxxxI", stream, len(data)) + data if data else b""


def response(status, value):
    """Return the bytes of an answer."""
    body = b"" if value is None else json.dumps(value).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nApi-Version: {API}\r\nOstype: linux\r\nServer: stand-in\r\n"
    )
    if status != 204:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def read_request(reader):
    """Return method, path, query, headers and body of the next request, None when there is none."""
    line = await reader.readline()
    if not line.strip():
        return None
    method, target, _version = line.decode().split()
    headers = {}
    while True:
        line = (await reader.readline()).decode().strip()
        if not line:
            break
        name, value = line.split(":", 1)
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            size = int((await reader.readline()).split(b";")[0], 16)
            body += await reader.readexactly(size)
            await reader.readline()
            if not size:
                break
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    return method, url.path, parse_qs(url.query), headers, body


async def execute(engine, one, pid_file, writer):
    """Run a command on the host and send its output as the engine does."""
    upgrade = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    writer.write(upgrade.encode())
    known = engine.executions[one]
    process = await asyncio.create_subprocess_exec(
        "nsenter",
        *("--target", pid_file.read_text().strip(), "--mount", "--uts", "--net", "--wd=/", "--", *known["argv"]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    known["code"] = process.returncode
    writer.write(frame(1, out) + frame(2, error))
    await writer.drain()


async def serve(engine, pid_file, reader, writer):
    """Answer the questions of one connection."""
    try:
        while True:
            request = await read_request(reader)
            if request is None:
                break
            method, path, query, _headers, body = request
            started = re.fullmatch(r"(?:/v1\.\d+)?/exec/([^/]+)/start", path)
            if started and method == "POST":
                await execute(engine, started.group(1), pid_file, writer)
                break
            if path.endswith("/_ping"):
                writer.write(response(200, None) if method == "HEAD" else response(200, "OK"))
            else:
                try:
                    writer.write(response(*engine.answer(method, path, query, json.loads(body or b"{}"))))
                except Refusal as refusal:
                    if refusal.status == 501:
                        print(engine.host, method, path, query, file=sys.stderr, flush=True)
                    writer.write(response(refusal.status, {"message": str(refusal)}))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def run(folders):
    """Serve every host, given as the folders that hold its pid and its socket."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for folder in folders:
        engine = Engine(folder.parent.name)

        def handler(reader, writer, engine=engine, pid_file=folder / "pid"):
            return serve(engine, pid_file, reader, writer)

        await asyncio.start_unix_server(handler, str(folder / "docker.sock"))
    print("serving", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(run([Path(name) for name in sys.argv[1:]]))
