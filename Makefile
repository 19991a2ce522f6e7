# Everything a user or a developer runs. `make demo` and `make test` need nothing but Python 3 and make (root installs what
# is missing); both can be run again at any time.

PYTHON ?= python3
LAB_NODES ?= 2
HOROVOD_SCRIPT ?=
BENCH_HOSTS ?= 10 40 200
BENCH_REPEATS ?= 1
BENCH_PLAN_HOSTS ?= 10 100
BENCH_FIRST_HOSTS ?= 10 40
BENCH_LOCATE_HOSTS ?= 16
BENCH := PYTHONPATH=$(CURDIR)/tests:$(CURDIR)/labs/docker:$(CURDIR)/collections python -m bench
COLLECTION := collections/ansible_collections/taco/train
LAB := $(PYTHON) labs/docker/lab.py
VMLAB := $(PYTHON) labs/vm/vmlab.py
KUBELAB := $(PYTHON) labs/kubernetes/kubelab.py
KUBELAB_PLAY := ansible-playbook -i inventories/kubelab
TWO := --jobs 2 --output-sync=target

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg

.PHONY: help demo demo-horovod demo-k8s demo-vm demo-locate test test-all test-vm vm-plan lint docs unit contract sanity sanity-all targets targets-all cores lab-cores galaxy molecule site killed kubernetes locate install build lab-up lab-down kubelab-up kubelab-down vm-up vm-down bench bench-first bench-plan bench-slice bench-locate bench-locate-hosts venv venv-dev tools

help:
	@echo "make demo      build a lab of $(LAB_NODES) nodes, take them from bare hosts to a comparison of three arms, show the report"
	@echo "make demo-horovod HOROVOD_SCRIPT=PATH   a number of upstream Horovod, TensorFlow and Horovod's own benchmark"
	@echo "make demo-k8s  the lab as a cluster: benchmark pods of an MPIJob as on TKE, and compare placements as on ACK"
	@echo "make demo-vm   the same on machines that really reboot, and back to the boot files that they came with"
	@echo "make demo-locate  slow a random node of a lab of 6 down, and find it"
	@echo "make test      lint docs unit sanity targets install molecule site kubernetes bench-slice"
	@echo "make test-vm   the whole scenario on machines that really reboot, and reboots that go wrong"
	@echo "make docs      the documentation site, in .docs/build/html"
	@echo "make test-all  test test-vm vm-plan killed locate, every supported ansible-core, target code under every Python, galaxy"
	@echo "make bench     the collection beside a plain playbook, general roles and raw ssh on $(BENCH_HOSTS) hosts; needs root"
	@echo "make bench-first  the same on bare hosts; make bench-plan BENCH_PLAN_HOSTS=\"$(BENCH_PLAN_HOSTS)\"  what a plan costs"
	@echo "make bench-locate  searches for slow hosts on simulated fleets, beside bisection and pairs by a threshold"
	@echo "make bench-locate-hosts  searches on $(BENCH_LOCATE_HOSTS) hosts of namespaces, with and without slow ones; needs root"
	@echo "make lab-up    only the lab; make lab-down, kubelab-down and vm-down remove what was started"

demo: venv
	$(LAB) up --nodes $(LAB_NODES)
	ansible-playbook playbooks/site.yml playbooks/compare.yml -i inventories/lab

# A number of upstream Horovod, which is fetched with pip and compiled, and its own benchmark, which you have: PATH is that
# script or a copy of Horovod's repository. No part of `make test`: it takes 420 MB from the package index and 20 GiB of disk.
demo-horovod: venv
	$(LAB) up --nodes $(LAB_NODES) --image horovod --horovod-script "$(HOROVOD_SCRIPT)"
	ansible-playbook playbooks/site.yml -i inventories/lab -e @labs/docker/horovod/variables.yml

# The nodes as those of a Kubernetes cluster: the way of TKE and back, then that of ACK natively and through Arena. kubectl and
# arena are doubles, which the stand-in brings.
demo-k8s: export PATH := $(CURDIR)/.lab/kube/bin:$(PATH)
demo-k8s: venv-dev
	$(KUBELAB) up --nodes 2
	$(KUBELAB_PLAY) playbooks/tke.yml
	$(KUBELAB_PLAY) playbooks/rollback.yml
	$(KUBELAB_PLAY) playbooks/ack.yml -e @labs/kubernetes/ack.yml
	$(KUBELAB_PLAY) playbooks/ack.yml -e @labs/kubernetes/ack.yml -e @labs/kubernetes/arena.yml

# The same on machines that really reboot, and back to the boot files that they came with.
demo-vm: venv
	$(VMLAB) up --nodes 2
	ansible-playbook playbooks/site.yml -i inventories/vm
	ansible-playbook playbooks/rollback.yml -i inventories/vm

# One node of the lab gets a random fault, the search names it, and the fault is printed beside the answer.
demo-locate: venv
	$(LAB) up --nodes 6
	ansible-playbook playbooks/prepare.yml playbooks/deploy.yml -i inventories/lab
	$(PYTHON) labs/docker/fault.py hide
	ansible-playbook playbooks/locate.yml -i inventories/lab -e @labs/docker/locate.yml --forks 12
	$(PYTHON) labs/docker/fault.py reveal

# One line after the other, also under make -j: they share two cores and a lab at a time. Those with TWO leave a part of the
# cores idle, and each prints its output when it ends.
test: venv-dev tools
	$(MAKE) $(TWO) unit sanity lint docs targets install
	$(MAKE) molecule
	$(MAKE) site
	$(MAKE) lab-down
	$(MAKE) $(TWO) kubernetes bench-slice

# Everything that a release must pass.
test-all: venv-dev tools
	@.venv/bin/python tools/cores.py
	$(MAKE) test
	$(MAKE) test-vm
	$(MAKE) vm-plan
	$(MAKE) locate
	$(MAKE) lab-cores
	$(MAKE) $(TWO) killed sanity-all targets-all cores galaxy

lint: venv-dev
	ruff check . && ruff format --check .
	mypy
	yamllint --strict .
	ansible-lint --offline -q
	cd $(COLLECTION) && antsibull-changelog lint && antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self .

# The guides, and a page for each plugin and role, in .docs/build/html.
docs: venv-dev
	.venv/bin/python tools/docs.py

unit: venv-dev tools
	pytest -q --numprocesses 2 --dist worksteal tests/unit tests/property tests/contract

# The outcomes of modules on a cluster: the API double, or with TACO_CONTRACT_NODE the cluster of KUBECONFIG.
contract: venv-dev
	pytest -q tests/contract

sanity: venv-dev tools
	.venv/bin/python tools/sanity.py

# With every ansible-core that the collection supports, each in an environment of its own.
sanity-all: venv-dev tools
	.venv/bin/python tools/sanity.py --core all

# The modules under every target Python of this machine, by the oldest ansible-core that the collection supports, and the
# unit tests of what they are made of under the oldest Python.
targets: venv-dev tools
	.venv/bin/python tools/targets.py
	pytest -q tests/integration/test_targets.py

targets-all: venv-dev tools
	.venv/bin/python tools/targets.py all

# Every playbook, role and plugin loaded with every ansible-core and the collections that belong to it: `ansible` 9 to 14.
cores: venv-dev tools
	pytest -q tests/integration/test_cores.py

# The whole path on the Docker lab with the oldest and the newest of them.
lab-cores: venv-dev tools
	$(LAB) up --nodes 2
	pytest -q tests/integration/test_lab_cores.py
	$(LAB) down

# What Galaxy does with an artifact that is published there.
galaxy: venv-dev
	.venv/bin/python tools/galaxy.py

# Built, installed in each documented way into an empty project, and used there, as the guides say.
install: venv-dev tools
	pytest -q tests/integration/test_install.py tests/integration/test_docs.py

# Reset, or molecule takes these nodes for those that it has prepared before.
molecule: venv-dev tools
	$(LAB) down
	$(LAB) up --nodes 2
	molecule reset --scenario-name default
	molecule test

# The whole path with its way back, and reboots that go wrong.
test-vm: venv-dev tools
	$(VMLAB) down
	$(VMLAB) up --nodes 2
	molecule reset --scenario-name vm
	molecule test --scenario-name vm
	$(VMLAB) up --nodes 3
	pytest -q tests/integration/test_vm.py
	$(VMLAB) down

# The forecast of a plan beside the time of the reboots.
vm-plan: venv-dev tools
	$(VMLAB) up --nodes 3
	pytest -q -s tests/integration/test_vm_plan.py
	$(VMLAB) down

# The whole path on the lab, what each kind of bad input gets, and how many connections a converged host costs.
site: venv-dev
	$(LAB) up --nodes 2
	pytest -q tests/integration/test_site.py tests/integration/test_workloads.py tests/integration/test_compare.py tests/integration/test_faults.py
	pytest -q tests/integration/test_plan.py
	pytest -q tests/integration/test_killed.py

# The controller is killed at every task that changes something on a host, and the hosts are compared with what they were.
killed: venv-dev
	$(LAB) up --nodes 2
	EVERY_TASK=1 pytest -q tests/integration/test_killed.py
	$(LAB) down

# Nodes of a Kubernetes cluster: the playbooks for TKE and ACK, their failures, and their resumption after the controller was killed.
kubernetes: export PATH := $(CURDIR)/.lab/kube/bin:$(PATH)
kubernetes: venv-dev tools
	$(KUBELAB) down
	$(KUBELAB) up --nodes 2
	pytest -q tests/integration/test_kubernetes.py tests/integration/test_kubernetes_locate.py
	$(KUBELAB) down
	$(LAB) down

# Searches for real faults of nodes, and of the network between them.
locate: venv-dev tools
	$(LAB) up --nodes 6
	pytest -q tests/integration/test_locate.py
	$(LAB) down

# What a converged host costs, beside what people would use instead: tests/bench/README.md. `make test` has it on two hosts only.
bench: venv-dev tools
	$(BENCH) --hosts "$(BENCH_HOSTS)" --repeats "$(BENCH_REPEATS)"

# What the first run costs, on bare hosts.
bench-first: venv-dev tools
	$(BENCH) --first --hosts "$(BENCH_FIRST_HOSTS)" --only abc --no-between --targets first --results results/bench-first

# What a plan costs of converged hosts and of hosts with a change, and how many entries the plan of 200 hosts in 4 kinds has.
bench-plan: venv-dev tools
	PYTHONPATH=$(CURDIR)/tests:$(CURDIR)/tests/support:$(CURDIR)/collections python -m bench.kinds
	$(BENCH) --hosts "$(BENCH_PLAN_HOSTS)" --only pq --no-between --targets plan --results results/bench-plan

# How often searches for slow hosts are right, on simulated fleets.
bench-locate: venv-dev
	PYTHONPATH=$(CURDIR)/tests:$(CURDIR)/tests/support:$(CURDIR)/collections python -m bench.locate

# The same on hosts of namespaces: real searches with mpirun and SSH, for no, one and two slow hosts.
bench-locate-hosts: venv-dev tools
	$(BENCH) --locate --hosts "$(BENCH_LOCATE_HOSTS)"

bench-slice: venv-dev tools
	pytest -q tests/integration/test_bench.py

build: venv
	ansible-galaxy collection build --force $(COLLECTION)

lab-up:
	$(LAB) up --nodes $(LAB_NODES)

lab-down:
	$(LAB) down

kubelab-up:
	$(KUBELAB) up

kubelab-down:
	$(KUBELAB) down

vm-up:
	$(VMLAB) up --nodes 2

vm-down:
	$(VMLAB) down

# For those who use the playbooks.
venv:
	@$(PYTHON) tools/venv.py

# For those who change them as well: test tools, and what builds the documentation.
venv-dev:
	@$(PYTHON) tools/venv.py --dev

tools:
	@$(PYTHON) tools/packages.py git openssh-client openssh-server
