# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which gradient tensors are exchanged together, and by which algorithm.

The lab's links are slow, so every tensor is exchanged at 1/SCALE of its size. A threshold is held against the size that the
tensor has in the real model, which is the same as dividing the thresholds by SCALE too: a tensor goes the way here that it
would go there.
"""

from typing import NamedTuple

# A batch of VGG16, 553 MB of gradients, then takes some 1.5 s between two nodes at 200 Mbit/s instead of half a minute,
# and the models keep their proportions.
SCALE = 24

RING, TWO_DIMENSIONAL, TOPK = "ring", "2D", "top-k"


class Transfer(NamedTuple):
    """Tensors that are exchanged as one: the part from start to stop of all gradients, counted in elements."""

    algorithm: str
    start: int
    stop: int
    tensors: int  # how many


def scaled(parameters):
    """The number of elements of a tensor in the lab."""
    return max(1, round(parameters / SCALE))


def algorithm(size, settings):
    """The way of exchange of a tensor of this size in bytes.

    The documentation doesn't say which goes first where both thresholds let a tensor in; here it is top-k.
    """
    if settings.topk and size >= settings.topk_threshold:
        return TOPK
    if settings.two_dimensional and size <= settings.hierarchical_threshold:
        return TWO_DIMENSIONAL
    return RING


def plan(tensors, itemsize, settings):
    """Return the Transfers of tensors with so many parameters of so many bytes each.

    Neighbours of one algorithm are fused while they fit in the fusion buffer. Top-k tensors never are: each keeps its own
    largest values.
    """
    transfers, fused = [], 0
    for parameters in tensors:
        size, elements = parameters * itemsize, scaled(parameters)
        way = algorithm(size, settings)
        last = transfers[-1] if transfers else Transfer(way, 0, 0, 0)
        if transfers and way == last.algorithm != TOPK and fused + size <= settings.fusion_threshold:
            transfers[-1] = last._replace(stop=last.stop + elements, tensors=last.tensors + 1)
            fused += size
        else:
            transfers.append(Transfer(way, last.stop, last.stop + elements, 1))
            fused = size
    return transfers


def lines(model, tensors, itemsize, transfers, settings):
    """The line of a plan in the output."""
    full, here = sum(tensors) * itemsize, transfers[-1].stop * itemsize
    said = [
        "LAB sizes: %s has %d gradient tensors of %d bytes; they, LIGHT_* and HOROVOD_* thresholds are divided by %d: %d bytes"
        % (model, len(tensors), full, SCALE, here)
    ]
    for way in (RING, TWO_DIMENSIONAL, TOPK):
        mine = [transfer for transfer in transfers if transfer.algorithm == way]
        if mine:
            size = sum(transfer.stop - transfer.start for transfer in mine) * itemsize
            count = sum(transfer.tensors for transfer in mine)
            said.append("LAB exchange by %s: tensors %d, transfers %d, bytes %d" % (way, count, len(mine), size))
    if settings.slowdown > 1:
        said.append("LAB slowdown: batches are made to take %g times as long" % settings.slowdown)
    return said
