# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The vendors' published figures, and the arithmetic by which they are compared.

They are what the vendors say of their own machines: something to compare a result with, never a result.
"""

from typing import Mapping, NamedTuple, Optional, Tuple

TACO_DOCS = (
    "Tencent Cloud, TACO Kit documentation, https://cloud.tencent.com/document/product/1573/74082, page of the image "
)
TENSORFLOW = TACO_DOCS + "taco-train:ttf115-cu112-cvm-0.4.1"
PYTORCH = TACO_DOCS + "taco-train:torch111-cu113-cvm-0.4.3"
BARE_METAL = TACO_DOCS + "of bare metal instances"
TACO_0_3_2 = (
    "https://github.com/tencentyun/qcloud-documents, commit 0f66dc54, product/计算与网络/GPU 云服务器/最佳实践/"
    "AI训练加速引擎TACOTraining最佳实践/部署及实践.md"
)
TKE = (
    "Tencent Cloud, Tencent Kubernetes Engine documentation, building a TACO Train training cluster with MPI Operator, sections on the "
    "results and summary"
)
ACK = "Alibaba Cloud, Container Service for Kubernetes user guide, GPU topology-aware scheduling of TensorFlow jobs"


class Published(NamedTuple):
    """Images per second that a vendor published for one case."""

    instances: str
    model: str
    batch_size: int
    ranks: int
    single: Optional[float]
    """With one GPU."""
    host: Optional[float]
    """With the eight GPUs of one host."""
    totals: Mapping[str, float]
    """With all ranks, by what they used."""
    source: str
    workload: str = "horovod_synthetic"
    framework: Optional[str] = None
    """What the models were trained with; None where the vendor doesn't say."""


class PublishedRange(NamedTuple):
    """Ratios that a vendor published for several models without saying which model has which."""

    arm: str
    baseline: str
    low: float
    high: float
    models: Tuple[str, ...]
    instances: str
    source: str


# Millions of parameters. Of the first four as the vendor's documents for TKE have them, of the last as Keras has it.
PARAMETERS = {
    "inceptionv3": 25.0,
    "resnet101": 44.0,
    "vgg16": 138.0,
    "transformerxl": 257.0,
    "resnet50": 25.6,
}
# "About 20% to 200%" more than Horovod in a network of 25 Gbit/s. The documents have their figures by model in a picture.
RANGES = (
    PublishedRange(
        *("LightCC and HARP", "upstream Horovod over kernel TCP", 1.2, 3.0),
        ("Inception v3", "ResNet-101", "VGG16", "Transformer-XL"),
        "GPU instances with a network of 25 Gbit/s",
        TKE,
    ),
)


def parameters_of(model: object) -> Optional[float]:
    """Return the parameters of a model in millions, by its name in any spelling; None for one that isn't in the table."""
    return PARAMETERS.get("".join(letter for letter in str(model).lower() if letter.isalnum()))


PUBLISHED = (
    Published(
        *("2 x GT4.41XLARGE948", "ResNet50", 256, 16, 777, 6105),
        {"Horovod over kernel TCP": 5504, "Horovod and HARP": 7857, "LightCC and HARP": 11173},
        TENSORFLOW,
        framework="TensorFlow",
    ),
    Published(
        *("2 x GN10Xp.20XLARGE320", "vgg16", 128, 16, 251, 1977),
        {"Horovod over kernel TCP": 847, "Horovod and HARP": 1644, "LightCC and HARP": 3562},
        PYTORCH,
        framework="PyTorch",
    ),
    Published(
        *("2 x HCCPNV4h", "ResNet50", 256, 16, 819, 6469),
        {"Horovod over RDMA": 12299, "LightCC over RDMA": 12532},
        BARE_METAL,
    ),
    Published(
        *("2 x GT4.41XLARGE948", "ResNet50", 256, 16, None, None),
        {
            "Horovod over kernel TCP": 5421.9,
            "Horovod and HARP": 8970.7,
            "LightCC over kernel TCP": 7183.5,
            "LightCC and HARP": 10229.9,
        },
        TACO_0_3_2,
        framework="TensorFlow",
    ),
    Published(
        *("4 GPUs of ACK nodes", "vgg16", 64, 4, None, None),
        {"scheduled by topology": 991.92, "scheduled as usual": 200.47},
        *(ACK, "tf_cnn_benchmarks", "TensorFlow"),
    ),
    Published(
        *("4 GPUs of ACK nodes", "resnet50", 64, 4, None, None),
        {"scheduled by topology": 1471.55, "scheduled as usual": 745.38},
        *(ACK, "tf_cnn_benchmarks", "TensorFlow"),
    ),
)


def efficiency(total: float, devices: float, single: float) -> float:
    """Return which part of its devices' own speed a job reaches, such as 0.4427: total / (devices * single).

    It is the formula behind the vendor's percentages. Raises ValueError for what is not above zero.
    """
    if not (total > 0 and devices > 0 and single > 0):
        raise ValueError(f"An efficiency is of numbers above zero, and these are {total}, {devices} and {single}.")
    return total / (devices * single)
