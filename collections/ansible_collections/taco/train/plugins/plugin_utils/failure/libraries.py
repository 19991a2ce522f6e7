# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the libraries and the modules of an image, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# The pattern and the sentence of two causes: with and without the variable.
HOROVOD_BUILD = (
    r"Extension horovod\.(?P<extension>\S+) has not been built|(?:MPI|Gloo|NCCL) support has not been built|"
    r"(?P<support>\w+) support is required .{1,60}not been built|Neither MPI nor Gloo support has been built|"
    r"[Ff]ailed to determine if \w+ support has been built|has not been built(?: with|\.) .*HOROVOD_WITH|[Hh]orovod (?:was not|"
    r"has not been|is not) (?:built|compiled) with (?P<with>\w+)|Unable to determine if \S+ was built|"
    r"ReadyEvent .{0,40}not compiled with (?P<with2>\w+)"
)
HOROVOD_LACKS = "Horovod in the image was built without what the run needs ({extension}{with}{support})"
LIBRARIES = table(
    r"""
plugin_symbol
  pattern (?P<library>\S*libnccl-net\S*): undefined symbol: (?P<symbol>\w+)
          |symbol lookup error: (?P<library2>\S*libnccl-net[^\s:]*): .*?(?P<symbol2>\w+)$
  found   NCCL's plugin {library} lacks the symbol {symbol}: it was built for other libraries
  fix     use the plugin of the taco_image's own HARP, or an arm without the plugin
glibc
  pattern version [`'\u2018](?P<version>(?:GLIBC|GLIBCXX|CXXABI|GCC)_[\w.]+)['\u2019] not found(?: \(required by (?P<by>[^)]+)\))?
  found   the image has no {version}, which {by} needs: the library was built for a newer system
  fix     use a taco_image of the system for which it was built
build
  pattern fatal error: (?P<header>nccl\.h): No such file|(?P<header2>NCCL 2\.0 library or its later version was not found)
  found   a build finds no NCCL ({header})
  fix     install NCCL with its headers in taco_image (libnccl-dev), or set HOROVOD_NCCL_HOME in benchmark_horovod_build_env to the folder
          with its include/nccl.h and lib
build
  pattern fatal error: (?P<header>[\w./+-]{1,120}\.h(?:pp|h)?): No such file
  found   a build finds no header {header}
  fix     install the package that has it in taco_image, with its files for development (-dev), or add its folder to CPATH for the build
# Horovod's error has the variable for what it lacks, in this line or the next one.
horovod_build
  pattern <<HOROVOD_BUILD>>
  found   <<HOROVOD_LACKS>>
  fix     build Horovod again with {flag} (benchmark_horovod_build_env), after what this needs is installed in taco_image: the build then
          stops with the reason where it can't
  context reinstall Horovod with (?P<flag>HOROVOD_\w+=\w+)
horovod_build
  pattern <<HOROVOD_BUILD>>
  found   <<HOROVOD_LACKS>>
  fix     build Horovod again in taco_image (benchmark_horovod_build_env) with HOROVOD_WITH_MPI=1, HOROVOD_GPU_OPERATIONS=NCCL and
          HOROVOD_WITH_TENSORFLOW=1, HOROVOD_WITH_PYTORCH=1 or HOROVOD_WITH_MXNET=1
# PyTorch's packages have NCCL and Gloo only.
framework_build
  pattern Distributed package doesn't have (?P<what>MPI|UCC|XCCL|HCCL) built in
  found   PyTorch in the image was built without {what}
  fix     start the script with the backend nccl (gloo on the CPU) in place of {what}, or build PyTorch with it in taco_image
framework_build
  pattern Distributed package doesn't have (?P<what>\w+) built in|Torch not compiled with (?P<what2>CUDA) enabled
  found   PyTorch in the image was built without {what}
  fix     use a taco_image whose PyTorch is built for CUDA (python3 -c 'import torch; print(torch.version.cuda)'), or run on the CPU with
          gloo
# What older and newer versions of NumPy lack.
import
  pattern (?P<why>module 'numpy' has no attribute '(?:object|bool|int|float|complex|str|typeDict)'|numpy\.(?:dtype|ufunc) size changed
          |A module that was compiled using NumPy 1\.x cannot be run in NumPy 2.{0,20})
  found   NumPy in the image is another than the script or the framework needs ({why})
  fix     install an older NumPy in taco_image: before 1.24 for np.object and its like, before 2 for modules that were built for 1.x
model
  pattern module '[\w.]*applications' has no attribute '(?P<model>\w+)'|module '?torchvision\.models'? has no attribute '(?P<model2>\w+)'
          |Invalid model name '(?P<model3>[^']+)'
  found   the script knows no model {model}
  fix     set benchmark_options.model to a model that the script and its framework have, in their spelling
framework_version
  pattern (?P<what>(?:ImportError: cannot import name|AttributeError: (?:module|'module')
          |ModuleNotFoundError: No module named 'tensorflow\.).{0,160})
  found   this tf_cnn_benchmarks is for another version of TensorFlow ({what})
  fix     use the branch cnn_tf_vX.Y_compatible of tensorflow/benchmarks for the TensorFlow in taco_image, or another taco_image
  context tf_cnn_benchmarks(?:/\w+)?\.py", line
framework_version
  pattern module '(?P<module>tensorflow(?:\.(?:_api|compat)[\w.]*)?)' has no attribute '(?P<attribute>\w+)'
          |No module named '?(?P<contrib>tensorflow\.(?:contrib|examples)[\w.]*)'?
  found   the script is for another version of TensorFlow ({module}{attribute}{contrib})
  fix     set benchmark_options.script to one for the TensorFlow in taco_image, or use another taco_image
# A launcher starts it on the other hosts, with the Python there.
module
  pattern finding module specification for '?(?P<module>(?:horovod|deepspeed|torch|accelerate)\.[\w.]+)
          |No module named '?(?P<module2>(?:horovod\.run(?:ner)?|deepspeed\.launcher|torch\.distributed\.(?:run|launch))\b[\w.]*)
  found   a host's Python has no {module}, a module of the launcher: its package is absent there or has another version
  fix     <<IMAGE>>: the same package for the Python that ssh finds there (ssh HOST 'which python3')
# Of python3 -m, which the interpreter prints itself.
module
  pattern (?<![\w.-])(?:/[\w./+-]{1,200}/)?(?:python|pypy)[\d.]{0,6}: (?:No module named '?(?P<module>[\w.]+)'?
          |Error while finding (?:module specification|spec) for '?(?P<module2>[\w.]+))
  found   python -m finds no module {module}: it is neither in the working folder or PYTHONPATH of the ranks nor installed
  fix     for a file of your own, set benchmark_options.chdir to its folder, or PYTHONPATH in benchmark_env, on every host; else install
          {module} in taco_image for the Python that the command starts
module
  pattern (?:ModuleNotFoundError|ImportError|following error): No module named '?(?P<module>[\w.]+)'?
  found   the image has no Python module {module}
  fix     install it in taco_image for the Python that the command starts; if {module} is a file or folder of your own, set PYTHONPATH in
          benchmark_env to the folder that has it, on every host
# Libraries of CUDA that are older than the one that needs them.
symbol
  pattern (?:(?<![^\s:])(?P<library>[^\s:]{1,300}): )?undefined symbol: (?P<symbol>(?:p?nccl[A-Z]|cu(?:blas|dnn|sparse|solver|fft|pti|rand)
          |__nvJitLink|nvJitLink|nvrtc|nvtx)\w*)
  found   the library that needs the symbol {symbol} ({library}) was built for a newer version than the one that is loaded
  fix     see with ldd which file is loaded, take its folder out of LD_LIBRARY_PATH in benchmark_env and taco_image, or install the version
          that the framework needs there
symbol
  pattern ^(?!.*(?:/mca_\w+\.so: undefined|\(ignored\))).*undefined symbol: (?P<symbol>(?:ompi|opal|orte|MPI|PMPI|mca|pmix|PMIx|ucp|ucs
          |uct)_\w+)
  found   libraries of two versions of MPI are mixed: the loaded one lacks the symbol {symbol}
  fix     use one MPI in taco_image for mpirun, Horovod and the framework: check LD_LIBRARY_PATH and OPAL_PREFIX in benchmark_env, and ldd
symbol
  pattern ^(?!.*(?:/mca_\w+\.so: undefined|\(ignored\))).*undefined symbol: (?P<symbol>\w+)
  found   a library lacks the symbol {symbol}: it was built against another version
  fix     build Horovod and its like again in taco_image for the framework and NCCL that are there
# Horovod's extension is linked to the framework that it was built for.
horovod_build
  pattern Error: (?:.* )?(?P<library>\S*lib(?:torch|c10|tensorflow_framework|tensorflow_cc|mxnet)\w*\.so[\w.]*): cannot open shared object
  found   Horovod in the image was built for another version of the framework, or for none that is there: it needs {library}
  fix     install the framework first in taco_image and build Horovod anew for it (pip install --no-cache-dir --force-reinstall horovod,
          benchmark_horovod_build_env)
  context import horovod|from horovod|horovod/(?:torch|tensorflow|mxnet|common|keras|_keras)/
# The loader's errors, whichever exception of Python they become.
library
  pattern ^(?:E +)?(?:\w+\.)*\w+(?:Error|Exception): (?:.* )?(?P<library>[^\s:'"]*\.so[\w.]*): (?P<why>file too short
          |invalid ELF header|wrong ELF class: \w+|failed to map segment from shared object|cannot allocate memory in static TLS block
          |cannot enable executable stack)
  found   a library can't be loaded: {library} ({why})
  fix     install it again in taco_image, for the CPU and the system there; for TLS set LD_PRELOAD in benchmark_env to it
# The container toolkit mounts those of the host.
library
  pattern (?:Error|Exception|libraries): (?:.{0,400} )?(?P<library>(?:\S{0,200}/)?lib(?:cuda
          |nvidia-[\w-]{1,30})\.so[\w.]{0,20}): cannot open shared object file
  found   the program finds no {library}, a library of the NVIDIA driver: the container has no GPUs, or its host has no driver
  fix     start it with GPUs on a host with the driver (nvidia-smi; training_container_gpus, docker run --gpus all), and do not install the
          library in taco_image; for a build without a GPU set LD_LIBRARY_PATH to the folder stubs of CUDA (/usr/local/cuda/lib64/stubs)
# Their file names have the version that the program was built for.
library
  pattern (?:Error|Exception|libraries): (?:.{0,400} )?(?P<library>[^\s:'"]{0,200}lib(?:cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver
          |cusparse|cupti|nvrtc|nvToolsExt|nccl|nvinfer)[\w-]{0,40}\.so[\w.]{0,20}): cannot open shared object file
  found   the program finds no library {library}: it was built for this version of CUDA, or its folder is not searched
  fix     set LD_LIBRARY_PATH in benchmark_env to its folder, where taco_image has it (ldconfig -p, find / -name '{library}*'); else use a
          taco_image with this version, or a framework and Horovod that are built for the version there
# TensorFlow goes on without GPUs, and operations then fail on the CPU.
library
  pattern only supports (?:the )?NHWC|explicitly assigned to /device:GPU:\d+ but available devices are \[(?!.*device:GPU:\d)
          |NHWC tensor format on CPU
  found   TensorFlow uses no GPU, as it finds no library {library}
  fix     set LD_LIBRARY_PATH in benchmark_env to its folder, where taco_image has it (ldconfig -p, find / -name '{library}*'); else use a
          taco_image with the version of CUDA and cuDNN that its TensorFlow was built for
  context Could not load dynamic library '(?P<library>lib(?:cudart|cublas|cudnn|cufft|curand|cusolver|cusparse)[\w.]*)'
library
  pattern ^(?:E +)?(?:\w+\.)*\w+(?:Error|Exception): (?:.* )?(?P<library>[^\s:'"]*\.so[\w.]*): cannot open shared object file
          |error while loading shared libraries: (?P<library2>[^\s:]+)
          |Could not load library (?P<library3>lib\S+?)\.? |Unable to load (?:any of )?\{?(?P<library4>libcudnn[^\s,}]*)
  found   the program finds no library {library}
  fix     set LD_LIBRARY_PATH in benchmark_env to its folder, where taco_image has it (ldconfig -p, find / -name '{library}*'); else install
          it in taco_image
import
  pattern TypeError: (?P<why>Descriptors cannot (?:not )?be created directly)
  found   the package protobuf in the image is newer than the code that the framework brings for it ({why})
  fix     install an older one in taco_image (pip install 'protobuf<=3.20.3'), or a newer framework
import
  pattern ImportError: (?P<why>.{1,200})|RuntimeError: (?P<why2>module compiled against (?:API|ABI) version .{1,120})
  found   a Python module can't be imported ({why})
  fix     use versions that fit together in taco_image
""",
    HOROVOD_BUILD=HOROVOD_BUILD,
    HOROVOD_LACKS=HOROVOD_LACKS,
)
