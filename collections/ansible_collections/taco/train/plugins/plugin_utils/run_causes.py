# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""The table of the causes that the output of a failed run can show, for run_reason.

The order is the priority: what stands higher is the cause of what stands lower, and mpirun's epilogue comes last. The wordings
are those of the programs' own sources, over the versions in use.
"""

from ansible_collections.taco.train.plugins.plugin_utils.run_causes_epilogue import EPILOGUE
from ansible_collections.taco.train.plugins.plugin_utils.run_causes_launch import LAUNCH
from ansible_collections.taco.train.plugins.plugin_utils.run_causes_network import NETWORK
from ansible_collections.taco.train.plugins.plugin_utils.run_causes_ranks import RANK
from ansible_collections.taco.train.plugins.plugin_utils.run_causes_software import SOFTWARE

CAUSES = [*LAUNCH, *SOFTWARE, *NETWORK, *RANK, *EPILOGUE]
EPILOGUE_FROM = len(CAUSES) - len(EPILOGUE)
