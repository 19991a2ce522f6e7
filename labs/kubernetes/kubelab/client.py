# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to the API by the doubles of kubectl and Arena, with nothing that takes long to import."""

import base64
import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request

import yaml


class ApiError(Exception):
    """The API's refusal, in its own words."""

    def __init__(self, message, code=0, reason=""):
        super().__init__(message)
        self.code = code
        self.reason = reason


class Client:
    def __init__(self, path=None, context=None, namespace=None):
        path = path or os.environ.get("KUBECONFIG") or os.path.expanduser("~/.kube/config")
        try:
            with open(path, encoding="utf-8") as handle:
                config = yaml.safe_load(handle)
        except OSError as error:
            raise ApiError(f"stat {path}: {error.strerror.lower()}") from error
        wanted = context or config.get("current-context")
        found = [one["context"] for one in config.get("contexts") or [] if one["name"] == wanted]
        if not found:
            raise ApiError(f'context "{wanted}" does not exist')
        cluster = next(one["cluster"] for one in config["clusters"] if one["name"] == found[0]["cluster"])
        user = next(one["user"] for one in config["users"] if one["name"] == found[0]["user"])
        self.server = cluster["server"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.tls = ssl.create_default_context(cadata=authority)
        self.token = user["token"]
        self.namespace = namespace or found[0].get("namespace") or "default"

    def __call__(self, method, path, body=None, **params):
        query = "?" + urllib.parse.urlencode(params) if params else ""
        request = urllib.request.Request(
            self.server + path + query, method=method, data=None if body is None else json.dumps(body).encode()
        )
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        # No proxy of the machine's: the API is on this one.
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.tls)
        )
        try:
            with opener.open(request, timeout=60) as answer:
                data = answer.read()
                kind = answer.headers.get_content_type()
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                found = json.loads(text)
            except ValueError:
                found = {"message": text.decode(errors="replace")}
            raise ApiError(found.get("message", ""), error.code, found.get("reason", "")) from error
        except OSError as error:
            address = self.server.split("//")[-1]
            raise ApiError(
                f"The connection to the server {address} was refused - did you specify the right host or port?"
            ) from error
        return json.loads(data) if kind == "application/json" else data.decode()
