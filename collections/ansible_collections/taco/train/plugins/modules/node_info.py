#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: node_info
short_description: Gather facts about a GPU host
version_added: 1.0.0
description:
  - Returns all facts that the collection needs for its decisions, in one call.
  - Changes nothing. Values that only root can read are V(null) for other users.
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
  sysroot:
    description:
      - Root folder of all paths.
      - With another folder than V(/), no command is run. The result then lacks addresses, the container engine, the data of nvidia-smi,
        and the checksums of files.
    type: path
    default: /
  metadata:
    description:
      - Whether to read the instance metadata, which has the addresses of ENIs that the host has not configured.
      - V(off) does not read it. V(auto) reads it on instances of Tencent Cloud, and a missing answer is not an error.
      - With a URL, a missing answer is an error.
    type: str
    default: "off"
  state_dir:
    description: Folder on the host for the state that outlives a run.
    type: path
    default: /var/lib/taco-train
  harp_config_dir:
    description: Folder with HARP's configuration.
    type: path
    default: /usr/local/tfabric/tools/config
  container:
    description: Name of the training container. When not set, none is observed.
    type: str
seealso:
  - module: taco.train.preflight
  - module: taco.train.eni_check
"""

EXAMPLES = r"""
- name: Gather the state of the host
  taco.train.node_info:
  register: observed

- name: Gather the state of the host with data of the metadata service
  taco.train.node_info:
    metadata: auto
  register: observed

- name: Show how many GPUs there are
  ansible.builtin.debug:
    msg: "{{ observed.node.gpus.count }} GPUs, counted by {{ observed.node.gpus.source }}"
"""

RETURN = r"""
node:
  description: The observed facts. Every key exists; unknown values are V(null).
  returned: always
  type: dict
  contains:
    schema:
      description: Version of this structure.
      type: int
      sample: 1
    observed_at:
      description: Time of the observation in UTC. The roles set it to V(null) when they change the host afterwards.
      type: str
      sample: "2026-01-05T10:00:00Z"
    hostname:
      description: Name of the host.
      type: str
      sample: gpu1
    identity:
      description: C(machine_id) of the installed system and C(board_serial) of the machine, which only root can read.
      type: dict
      sample: {machine_id: 4f0c9d2b8e7a4c61b3d5e8f7a6b9c0d1, board_serial: 5VX2M13}
    os:
      description: The distribution, from os-release, as C(id), C(id_like), C(version_id) and C(name).
      type: dict
      sample: {id: tencentos, id_like: [rhel, fedora, centos, tlinux], version_id: "2.4", name: TencentOS Server 2.4}
    python:
      description: The Python that ran the module, as C(version) and C(executable), and whether it has C(requests), which managing
        containers needs.
      type: dict
      sample: {version: 3.6.8, executable: /usr/bin/python3, requests: true}
    kernel:
      description: The running kernel, as C(release), C(cmdline) and C(boot_id), which differs after every boot.
      type: dict
      sample: {release: 5.4.119-1-tlinux4, cmdline: ro hugepages=50, boot_id: 7d0c1f2e-0000-4000-8000-000000000001}
    boot:
      description: How the kernel command line is configured, as C(layout) and C(firmware). The C(reason) explains the layout.
      type: dict
      sample: {layout: grub-default, firmware: bios, reason: grub2-mkconfig is there and BLS is not in use}
    cpu:
      description: The number of processors as C(count), and whether they have pages of 1 GiB and 2 MiB.
      type: dict
      sample: {count: 164, page_1g: true, page_2m: true}
    memory:
      description: Memory as C(total_bytes) and C(available_bytes).
      type: dict
      sample: {total_bytes: 1017907249152, available_bytes: 998579896320}
    hugepages:
      description:
        - The C(pools) of every page size with C(total) and C(free) pages, also for each NUMA node, the C(nodes) that have memory,
          C(default_size_bytes), and the C(mounts) of hugetlbfs that can be seen. What is mounted last on a path hides the others.
          C(limit_bytes) is the option C(size) of a mount, V(null) without it.
        - The C(sysctl) are settings of others that change the pages after a boot, of sysctl, tmpfiles.d, units of systemd, scripts
          that a boot runs, tuned, GRUB's variables and fstab. C(by) is who applies it. The C(value) is V(null) where a program
          computes it.
      type: dict
      sample:
        default_size_bytes: 1073741824
        pools: [{size_bytes: 1073741824, total: 50, free: 50, nodes: [{node: 0, total: 50, free: 50}]}]
        nodes: [{node: 0, memory_bytes: 1017907249152, cpus: true}]
        mounts: [{path: /dev/hugepages, page_size_bytes: 1073741824, read_only: false, limit_bytes: null}]
        sysctl: [{name: vm.nr_hugepages, value: "2048", file: /etc/sysctl.d/90-db.conf, line: 3, by: null}]
    gpus:
      description:
        - The GPUs, their C(count), the C(source) that counted them, and the C(driver_version).
        - The C(problem) is why nvidia-smi, although it is installed, listed none. The C(devices) are then those of the PCI bus, with the
          details that the host manifest has of the same devices.
      type: dict
      sample:
        count: 1
        source: nvidia-smi
        driver_version: 450.80.02
        problem: null
        devices: [{index: 0, pci: "0000:00:08.0", name: A100-SXM4-40GB, uuid: GPU-0d3f}]
    nics:
      description:
        - The network interfaces, the primary one first. That is the one with the default route. Where none or several have a default route
          of the lowest metric, it is the one that the metadata of the instance names, else the one at which the SSH connection arrives.
          When neither is known, C(primary) is V(null) for each candidate.
        - C(reached) is true for the interface at which the SSH connection arrives.
        - The C(vpc_addresses) are those in the instance metadata, V(null) when the metadata was not read.
        - For a device with a user-space driver, C(name) is its PCI address.
      type: list
      elements: dict
      sample:
        - name: eth0
          mac: "52:54:00:00:00:01"
          pci: "0000:00:05.0"
          numa_node: null
          driver: virtio_net
          kind: physical
          up: true
          primary: true
          addresses: [10.0.2.8/24]
          reached: true
          vpc_addresses: null
    container_engine:
      description:
        - Docker Engine, or V(null) when it isn't installed. A stopped one has the C(runtimes) of its configuration file.
        - C(name) is V(podman) where the package podman-docker puts podman in its place, and V(rootless docker) where the command reaches
          the daemon of a user, or such a daemon runs and that of the system is stopped.
      type: dict
      sample: {name: docker, version: 24.0.7, running: true, runtimes: [nvidia, runc], nvidia_toolkit: 1.14.3}
    package_candidates:
      description: Where the engine or the toolkit is missing, what the repositories of the host offer of them, by package. C(forbidden) is
        whether a negative priority keeps apt from installing any version.
      type: dict
      sample: {nvidia-container-toolkit: {version: 1.17.8-1, repository: nvidia-container-toolkit, forbidden: false}}
    training_container:
      description:
        - The container named O(container), or V(null) without one. C(image) is the name of the image that it was created from, C(image_id)
          the image that had this name then, and C(image_digest) the digest of that image in its registry.
        - C(options_sha256) is the checksum of the options with which M(taco.train.training_container) created it, V(null) when
          another one created it, also from an image of such a container. C(status) is V(unknown) when the engine is stopped.
        - C(renamed_plugin) is where HARP's plugin for NCCL is in a running container if it was renamed, as in the vendor's documents.
        - C(plugin_versions) are the versions of NCCL's plugin interface that the plugin exports (its symbols C(ncclNetPlugin_v*)), V(null)
          where it is absent or can't be read. C(nccl) are the libraries of NCCL in a running container, each with its C(path), C(version)
          and the C(plugin_versions) that it looks for.
      type: dict
      sample:
        name: taco-train
        id: 4c01db0b339c7d0b5b3f2e1a8c9d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d
        status: running
        image: registry.example.com/taco-training:1
        image_id: sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
        image_digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
        restart_policy: unless-stopped
        options_sha256: fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9
        renamed_plugin: null
        plugin_versions: [4]
        nccl: [{path: /usr/lib/x86_64-linux-gnu/libnccl.so.2, version: 2.8.4, plugin_versions: [4]}]
    harp:
      description:
        - HARP's C(config_dir), its C(config_files) named C(ztcp*.conf), the C(manifest) of the host, and the
          C(record) that M(taco.train.harp_config) keeps of the script that ran.
      type: dict
      sample:
        config_dir: /usr/local/tfabric/tools/config
        config_files:
          - path: /usr/local/tfabric/tools/config/ztcp.conf
            size: 512
            sha256: d5b549d65f45ec5f13a37cb86eb0538bffb2db3aeafd044c496768d455000e93
        manifest: /var/lib/taco-train/host-manifest.json
        record: null
    ssh_trust:
      description: The keys of the training container, as C(public_key), C(host_key) and C(port); the C(name) and C(address) under which the
        hosts know it; how many C(peers) it trusts, itself among them, and the checksum of their list.
      type: dict
      sample:
        public_key: ssh-ed25519 AAAA
        host_key: ssh-ed25519 AAAA
        port: 2222
        name: node-0
        address: 10.0.2.8
        peers: 2
        peers_sha256: 3fdba35f04dc8c462986c992bcf875546257113072a909c162f7e470e581e278
    disk:
      description: Free space as C(root_free_bytes) and, where the container engine keeps images, C(engine_free_bytes).
      type: dict
      sample: {root_free_bytes: 85899345920, engine_free_bytes: 85899345920}
    metadata:
      description: The answer of the metadata service.
      type: dict
      sample:
        instance_id: ins-0example
        instance_type: GT4.41XLARGE948
        region: ap-guangzhou
        zone: ap-guangzhou-6
        local_ipv4: 10.0.2.8
        mac: "52:54:00:00:00:01"
        interfaces: []
    facets:
      description: Settings that are usually the same on all hosts. M(taco.train.locate) names the hosts that differ.
      type: dict
      sample:
        settings: {cpu_governor: performance, clocksource: tsc}
        sysctls: {net.core.rmem_max: "212992"}
        nics: {eth1: {mtu: "9000", numa_node: "1", rx_queues: "16", firmware: 26.39.2048}}
        gpus: [{numa_node: "0", current_link_width: "16", ecc_mode: Enabled, clock_max: "1980"}]
        packages: {docker-ce: 5:24.0.7-1}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.download import open_url
from ansible_collections.taco.train.plugins.module_utils._node.metadata import MetadataError
from ansible_collections.taco.train.plugins.module_utils._observation.node import observe
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def main():
    module = AnsibleModule(
        argument_spec=dict(
            sysroot=dict(type="path", default="/"),
            metadata=dict(type="str", default="off"),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
            harp_config_dir=dict(type="path", default="/usr/local/tfabric/tools/config"),
            container=dict(type="str"),
        ),
        supports_check_mode=True,
    )
    try:
        node = observe(Root(module.params["sysroot"]), module.params, open_url)
    except (OSError, MetadataError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(changed=False, node=node)


if __name__ == "__main__":
    main()
