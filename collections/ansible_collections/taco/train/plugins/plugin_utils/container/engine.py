# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host lacks to run containers with GPUs, and the packages and repositories that have it. Values in, values out."""

import hashlib
import json
import re
from typing import Any, Dict, List, Mapping, Optional

# VERSION_ID of a release to the suite of its repository.
SUITES = {
    "ubuntu": {"18.04": "bionic", "20.04": "focal", "22.04": "jammy", "24.04": "noble"},
    "debian": {"11": "bullseye", "12": "bookworm", "13": "trixie"},
}
# TencentOS counts for itself. Its packages fit the CentOS it was made from.
TENCENTOS = {"2": "7", "3": "8", "4": "9"}
MARK = "# Written by the role taco.train.container_engine. The playbook taco.train.rollback removes this file."
# A line that neither this version nor an earlier one writes.
FOREIGN = (
    r"(?!# Written by the role taco\.train\.|deb \[signed-by=\S*/taco-train-|\[taco-train-|name=taco-train-|baseurl=|"
    r"(repo_)?gpgcheck=|gpgkey=)."
)
EPEL = (
    "The package is in EPEL, which `yum install epel-release` adds on CentOS 7. Without EPEL install it from the Python package index: "
    "`yum install python3-pip && python3 -m pip install 'requests<2.28'`. "
)
TOOLKIT = "NVIDIA Container Toolkit"
Values = Mapping[str, Any]


def is_debian(system: Values) -> bool:
    """Whether the packages of an operating system are those of Debian."""
    return not {"debian", "ubuntu"}.isdisjoint([system["id"], *system["id_like"]])


def release_of(system: Values) -> str:
    """Return the major version, for TencentOS that of the CentOS release that it is based on."""
    major = str(system["version_id"]).split(".", maxsplit=1)[0]
    return TENCENTOS.get(major, major) if system["id"] in ("tencentos", "tlinux") else major


def _given(value: Any) -> Optional[List[str]]:
    """Return a list of packages, None where the variable isn't set. A templated null can arrive as an empty string."""
    if value in (None, ""):
        return None
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value)


def _packages(system: Values, options: Values) -> List[str]:
    given = _given(options["packages"])
    if given is not None:
        return given
    if options["source"] == "docker":
        return ["docker-ce", "docker-ce-cli", "containerd.io"]
    return ["docker.io" if is_debian(system) else "docker"]


def _python_packages(system: Values, options: Values) -> List[str]:
    given = _given(options["python_packages"])
    if given is not None:
        return given
    return ["python36-requests" if not is_debian(system) and release_of(system) == "7" else "python3-requests"]


def _repository(name: str, package: str, wanted: bool, folder: str) -> Dict[str, Any]:
    common = {"name": name, "package": package, "wanted": wanted, "list": f"{folder}/{name}", "key": "", "problem": ""}
    # apt ends with 0 where an index can't be downloaded.
    return {**common, "index_failure": "(?m)^W: Failed"}


def _deb(found: Dict[str, Any], keys: str, url: str, suite: str, key_url: str, sha256: Any) -> Dict[str, Any]:
    """Add the content of the list, and its key."""
    key = f"{keys}/{found['name']}.asc"
    return {
        **found,
        "list": found["list"] + ".list",
        "files": [f"{found['list']}.list", key],
        "content": f"{MARK}\ndeb [signed-by={key}] {url} {suite}\n",
        "key": key,
        "key_url": key_url,
        "key_checksum": f"sha256:{sha256}" if sha256 else "",
        "index_failure": found["index_failure"] + ".*" + re.escape(url.split("$", maxsplit=1)[0]),
    }


def _rpm(found: Dict[str, Any], url: str, key_url: str, checks: str) -> Dict[str, Any]:
    """Add the content of the list."""
    name = found["name"]
    lines = [MARK, f"[{name}]", f"name={name}", f"baseurl={url}", checks, f"gpgkey={key_url}", ""]
    path = found["list"] + ".repo"
    return {**found, "list": path, "files": [path], "content": "\n".join(lines)}


def _repositories(
    system: Values, options: Values, docker: Dict[str, Any], toolkit: Dict[str, Any], keys: str
) -> List[Dict[str, Any]]:
    if not is_debian(system):
        release = options["rpm_release"] or release_of(system)
        # NVIDIA signs the repository's index, not each package.
        return [
            _rpm(docker, f"{options['rpm_url']}/{release}/$basearch/stable", options["rpm_key_url"], "gpgcheck=1"),
            _rpm(
                toolkit,
                f"{options['nvidia_rpm_url']}/$basearch",
                options["nvidia_key_url"],
                "gpgcheck=0\nrepo_gpgcheck=1",
            ),
        ]
    distribution = system["id"] if system["id"] in SUITES else "debian"
    url = options["deb_url"] or f"https://download.docker.com/linux/{distribution}"
    suite = options["deb_suite"] or SUITES[distribution].get(str(system["version_id"]), "")
    if not suite:
        fix = "set container_engine_deb_suite, or container_engine_source: distribution"
        docker["problem"] = f"there is no known suite of Docker's repository for {system['name']}: {fix}"
    key_url, sha256 = options["deb_key_url"] or f"{url}/gpg", options["deb_key_sha256"]
    nvidia = f"{options['nvidia_deb_url']}/$(ARCH)"
    return [
        _deb(docker, keys, url, f"{suite} stable", key_url, sha256),
        _deb(toolkit, keys, nvidia, "/", options["nvidia_key_url"], options["nvidia_key_sha256"]),
    ]


def _prediction(components: List[str], packages: List[str], repositories: List[Dict[str, Any]], restarts: bool) -> Any:
    """Describe the installation as a module's result does. No repository is added in check mode, so no version is known."""
    # A URL can contain a password.
    checksum = hashlib.sha256(json.dumps(repositories, sort_keys=True).encode("utf-8")).hexdigest()
    return {
        "reason": f"missing: {', '.join(components) or 'nothing, container_engine_force is true'}",
        "interrupts": ["Docker Engine, which is restarted"] if restarts else [],
        "diff": [
            {"before_header": "packages", "prepared": ", ".join(packages) + "\n"},
            {"before_header": "checksum of the package repositories", "prepared": checksum + "\n"},
        ],
    }


def _lacking(node: Values, options: Values, python_packages: List[str]) -> Dict[str, bool]:
    """Return which parts of the engine a host lacks, as node_info observed it."""
    engine = node["container_engine"] or {}
    # The toolkit's last step makes the engine know the runtime. Without the right to ask the engine no runtime is known.
    no_packages = bool(options["gpu"] and not engine.get("nvidia_toolkit"))
    no_runtime = bool(options["gpu"] and "nvidia" not in (engine.get("runtimes") or ["nvidia"]))
    return {
        "missing": not engine.get("running"),
        # One that is there and stopped is started, and not replaced by another one.
        "absent": not engine or bool(options["force"]),
        "toolkit_packages": no_packages,
        "toolkit": no_packages or no_runtime,
        "python": not node["python"].get("requests", True) and bool(python_packages),
    }


def _refusal(lacking: Mapping[str, bool], components: List[str]) -> str:
    """Say what is missing where nothing may be installed."""
    reasons = {
        "no Docker Engine runs": lacking["missing"],
        "the NVIDIA Container Toolkit is missing": lacking["toolkit_packages"],
        "the engine has no runtime nvidia (nvidia-ctk runtime configure --runtime=docker)": lacking["toolkit"],
        "Python packages are missing (container_engine_python_packages)": True,
    }
    reason = next(text for text, holds in reasons.items() if holds)
    other = "; without GPUs set container_engine_gpu: false" if components == [TOOLKIT] else ""
    return f"{reason} and container_engine_install is false: install it, or set container_engine_install: true{other}"


def engine_needs(node: Values, options: Values, etc: str = "/etc") -> Dict[str, Any]:
    """Return what a host lacks and how it is installed.

    node is the observation of the host, options are the variables of the role container_engine without its prefix, and etc is the folder of
    the configuration.
    """
    system = node["os"]
    packages, python_packages = _packages(system, options), _python_packages(system, options)
    lacking = _lacking(node, options, python_packages)
    names = {"missing": "Docker Engine", "toolkit": TOOLKIT, "python": "Python packages"}
    components = [name for part, name in names.items() if lacking[part]]
    debian = is_debian(system)
    folder, nvidia = f"{etc}/apt/sources.list.d" if debian else f"{etc}/yum.repos.d", "nvidia-container-toolkit"
    repositories = _repositories(
        system,
        options,
        _repository("taco-train-docker", "docker-ce", lacking["absent"] and options["source"] == "docker", folder),
        _repository(f"taco-train-{nvidia}", nvidia, lacking["toolkit_packages"], folder),
        f"{etc}/apt/keyrings",
    )
    restarts = lacking["toolkit"] and not lacking["missing"]
    return {
        **lacking,
        "work": bool(components or options["force"]),
        "packages": packages,
        "python_packages": python_packages,
        "python_hint": EPEL if release_of(system) == "7" else "",
        "refusal": _refusal(lacking, components),
        "prediction": _prediction(components, packages + python_packages, repositories, restarts),
        "update_argv": ["apt-get", "update"] if debian else ["yum", "makecache"],
        "candidate_argv": ["apt-cache", "policy"] if debian else ["yum", "-q", "list"],
        "folder": folder,
        "foreign": FOREIGN,
        "repositories": repositories,
    }
