#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: harp_config
short_description: Configure HARP and verify the result
version_added: 1.0.0
description:
  - Runs the vendor's setup script, or writes the files that your own template rendered. The format of C(ztcp*.conf) is not public, so the
    module never generates them itself.
  - A script must have the checksum O(sha256), unless O(allow_unverified) is set. A downloaded error page is not run.
  - A run succeeds if the exit status is 0, the output contains the success text, and there are O(minimum_files) configuration files that
    are not empty.
  - The script runs again only when the script, the ENIs (their names, MAC, IPv4 and PCI addresses), O(environment), O(interpreter) or the
    configuration files differ from those of the last successful run. Unknown properties of an ENI, for example with a user-space driver,
    are not compared.
  - Only one run at a time changes a host; another run waits, and fails after a minute.
  - Also writes the host manifest, a description of the host for HARP.
  - O(state=absent) reverts the files that this module created or changed. Other changes of a script stay.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - taco.train.desired
attributes:
  action:
    description: Answers on the controller where O(node) is enough for it, and else runs the module.
    support: full
  check_mode:
    support: full
    details: Predicts whether the script would run, but not its files.
  diff_mode:
    support: full
    details: Shows why the script runs, rendered files and the manifest, but not the files of the script.
  platform:
    platforms: posix
options:
  state:
    type: str
    choices: [present, absent]
    default: present
    description:
      - V(absent) restores each configuration file that a script or a template changed, and removes new files, the manifest and the state
        in O(state_dir).
      - If a file was edited since, the module shows the difference and changes nothing.
    version_added: 1.0.0
  force:
    type: bool
    default: false
    description: With O(state=absent), also revert files that were edited since.
    version_added: 1.0.0
  source:
    type: str
    choices: [script, template, none]
    default: script
    description: Where the configuration comes from. V(none) means that HARP is configured by other means.
  script:
    type: str
    description:
      - The setup script, a path on the host or an HTTP(S) URL. With O(script_content), its name.
      - Required with O(source=script), unless O(state=absent).
  script_content:
    type: str
    description: The content of a setup script from the controller.
  sha256:
    type: str
    description: The required SHA-256 checksum of the script.
  allow_unverified:
    type: bool
    default: false
    description: Whether to run a script without O(sha256), as root.
  interpreter:
    type: list
    elements: str
    description: Interpreter of the script. By default C(bash) for C(.sh), C(python3) for C(.py), and otherwise the interpreter in its
      first line.
  expected_text:
    type: list
    elements: str
    default: [setup successfully, Set up HARP successfully]
    description: Texts, one of which the output of the script must contain. An empty list disables this check.
  environment:
    type: dict
    default: {}
    description:
      - Environment variables of the script, in addition to E(TACO_ENI_INTERFACES), the names of the ENIs separated by commas.
      - Only a hash of it is stored on the host.
  timeout:
    type: int
    default: 600
    description: Time limit of the script in seconds.
  rendered:
    type: list
    elements: dict
    default: []
    description: The rendered files of a template. They are written unchanged; no other file is removed.
    suboptions:
      dest:
        type: str
        required: true
        description: Path of the file, relative to O(config_dir) unless it is absolute.
      content:
        type: str
        required: true
        description: Content of the file.
  config_dir:
    type: path
    default: /usr/local/tfabric/tools/config
    description: The folder of HARP's configuration.
  config_glob:
    type: str
    default: ztcp*.conf
    description: The names of the configuration files.
  node:
    type: dict
    description:
      - The host as RV(taco.train.node_info#module:node) describes it. Needed for the manifest and to find the ENIs.
      - If it shows that the host is already configured by an earlier run, nothing is executed on the host. Therefore observe the host
        after the last change of HARP's configuration.
  eni_pattern:
    type: str
    description: Regular expression for the names of the ENIs, for ENIs without a PCI device.
  enis:
    type: list
    elements: str
    description: The names of the ENIs. When not set, determined from O(node).
  minimum_files:
    type: str
    default: "1"
    description:
      - Required number of configuration files that are not empty, from 1, or V(per_eni) for one for each ENI.
      - The vendor does not publish how many files its script writes.
  manifest:
    type: bool
    default: true
    description: Whether to write the host manifest, C(host-manifest.json) in O(state_dir). Needs O(node).
  container:
    type: str
    description: The training container, whose processes count as running work. When not set, only processes on the GPUs do.
    version_added: 1.0.0
  interrupt_running_work:
    type: bool
    default: false
    description:
      - Whether the configuration may be changed while processes run on the GPUs or in O(container).
      - Otherwise the task fails and lists the processes before it changes a configuration file. In check mode it warns.
    version_added: 1.0.0
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run.
seealso:
  - module: taco.train.node_info
  - module: taco.train.eni_check
"""

EXAMPLES = r"""
- name: Run the vendor's setup script
  taco.train.harp_config:
    script: http://mirrors.tencent.com/install/GPU/taco/harp_setup.sh
    sha256: "{{ harp_script_sha256 }}"
    node: "{{ taco_node }}"

- name: Write a configuration of one's own format
  taco.train.harp_config:
    source: template
    rendered:
      - dest: ztcp0.conf
        content: "{{ lookup('ansible.builtin.template', 'ztcp.conf.j2') }}"
    node: "{{ taco_node }}"

- name: Take back what the two left
  taco.train.harp_config:
    state: absent
"""

RETURN = r"""
files:
  description: The existing configuration files that are not empty.
  returned: success
  type: list
  elements: dict
  sample: [{path: /usr/local/tfabric/tools/config/ztcp0.conf, size: 120}]
ran:
  description: Whether the script ran, or in check mode would run.
  returned: success
  type: bool
  sample: true
reason:
  description: Why the script ran.
  returned: when it did
  type: str
  sample: the ENIs changed from 0000:00:06.0 to 0000:00:06.0, 0000:00:07.0
sha256:
  description: Checksum of the script of the last successful run.
  returned: success with O(source=script)
  type: str
  sample: d5b549d65f45ec5f13a37cb86eb0538bffb2db3aeafd044c496768d455000e93
enis:
  description: Names of the ENIs that the configuration is for.
  returned: success
  type: list
  elements: str
  sample: [eth1, eth2]
manifest:
  description: Path of the host manifest.
  returned: when there is one
  type: str
  sample: /var/lib/taco-train/host-manifest.json
"""

import hashlib
import json
import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, remove_file, replace_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.history import HistoryError
from ansible_collections.taco.train.plugins.module_utils._harp import harp
from ansible_collections.taco.train.plugins.module_utils._harp.files import (
    RUNNING,
    alone,
    config_paths,
    history,
    recorded,
    settle,
    take_back,
)
from ansible_collections.taco.train.plugins.module_utils._harp.options import MANIFEST, OPTIONS, RECORD
from ansible_collections.taco.train.plugins.module_utils._harp.script import ScriptError, run_script
from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.running_work import require_idle, running_work

LARGEST_SCRIPT = 8 * 1024 * 1024
DOWNLOAD_SECONDS = 60


def read_bytes(path):
    """Return the bytes of a file, None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def read_json(path):
    """Return the value in a file, None when there is none or it is damaged."""
    try:
        return json.loads((read_bytes(path) or b"").decode("utf-8"))
    except ValueError:
        return None


def config_files(options):
    """Return {path: checksum} of the configuration files that aren't empty."""
    contents = {path: read_bytes(path) for path in config_paths(options["config_dir"], options["config_glob"])}
    return {path: hashlib.sha256(content).hexdigest() for path, content in contents.items() if content}


def fetch_script(options):
    """Return the bytes of the script. Whatever isn't the script is an error."""
    script = options["script"]
    if options["script_content"] is not None:
        return options["script_content"].encode("utf-8")
    if not harp.is_url(script):
        content = read_bytes(script)
        if content is None:
            raise harp.HarpError(f"there is no {script}, neither on the controller nor on this host: set harp_script")
        return content
    if not script.lower().startswith(("http://", "https://")):
        raise harp.HarpError(f"{script} can't be downloaded: use http or https (harp_script)")
    # Imported where it is needed: the import takes longer than a host that has its configuration needs to be found so.
    from ansible.module_utils.urls import open_url

    try:
        response = open_url(script, timeout=DOWNLOAD_SECONDS, http_agent="taco.train")
        content = response.read(LARGEST_SCRIPT + 1)
    except OSError as error:
        raise harp.HarpError(
            f"{script} can't be downloaded: {error}. Set harp_script to a URL or path that works"
        ) from error
    if len(content) > LARGEST_SCRIPT:
        raise harp.HarpError(f"{script} is larger than {LARGEST_SCRIPT} bytes and no setup script (harp_script)")
    return content


def permit_change(options, check_mode, warn):
    """Refuse to change HARP's configuration under running work, or warn where that is allowed or only predicted."""
    asked = dict(gpus=True, container=options["container"], containers=False, engine_command=["docker"])
    refusal = require_idle("The change of HARP's configuration", running_work(asked), "interrupt")
    if refusal and not options["interrupt_running_work"] and not check_mode:
        raise harp.HarpError(refusal)
    if refusal:
        warn(refusal)


def run_setup(options, content, sha256, target):
    """Keep the script, run it, and raise unless it proved that it did its job."""
    folder = os.path.join(options["state_dir"], "harp")
    path = os.path.join(folder, "setup-" + sha256[:12])
    replace_file(path, content, mode=0o700)
    first_line = content.split(b"\n")[0].decode("utf-8", "replace")
    argv = harp.interpreter_for(options["script"], first_line, options["interpreter"]) + [path]
    environment = {"TACO_ENI_INTERFACES": ",".join(target.enis)}
    environment.update((key, str(value)) for key, value in options["environment"].items())
    log = os.path.join(folder, "setup.log")
    # A run that fails or is killed from here on must be repeated, also when everything is set to what it was before.
    remove_file(os.path.join(options["state_dir"], RECORD))
    with recorded(options["state_dir"], options["config_dir"], options["config_glob"]):
        done = run_script(argv, environment, options["timeout"], log, os.path.join(folder, RUNNING))
    harp.check_run(done.status, done.output, options["expected_text"], options["timeout"], log)
    files = config_files(options)
    harp.check_files(
        list(files), target.minimum, options["config_dir"], options["config_glob"], "the HARP setup script ended well"
    )
    return files


def apply_script(options, target, check_mode, permit):
    """Run the setup script where it has to run."""
    expected = harp.promised_sha256(options)
    record_path = os.path.join(options["state_dir"], RECORD)

    def decided():
        record = read_json(record_path)
        reason = harp.reason_to_run(record, options, expected, target, config_files(options))
        if reason is None:
            return dict(changed=False, ran=False, sha256=record["sha256"])
        diff = [dict(prepared=f"HARP's setup script {options['script']} runs: {reason}\n")]
        return dict(changed=True, ran=True, sha256=expected or "", reason=reason, diff=diff)

    result = decided()
    if result["changed"] and check_mode:
        permit()
    if check_mode or not result["changed"]:
        return result
    content = fetch_script(options)
    sha256 = hashlib.sha256(content).hexdigest()
    harp.check_sha256(options["script"], sha256, expected)
    with alone(options["state_dir"], create=True):
        # Another run may have done it meanwhile.
        result = decided()
        if result["changed"]:
            permit()
            files = run_setup(options, content, sha256, target)
            record = harp.new_record(options, sha256, target, files)
            replace_file(record_path, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode("utf-8"), mode=0o600)
            result["sha256"] = sha256
    return result


def apply_template(options, minimum, check_mode, permit):
    """Write the rendered files that differ."""
    wanted = harp.checked_rendered(options["rendered"], options["config_dir"])
    after = harp.merged_files(list(config_files(options)), wanted, options["config_dir"], options["config_glob"])
    harp.check_files(after, minimum, options["config_dir"], options["config_glob"], "harp_template rendered too little")
    before = {path: read_bytes(path) for path in wanted}
    changed = [path for path in sorted(wanted) if before[path] != wanted[path].encode("utf-8")]
    if changed:
        permit()
    for path in [] if check_mode else changed:
        content = wanted[path].encode("utf-8")
        with alone(options["state_dir"], create=True):
            settle(options["state_dir"])
            CreatedFolders(options["state_dir"]).make(os.path.dirname(path))
            history(options["state_dir"]).note(path, content, [], generated=True)
            replace_file(path, content, mode=None if before[path] is not None else 0o644)
    diff = [
        dict(
            before=(before[path] or b"").decode("utf-8", "replace"),
            after=wanted[path],
            before_header=path,
            after_header=path,
        )
        for path in changed
    ]
    return dict(changed=bool(diff), ran=False, diff=diff)


def write_manifest(options, enis, check_mode):
    """Write the host manifest when it differs and return what that did."""
    path = os.path.join(options["state_dir"], MANIFEST)
    after = harp.manifest_text(options["node"], enis)
    before = read_bytes(path)
    if before == after.encode("utf-8"):
        return dict(manifest=path), []
    if not check_mode:
        CreatedFolders(options["state_dir"]).make_state_dir()
        replace_file(path, after.encode("utf-8"), mode=0o644)
    text = (before or b"").decode("utf-8", "replace")
    return dict(manifest=path, changed=True), [dict(before=text, after=after, before_header=path, after_header=path)]


def unconfigure(options, check_mode, permit):
    """Restore what earlier runs changed and return the module's result."""
    diff = take_back(options["state_dir"], options["force"], check_mode, permit)
    files = [dict(path=path, size=os.path.getsize(path)) for path in config_files(options)]
    return dict(changed=bool(diff), ran=False, enis=[], files=files, diff=diff)


def configure(options, check_mode, warn):
    """Do all that is asked for and return the module's result."""

    def permit():
        permit_change(options, check_mode, warn)

    if options["state"] == "absent":
        return unconfigure(options, check_mode, permit)
    if options["source"] == "script" and not options["script"]:
        raise harp.HarpError("source script needs a script: set harp_script (script)")
    target = harp.target_of(options)
    result = dict(changed=False, ran=False)
    if options["source"] == "script":
        result = apply_script(options, target, check_mode, permit)
    elif options["source"] == "template":
        result = apply_template(options, target.minimum, check_mode, permit)
    diff = result.pop("diff", [])
    if options["manifest"] and options["node"]:
        written, difference = write_manifest(options, target.enis, check_mode)
        result.update(written)
        diff += difference
    files = [dict(path=path, size=os.path.getsize(path)) for path in config_files(options)]
    return dict(result, enis=target.enis, files=files, diff=diff)


def main():
    module = AnsibleModule(supports_check_mode=True, **OPTIONS)
    try:
        result = configure(module.params, module.check_mode, module.warn)
    except (
        harp.HarpError,
        FoldersError,
        HistoryError,
        ScriptError,
        EniError,
        FileError,
        OSError,
        UnicodeError,
    ) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
