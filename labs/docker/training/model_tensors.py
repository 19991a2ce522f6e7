# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many parameters each gradient tensor of a model has, worked out from the layers that its authors published.

A tensor is what a framework hands to the all-reduce: a layer's weights, its bias, or one side of a normalisation.
Every generator yields its tensors in the order of the layers.
"""

CLASSES = 1000  # of ImageNet


def convolution(inputs, outputs, taps, normalised=2):
    """Yield a convolution without bias, and the tensors of the batch normalisation behind it.

    taps is how many places of the image it sees (9 for 3x3); a depthwise one has a single input a filter.
    """
    yield taps * inputs * outputs
    for _tensor in range(normalised):
        yield outputs


def dense(inputs, outputs):
    """Yield the weights and the bias of a fully connected layer."""
    yield inputs * outputs
    yield outputs


def resnet(blocks):
    """Yield a ResNet of bottleneck blocks (He and others, arXiv 1512.03385, table 1)."""
    yield from convolution(3, 64, 49)
    inputs = 64
    for stage, count in enumerate(blocks):
        width = 64 * 2**stage
        outputs = 4 * width
        for block in range(count):
            yield from convolution(inputs, width, 1)
            yield from convolution(width, width, 9)
            yield from convolution(width, outputs, 1)
            if block == 0:
                yield from convolution(inputs, outputs, 1)  # the shortcut, where the width changes
            inputs = outputs
    yield from dense(inputs, CLASSES)


def vgg(layers):
    """Yield a VGG network (Simonyan and Zisserman, arXiv 1409.1556, table 1); its convolutions have a bias."""
    inputs = 3
    for outputs in layers:
        yield from dense(9 * inputs, outputs)
        inputs = outputs
    yield from dense(7 * 7 * inputs, 4096)
    yield from dense(4096, 4096)
    yield from dense(4096, CLASSES)


def mobilenet_v2():
    """Yield MobileNetV2 (Sandler and others, arXiv 1801.04381, table 2): expansion, channels and repeats of a stage."""
    inputs = 32
    yield from convolution(3, inputs, 9)
    for expansion, outputs, repeats in (
        (1, 16, 1),
        (6, 24, 2),
        (6, 32, 3),
        (6, 64, 4),
        (6, 96, 3),
        (6, 160, 3),
        (6, 320, 1),
    ):
        for _repeat in range(repeats):
            hidden = inputs * expansion
            if expansion > 1:
                yield from convolution(inputs, hidden, 1)
            yield from convolution(1, hidden, 9)  # depthwise
            yield from convolution(hidden, outputs, 1)
            inputs = outputs
    yield from convolution(inputs, 1280, 1)
    yield from dense(1280, CLASSES)


def inception_branch(inputs, steps):
    """Yield convolutions in a row, each (taps, outputs); as Keras has them, normalised without a scale."""
    for taps, outputs in steps:
        yield from convolution(inputs, outputs, taps, normalised=1)
        inputs = outputs


def inception_v3():
    """Yield InceptionV3 (Szegedy and others, arXiv 1512.00567) as Keras has it, without the auxiliary classifier.

    Keras normalises without a scale and so counts 23.8 million; with the scales and the auxiliary classifier it is 27.2.
    """
    yield from inception_branch(3, [(9, 32), (9, 32), (9, 64), (1, 80), (9, 192)])
    for inputs, pooled in ((192, 32), (256, 64), (288, 64)):  # 35x35
        for steps in ([(1, 64)], [(1, 48), (25, 64)], [(1, 64), (9, 96), (9, 96)], [(1, pooled)]):
            yield from inception_branch(inputs, steps)
    for steps in ([(9, 384)], [(1, 64), (9, 96), (9, 96)]):  # down to 17x17
        yield from inception_branch(288, steps)
    for narrow in (128, 160, 160, 192):  # 17x17; 7 taps are 1x7 or 7x1
        long = [(1, narrow)] + [(7, narrow)] * 3 + [(7, 192)]
        for steps in ([(1, 192)], [(1, narrow), (7, narrow), (7, 192)], long, [(1, 192)]):
            yield from inception_branch(768, steps)
    for steps in ([(1, 192), (9, 320)], [(1, 192), (7, 192), (7, 192), (9, 192)]):  # down to 8x8
        yield from inception_branch(768, steps)
    for inputs in (1280, 2048):  # 8x8; two branches end in 1x3 beside 3x1
        for steps in ([(1, 320)], [(1, 384)], [(1, 448), (9, 384)], [(1, 192)]):
            yield from inception_branch(inputs, steps)
        for _end in range(4):
            yield from inception_branch(384, [(3, 384)])
    yield from dense(2048, CLASSES)


def transformer_xl():
    """Yield the large Transformer-XL for WikiText-103 (Dai and others, arXiv 1901.02860) with sixteen layers.

    The sizes are those of its published training script (width 1024, 16 heads of 64, inner width 4096, adaptive softmax
    that narrows by 4). With the 18 layers of that script they make 285.2 million parameters. The paper counts 257 million,
    which comparisons quote; sixteen layers make 257.9 and so come nearest.
    """
    width, heads, inner, layers = 1024, 16 * 64, 4096, 16
    clusters = [20000, 20000, 160000, 67735]  # words, the frequent ones first
    for number, words in enumerate(clusters):
        narrow = width // 4**number
        yield words * narrow  # the embedding, which the softmax shares
        yield width * narrow  # its projection
        yield words  # the softmax' bias
    yield width * width  # the softmax' projection of the frequent words, which isn't shared
    yield from dense(width, len(clusters) - 1)
    yield heads  # two biases of the relative attention, for all layers
    yield heads
    for _layer in range(layers):
        yield 3 * width * heads
        yield width * heads  # of the relative positions
        yield heads * width
        yield from (width, width)  # normalisation
        yield from dense(width, inner)
        yield from dense(inner, width)
        yield from (width, width)


MODELS = {
    "inceptionv3": inception_v3,
    "mobilenetv2": mobilenet_v2,
    "resnet50": lambda: resnet((3, 4, 6, 3)),
    "resnet101": lambda: resnet((3, 4, 23, 3)),
    "transformerxl": transformer_xl,
    "vgg16": lambda: vgg([64] * 2 + [128] * 2 + [256] * 3 + [512] * 6),
}


def key(model):
    """Return the name of a model here, however its framework spells it: InceptionV3, inception_v3, Transformer-XL."""
    return "".join(letter for letter in model.lower() if letter.isalnum())


def tensors(model):
    """Return the number of parameters of each gradient tensor of a model; KeyError for one that isn't here."""
    return list(MODELS[key(model)]())
