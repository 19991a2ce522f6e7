# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The arguments of TTF's demo `benchmark`, and the line of TensorFlow's StepCounterHook: TTF is not public."""

import argparse
import time

import numpy as np

parser = argparse.ArgumentParser()
for name in ("batch_size", "dnn_layer_num"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--is_dynamic", choices=("True", "False"), required=True)
options = parser.parse_args()
layer = np.ones((options.batch_size, options.batch_size), "f4")
for _interval in range(5):
    begun = time.perf_counter()
    for _step in range(100):
        for _layer in range(options.dnn_layer_num):
            layer = np.tanh(layer @ layer)
    print(f"INFO:tensorflow:global_step/sec: {100 / (time.perf_counter() - begun):g}", flush=True)
