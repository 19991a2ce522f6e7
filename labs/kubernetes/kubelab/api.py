# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API over HTTP, on the server of kmock (https://github.com/nolar/kmock).

kmock has the server, the request and the collecting of errors. What it answers with is ours: its emulator of Kubernetes
knows neither selectors nor conflicts, and answers errors with objects that clients don't take for those of Kubernetes.
"""

import asyncio
import json
import time
import traceback

import aiohttp.test_utils
import aiohttp.web
import kmock

from kubelab import certificates, control, discovery, faults, rbac, reviews, status, verbs

WATCH_SECONDS = 300
WATCH_STEP = 0.02
# Of a command over a websocket (k8s.io/kubelet, remotecommand/websocket.go).
EXEC_PROTOCOL = "v4.channel.k8s.io"
STDOUT, STDERR, ENDED = 1, 2, 3


def server(api, host, port, context):
    """Return a server of this API that speaks TLS, which kmock's own doesn't."""

    class Secured(aiohttp.test_utils.RawTestServer):
        async def start_server(self, loop=None, **options):
            await super().start_server(loop, ssl=context, **options)

    return kmock.Server(api, host, port, Secured)


class Api(kmock.RawHandler):
    """Answers requests from a storage."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster

    async def __call__(self, raw_request):
        """Cut the connection where a fault says so: before the request has an effect, or after it."""
        path = str(raw_request.rel_url)
        fault = self.cluster.faults.next(raw_request.method, path)
        if fault is not None and fault.act:
            try:
                fault.act()
            except Exception:
                self.cluster.record_error()
            fault = None
        if fault is None:
            return await super().__call__(raw_request)
        if fault.body == faults.DISCONNECT:
            raw_request.transport.abort()
            answer = aiohttp.web.Response(status=500)
        elif fault.body == faults.DISCONNECT_AFTER:
            answer = await super().__call__(raw_request)
            raw_request.transport.abort()
            return answer
        else:
            answer = self._refusal(faults.refusal(fault))
        self.cluster.record(
            raw_request.method, raw_request.path, 0 if fault.body == faults.DISCONNECT else fault.status
        )
        return answer

    async def _handle(self, request):
        method, path = request.method.value, request.url.path
        try:
            answer = await self._answer(method, path, request)
        except status.Refused as refused:
            answer = self._refusal(refused)
        except ConnectionError:
            answer = self._refusal(status.plain(500))  # who asked has gone
        except Exception:
            self.cluster.record_error()
            answer = self._refusal(status.plain(500, traceback.format_exc(limit=3)))
        if not path.startswith("/kubelab/"):
            self.cluster.record(method, path, answer.status)
        return answer

    @staticmethod
    def _refusal(refused):
        return aiohttp.web.json_response(refused.body, status=refused.code, headers=refused.headers)

    def _user(self, request):
        """Return the account of a request, by its token or the certificate of its client."""
        certificate = request._raw_request.get_extra_info("peercert")
        user = self.cluster.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        user = user or certificates.user_of(certificate, time.time())
        if user is None:
            raise status.plain(401)
        return user

    async def _answer(self, method, path, request):
        user = self._user(request)
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["kubelab"] and len(parts) == 2 and user == rbac.ADMIN:
            return aiohttp.web.json_response(control.perform(self.cluster, parts[1], self._body(request)))
        resources = self.cluster.resources
        if method == "GET" and (len(parts) < 3 or (len(parts) == 3 and parts[0] == "apis")):
            found = discovery.answer(parts, resources)
            if found is not None:
                return aiohttp.web.json_response(found)
        target = verbs.target(parts, resources)
        options = verbs.Options(dict(request.params), self._body(request), request.headers.get("Content-Type", ""))
        verb = verbs.verb(method, target, options)
        if target.resource in reviews.RESOURCES:
            return aiohttp.web.json_response(
                reviews.answer(self.cluster, user, target.resource, options.body), status=201
            )
        self.cluster.require_permission(user, verb, target)
        if verb == "watch":
            return await self._watch(request, target, options)
        if target.subresource == "exec" and request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._exec(request, verbs.perform(self.cluster, verb, target, options)[1]["argv"])
        if target.subresource == "log":
            # The log may come from a container, and whoever waits for it must not keep the others waiting.
            text = await asyncio.get_running_loop().run_in_executor(None, verbs.log, self.cluster, target, options)
            return aiohttp.web.Response(text=text, content_type="text/plain")
        code, answer = verbs.perform(self.cluster, verb, target, options)
        return aiohttp.web.json_response(answer, status=code)

    @staticmethod
    def _body(request):
        if not request.body:
            return None
        try:
            body = json.loads(request.body)
        except ValueError as error:
            raise status.bad_request(f"the object provided is unrecognized: {error}") from error
        if not isinstance(body, dict):
            raise status.bad_request("the object provided is unrecognized (must be of type object)")
        return body

    @staticmethod
    async def _exec(request, argv):
        """Run a command in a container and send its output and how it ended, each in its channel."""
        raw = request._raw_request
        process = await asyncio.create_subprocess_exec(
            *argv,
            *raw.query.getall("command", []),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        response = aiohttp.web.WebSocketResponse(protocols=(EXEC_PROTOCOL,))
        await response.prepare(raw)
        for channel, data in ((STDOUT, stdout), (STDERR, stderr), (ENDED, status.of_command(process.returncode))):
            if data:
                await response.send_bytes(bytes([channel]) + data)
        await response.close()
        return response

    async def _watch(self, request, target, options):
        """Send what changes from a version on, until the time of the request is over."""
        storage, params = self.cluster.storage, options.params
        first = (
            [("ADDED", thing) for thing in verbs.listed(storage, target, params)]
            if not params.get("resourceVersion")
            else []
        )
        since = int(params.get("resourceVersion") or storage.version())
        response = aiohttp.web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request._raw_request)
        loop = asyncio.get_running_loop()
        end = loop.time() + min(float(params.get("timeoutSeconds") or WATCH_SECONDS), WATCH_SECONDS)
        try:
            for kind, thing in first:
                await response.write(json.dumps({"type": kind, "object": thing}).encode() + b"\n")
            while loop.time() < end and not self.cluster.stopping.is_set():
                found, since = verbs.changes(storage, target, params, since)
                for kind, thing in found:
                    await response.write(json.dumps({"type": kind, "object": thing}).encode() + b"\n")
                await asyncio.sleep(WATCH_STEP)
            await response.write_eof()
        except status.Refused as refused:
            # As a real server: the request was accepted, so the refusal is an event.
            await response.write(json.dumps({"type": "ERROR", "object": refused.body}).encode() + b"\n")
            await response.write_eof()
        except ConnectionError:
            pass  # who watched has gone
        return response
