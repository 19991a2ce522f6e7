#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: package_repository
short_description: Add a package repository unless the host has it already
version_added: 1.0.0
description:
  - Uses an existing repository with this URL, in any file and format and with any key. A second entry for the same URL with another key
    would make apt fail.
  - Otherwise writes one file and the key, updates the index, and removes both again when the update fails.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  name:
    description: Name of the file and of the key, and for yum of the repository. No other file has it.
    type: str
    required: true
  family:
    description: The family of the package manager, V(debian) or V(redhat).
    type: str
    choices: [debian, redhat]
    required: true
  url:
    description: URL of the repository.
    type: str
    required: true
  suite:
    description: Suite of a repository of apt, V(/) for one without suites.
    type: str
    default: /
  components:
    description: Components of a repository of apt.
    type: list
    elements: str
    default: []
  release:
    description: The value of C($releasever) in existing files of yum.
    type: str
    default: ""
  key_url:
    description: URL of the key. It is passed to yum.
    type: str
    required: true
  gpgcheck:
    description: Whether yum verifies each package. The index is verified otherwise.
    type: bool
    default: true
  root:
    description: Folder below which the package manager's configuration is.
    type: path
    default: /
  update_command:
    description: The command that updates the index. That of the package manager when not set.
    type: list
    elements: str
seealso:
  - module: ansible.builtin.apt_repository
  - module: ansible.builtin.yum_repository
"""

EXAMPLES = r"""
- name: Add the package repository of Docker
  taco.train.package_repository:
    name: taco-train-docker
    family: debian
    url: https://download.docker.com/linux/ubuntu
    suite: jammy
    components: [stable]
    key_url: https://download.docker.com/linux/ubuntu/gpg
"""

RETURN = r"""
file:
  description: The file that lists the repository.
  returned: success
  type: str
  sample: /etc/apt/sources.list.d/taco-train-docker.list
"""

import glob
import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import (
    FileError,
    read_bytes,
    remove_file,
    replace_file,
)
from ansible_collections.taco.train.plugins.module_utils._files.download import open_url, read_url
from ansible_collections.taco.train.plugins.module_utils._node.repositories import (
    complaints,
    failed_for,
    find_apt,
    find_yum,
)
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed

UPDATE_SECONDS = 600
KEY_SECONDS = 60
LARGEST_KEY = 1024 * 1024
FILES = {
    "debian": ["etc/apt/sources.list", "etc/apt/sources.list.d/*.list", "etc/apt/sources.list.d/*.sources"],
    "redhat": ["etc/yum.conf", "etc/yum.repos.d/*.repo"],
}
UPDATE = {"debian": ["apt-get", "update"], "redhat": ["yum", "makecache"]}


class RepositoryError(Exception):
    """The repository can't be added."""


class UpdateError(RepositoryError):
    """The package manager can't update its index."""


def configuration(options):
    """Return {path: text} of the package manager's files."""
    found = {}
    for pattern in FILES[options["family"]]:
        for path in glob.glob(os.path.join(glob.escape(options["root"]), pattern)):
            content = read_bytes(path)
            # None is a link to nowhere, which the package manager passes over.
            if content is not None:
                found[path] = content.decode("utf-8", "replace")
    return found


def entry(options, key):
    """Return the text of our file."""
    if options["family"] == "debian":
        words = ["deb", f"[signed-by={key}]", options["url"], options["suite"]]
        return " ".join(words + options["components"]) + "\n"
    checks = "gpgcheck=1" if options["gpgcheck"] else "gpgcheck=0\nrepo_gpgcheck=1"
    return f"[{options['name']}]\nname={options['name']}\nbaseurl={options['url']}\n{checks}\ngpgkey={options['key_url']}\n"


def fetch_key(url):
    """Return the bytes of the key."""
    try:
        return read_url(url, LARGEST_KEY, open_url, timeout=KEY_SECONDS)
    except (OSError, ValueError) as error:
        raise RepositoryError(f"the key {url} can't be downloaded: {error}") from error


def update(options):
    """Raise with the package manager's own words unless it has the index of the repository."""
    command = options["update_command"] or UPDATE[options["family"]]
    done = run_timed(command, UPDATE_SECONDS)
    output = done.stdout + "\n" + done.stderr
    if done.status != 0 or failed_for(output, options["url"]):
        raise UpdateError(f"`{' '.join(command)}` fails with the repository {options['url']}, ", complaints(output))


def restore(before):
    """Give each file the content that it had, None for no file."""
    for path, content in before.items():
        if content is None:
            remove_file(path)
        elif read_bytes(path) != content:
            replace_file(path, content, mode=0o644)


def withdraw(options, written, before, failed):
    """Remove the files that an update failed with; those of an earlier run stay where it fails without them too."""
    for one in written:
        remove_file(one)
    if all(content is not None for content in before.values()):
        try:
            update(options)
        except UpdateError as again:
            restore(before)
            raise RepositoryError(f"{failed.args[0]}and also without it: {again.args[1]}") from again
    raise RepositoryError(f"{failed.args[0]}so its file was removed again: {failed.args[1]}") from failed


def ensure(options, check_mode):
    """Return the result of the module."""
    debian = options["family"] == "debian"
    folder = "etc/apt/sources.list.d" if debian else "etc/yum.repos.d"
    path = os.path.join(options["root"], folder, options["name"] + (".list" if debian else ".repo"))
    key = os.path.join(options["root"], "etc/apt/keyrings", options["name"] + ".asc")
    files = configuration(options)
    others = {one: text for one, text in files.items() if one != path}
    if debian:
        listed = find_apt(others, options["url"], options["suite"], options["components"])
    else:
        listed = find_yum(others, options["url"], options["release"])
    if listed is not None:
        # One of ours from an earlier version would be the second.
        stale = path in files and entry(options, key) == files[path]
        if stale and not check_mode:
            remove_file(path)
        return dict(changed=stale, file=listed)
    text = entry(options, key)
    changed = files.get(path) != text or (debian and not os.path.exists(key))
    if check_mode:
        return dict(changed=changed, file=path)
    written = [path] + ([key] if debian else [])
    before = {one: read_bytes(one) for one in written}
    try:
        if debian and changed:
            os.makedirs(os.path.dirname(key), mode=0o755, exist_ok=True)
            replace_file(key, fetch_key(options["key_url"]), mode=0o644)
        if changed:
            replace_file(path, text.encode("utf-8"), mode=0o644)
        # Also of files that are there: a run may have been killed before it came to this.
        update(options)
    except UpdateError as error:
        withdraw(options, written, before, error)
    except (RepositoryError, FileError, OSError):
        restore(before)
        raise
    return dict(changed=changed, file=path)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            name=dict(type="str", required=True),
            family=dict(type="str", choices=["debian", "redhat"], required=True),
            url=dict(type="str", required=True),
            suite=dict(type="str", default="/"),
            components=dict(type="list", elements="str", default=[]),
            release=dict(type="str", default=""),
            key_url=dict(type="str", required=True, no_log=False),
            gpgcheck=dict(type="bool", default=True),
            root=dict(type="path", default="/"),
            update_command=dict(type="list", elements="str"),
        ),
        supports_check_mode=True,
    )
    try:
        result = ensure(module.params, module.check_mode)
    except (RepositoryError, FileError, OSError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
