# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metadata service is read as documented: upper-case addresses, missing keys, listings with slashes."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.metadata import (
    MetadataError,
    is_tencent,
    read_metadata,
    vpc_addresses,
)

SERVICE = {
    "instance-id": "ins-0example",
    "instance/instance-type": "GT4.41XLARGE948",
    "placement/region": "ap-guangzhou",
    "placement/zone": "ap-guangzhou-6",
    "local-ipv4": "10.0.2.8",
    "mac": "52:54:00:AA:00:01",
    "network/interfaces/macs/": "52:54:00:AA:00:01/\n52:54:00:AA:00:02/\n",
    "network/interfaces/macs/52:54:00:AA:00:01/primary-local-ipv4": "10.0.2.8",
    "network/interfaces/macs/52:54:00:AA:00:01/vpc-id": "vpc-1",
    "network/interfaces/macs/52:54:00:AA:00:01/subnet-id": "subnet-1",
    "network/interfaces/macs/52:54:00:AA:00:01/local-ipv4s/": "10.0.2.8/\n",
    "network/interfaces/macs/52:54:00:AA:00:01/local-ipv4s/10.0.2.8/gateway": "10.0.2.1",
    "network/interfaces/macs/52:54:00:AA:00:01/local-ipv4s/10.0.2.8/subnet-mask": "255.255.255.0",
}


def test_what_the_service_knows_is_returned_by_lower_case_mac():
    found = read_metadata(SERVICE.get)
    first, second = found.pop("interfaces")
    assert found == {
        "instance_id": "ins-0example",
        "instance_type": "GT4.41XLARGE948",
        "region": "ap-guangzhou",
        "zone": "ap-guangzhou-6",
        "local_ipv4": "10.0.2.8",
        "mac": "52:54:00:aa:00:01",
    }
    assert first == {
        "mac": "52:54:00:aa:00:01",
        "primary_local_ipv4": "10.0.2.8",
        "vpc_id": "vpc-1",
        "subnet_id": "subnet-1",
        "addresses": [{"local_ipv4": "10.0.2.8", "gateway": "10.0.2.1", "subnet_mask": "255.255.255.0"}],
    }
    assert (second["mac"], second["vpc_id"], second["addresses"]) == ("52:54:00:aa:00:02", None, [])


@pytest.mark.parametrize("answer", [None, "", "<html>login</html>", "a\nb"])
def test_something_else_that_answers_is_no_metadata_service(answer):
    with pytest.raises(MetadataError, match="expected an instance ID"):
        read_metadata({"instance-id": answer}.get)


def test_the_cloud_is_known_by_its_firmware():
    assert is_tencent("Tencent Cloud\n", "")
    assert not is_tencent("QEMU", "")
    assert not is_tencent()


@pytest.mark.parametrize(
    ("interface", "addresses"),
    [
        ({"addresses": [{"local_ipv4": "10.0.16.5", "subnet_mask": "255.255.240.0"}]}, ["10.0.16.5/20"]),
        ({"addresses": [], "primary_local_ipv4": "10.0.0.1"}, ["10.0.0.1/32"]),
        ({"addresses": [], "primary_local_ipv4": None}, []),
        ({"addresses": [{"local_ipv4": "10.0.0.1", "subnet_mask": "<html>"}], "primary_local_ipv4": None}, []),
    ],
)
def test_each_interface_has_the_addresses_that_can_be_read(interface, addresses):
    assert vpc_addresses({"interfaces": [dict(interface, mac="x")]}) == {"x": addresses}
