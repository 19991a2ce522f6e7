# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The models' gradient tensors have the sizes that are published."""

import model_tensors
import pytest


# The totals that the frameworks print: torchvision's for all but InceptionV3, which is Keras' count of what is trained.
@pytest.mark.parametrize(
    ("model", "tensors", "parameters"),
    [
        ("InceptionV3", 190, 23817352),
        ("mobilenet_v2", 158, 3504872),
        ("ResNet50", 161, 25557032),
        ("ResNet101", 314, 44549160),
        ("VGG16", 32, 138357544),
    ],
)
def test_the_totals(model, tensors, parameters):
    found = model_tensors.tensors(model)
    assert (len(found), sum(found)) == (tensors, parameters)


def test_transformer_xl_is_within_half_a_percent_of_what_its_paper_counts():
    assert sum(model_tensors.tensors("Transformer-XL")) == pytest.approx(257e6, rel=0.005)


@pytest.mark.parametrize("model", sorted(model_tensors.MODELS))
def test_every_tensor_holds_something(model):
    assert min(model_tensors.tensors(model)) > 0


def test_the_layers_that_decide_are_there():
    vgg = model_tensors.tensors("vgg16")
    assert vgg[:2] == [3 * 64 * 9, 64]
    assert vgg[-6:] == [25088 * 4096, 4096, 4096 * 4096, 4096, 4096 * 1000, 1000]
    resnet = model_tensors.tensors("resnet50")
    assert resnet[:3] == [3 * 64 * 49, 64, 64]
    assert resnet[-2:] == [2048 * 1000, 1000]
    assert max(resnet) == 512 * 512 * 9
    assert max(model_tensors.tensors("transformer-xl")) == 20000 * 1024


def test_another_model_is_not_there():
    with pytest.raises(KeyError):
        model_tensors.tensors("ResNet18")
