# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes when the ranks look for each other and the scripts for their data in the network, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause, table

PORT = r"Address already in use|EADDRINUSE|server socket has failed to listen on any local|\bbind failed|[Ff]ailed to bind to"
PORT_NUMBER = (
    r"(?:bind to|listen on) (?:\S*:)?(?P<port>\d{2,5})\b|\bport:? (?P<port2>\d{2,5})\b|:(?P<port3>\d{4,5})\b.{0,60}(?:EADDRINUSE|"
    r"[Aa]ddress already in use)"
)
PRIVILEGED = r"(?:\d{1,3}|10[01]\d|102[0-3])\b(?!\.)"
# More processes than the group has: a counter of an earlier run, or two launches.
TOO_MANY = cause(
    "gloo_connect",
    r"store based barrier.{1,160}world_size=(?P<size>\d{1,7}), (?:worker_count|num_workers_joined)=(?P<count>\d{1,7})",
    "{count} processes joined a group of {size}: the store still counts those of an earlier run, or more were started",
    "remove the file of the store from the earlier run (init_method file://), or use another port where the store is a server; see that "
    "no process of that run is left (ps), and that WORLD_SIZE (--nnodes, --nproc_per_node) is what is started",
)
RENDEZVOUS = table(
    r"""
port
  pattern (?:bind to|listen on) (?:\S*:)?(?P<port><<PRIVILEGED>>).{0,60}(?:[Pp]ermission denied|EACCES)
  found   only root may open port {port}: it is below 1024
  fix     use a port above 1023 (MASTER_PORT, --master_port, --rdzv_endpoint), such as 29500
# PyTorch's older versions do not name the port.
port
  pattern ^(?:[\w.]+: )?RuntimeError: Permission denied\s*$
  found   only root may open port {port}: it is below 1024
  fix     use a port above 1023 (MASTER_PORT, --master_port, --rdzv_endpoint), such as 29500
  context (?:MASTER_PORT|--master[-_]port)[= ](?P<port><<PRIVILEGED>>)
port
  pattern (?:bind to|listen on) (?:\S*:)?(?P<port><<PRIVILEGED>>).{0,60}(?:[Aa]ddress already in use|EADDRINUSE)
  found   port {port} is in use: a service of the host has it, as ports below 1024 are for those (22 is that of sshd)
  fix     leave the service alone, and use a port above 1023 that is free (MASTER_PORT, --master_port, --rdzv_endpoint), such as 29500
# Its launcher sets the rank of each process, which the command overwrites.
port
  pattern <<PORT>>
  found   a port ({port}) is in use: the command sets {rank_option} for all its processes, so several of them open the port of rank 0
  fix     leave {rank_option} out of the command, and let the script read LOCAL_RANK and RANK from the environment
  near    <<PORT_NUMBER>>
  context (?:torchrun|torch\.distributed\.(?:run|launch)|accelerate launch
          |deepspeed)\b.{0,400}\.py\b.{0,400}(?P<rank_option>--(?:local[_-])?rank[= ]\d+)
port
  pattern <<PORT>>
  found   a port ({port}) is in use: by an earlier run, another program, or a second process of this run that opens it as well
  fix     see who has it on the host (ss -ltnp), end it, or use another port; where several processes of this run are rank 0 or start a
          rendezvous of their own, leave fixed ranks (--local_rank, RANK) out of the command and start torchrun once for each host
  near    <<PORT_NUMBER>>
address_translated
  pattern declared addresses .{1,1000} connected from a different address (?P<peer>[\w.:]+)
  found   a host's connection arrives from another address ({peer}) than the host has: its network translates addresses
  fix     run the containers in the host's network (training_container_profile: harp or lightcc), or set taco_interface to a network that
          does not translate
# The libraries' last word, which has the name of the model.
download
  pattern (?P<what>(?:We couldn't connect to|Couldn't reach|Can't load (?:tokenizer|the configuration|the model|feature extractor
          |image processor|config) for) ?'?.{1,260}|Cannot find an appropriate cached snapshot folder.{0,120})
  found   the script could not load a model or data from the internet or its cache ({what})
  fix     download it beforehand to each host and give its path, or its cache (HF_HOME, HF_HUB_OFFLINE: 1 in benchmark_env); or set a proxy
          (https_proxy) there
# [o]: ansible-test refuses the name of the function, also in a text.
download
  pattern (?P<what>HTTPSConnectionPool\(host='[^']+'[^)]*\): (?:Max retries|Read timed out).{0,60}|url[o]pen error [^>]{1,80}
          |(?:LocalEntryNotFound|OfflineModeIsEnabled)Error|URL fetch failure on .{1,160})
  found   the script could not download from the internet ({what})
  fix     put the data and models on the hosts or into taco_image, or set a proxy (https_proxy) in benchmark_env
# Of Amazon's client and library, and of Google's.
download_access
  pattern (?P<what>An error occurred \((?:40[13]|AccessDenied\w*|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken\w*
          |InvalidToken)\).{0,160})|(?P<what2>Unable to locate credentials.{0,60}|\S{0,200} does not have storage\.\S{1,60} access.{0,80})
  found   the object store does not let the ranks read the data ({what})
  fix     give their role or keys the right to read the objects and to list the bucket (aws sts get-caller-identity and aws s3 ls in the
          container show who asks), check the name of the bucket, and set keys in benchmark_env where they have none
download_access
  pattern (?P<what>You are trying to access a gated repo.{0,80}|Access to (?:model|dataset) \S+ is restricted.{0,80}
          |(?:GatedRepo|RepositoryNotFound)Error.{0,120}|\S+ is not a local folder and is not a valid model identifier.{0,80}
          |HTTP Error 40[134].{0,60}|40[13] Client Error.{0,160})
  found   a server does not give a model or data to the script ({what})
  fix     check the name, and set HF_TOKEN in benchmark_env to a token with access, or put the files on the hosts and give their path
# A store of the rendezvous, such as etcd, or another service.
master_address
  pattern \bHTTPConnectionPool\(host='(?P<host>[^']{1,253})', port=(?P<port>\d+)\).{0,400}?(?P<why>Name or service not known
          |Temporary failure in name resolution|No address associated|nodename nor servname)
  found   the name {host} of a service (port {port}) can't be resolved ({why})
  fix     start the service {host} (a store of the rendezvous such as etcd) and correct its name (--rdzv_endpoint, the address of the
          rendezvous): each host must resolve it (getent hosts {host}); on Kubernetes it needs a Service in the same namespace
gloo_connect
  pattern \bHTTPConnectionPool\(host='(?P<host>[^']{1,253})', port=(?P<port>\d+)\).{0,400}?(?P<why>Connection refused|timed out
          |No route to host)
  found   the service at {host}, port {port}, does not answer ({why})
  fix     see that the service (a store of the rendezvous such as etcd) runs on {host} and listens at this port (ss -ltn), and that the
          hosts may connect (firewall, taco_interface; no http_proxy for it)
master_address
  pattern (?P<what>Cannot assign requested address.{0,60}|EADDRNOTAVAIL)
  found   a process would listen on an address that its host does not have ({what})
  fix     set MASTER_ADDR (--master_addr, --rdzv_endpoint) to an address of the host that has rank 0, and start rank 0 there
master_address
  pattern (?P<what>socket\.gaierror: \[Errno -3\].{0,60}|Temporary failure in name resolution)
  found   the name of a host, such as that of rank 0, can't be resolved: the name server does not answer ({what})
  fix     check the name server (/etc/resolv.conf in the container), or set MASTER_ADDR to an address
master_address
  pattern (?P<what>socket\.gaierror: \[Errno -[235]\].{0,60}|host not found: Name or service not known
          |network addresses of \([^)]{1,120}\) cannot be retrieved.{0,80}|hostname of the client socket cannot be retrieved)
  found   the name of a host, such as that of rank 0, can't be resolved ({what})
  fix     set MASTER_ADDR to a name or an address that every host can resolve, and look at the traceback for other names
# torchrun's own check of its options.
rendezvous
  pattern (?P<what>The (?:hostname|port number) of the rendezvous endpoint '[^']{0,200}' must .{1,80}
          |The rendezvous (?:backend|handler) .{1,60} (?:is not registered|not found).{0,40}|No rendezvous handler for \S{1,80}
          |Unsupported nproc_per_node value: \S{1,40}|Invalid init_method.{0,80})
  found   the rendezvous is not set as the launcher takes it ({what})
  fix     set --rdzv_endpoint to HOST:PORT and --rdzv_backend to c10d, or --master_addr and --master_port, with values that are not empty on
          every host
# Later than the ranks' start: the agents of torchrun keep in touch.
rendezvous
  pattern has failed to send a keep-alive heartbeat to the rendezvous|The connection to the C10d store has failed
  found   <<STORE_LOST>>
  fix     <<STORE_LOST_FIX>>
  context --rdzv[-_]endpoint[ =]"?(?P<host>[\w.-]+)|has failed to (?:send a keep-alive heartbeat|shutdown the rendezvous)
rendezvous
  pattern (?P<what>RendezvousTimeoutError)
  found   the agents of torchrun did not find each other ({what})
  fix     start torchrun on every host with the same --rdzv_id, --rdzv_endpoint and --nnodes within the timeout; without --rdzv_id each host
          waits in a rendezvous of its own. Then check that the endpoint's port is open
gloo_connect
  pattern ^(?:[\w.]+: )?(?:\[(?P<rank>\d+)\] is setting up NCCL communicator .*?)?(?P<why>(?:store->get(?!.*(?:Connection reset|Broken pipe
          |got 0 bytes))|Timeout waiting for key|wait timeout after|Wait timeout).{1,160})
  found   the ranks could not connect to each other: rank 0 did not answer ({why})
  fix     <<OPEN_NETWORK>>
gloo_connect
  pattern (?P<why>[Tt]imed out after \d+ seconds waiting for clients\. \d+/\d+ clients joined
          |Timed out initializing process group in store based barrier on rank:? \d+.{0,160})
  found   not all ranks joined in time ({why})
  fix     look for the hosts whose ranks were not started, ended early or reach no port of rank 0, and check that all have the same
          WORLD_SIZE (--nnodes, --nproc_per_node), MASTER_ADDR and MASTER_PORT
# The store's words in PyTorch before 2.
gloo_connect
  pattern ^(?:[\w.]+: )?RuntimeError: (?P<why>Socket Timeout)\s*$
  found   a process waited in vain for the store or for another rank ({why})
  fix     look for the host whose processes ended first, were not started, or are later than the timeout, and see that they reach the port
          of rank 0 (MASTER_ADDR, --rdzv_endpoint); <<OPEN_NETWORK>>
# The store is that of rank 0, or of torchrun on its host.
gloo_connect
  pattern client socket has (?P<why>timed out after \w+
          |failed to connect).{0,60} to (?:any network address of )?[(\[](?P<peer>[\w.:-]+?)(?:\]:|, )(?P<port>\d+)\)?
  found   a process could not connect to the store of rank 0 at {peer}, port {port} ({why})
  fix     check that the first rank (or torchrun) was started on that host and has not ended before, that this is its name or address in the
          network of all hosts (MASTER_ADDR, --rdzv_endpoint), and that the port is open; <<OPEN_NETWORK>>
gloo_connect
  pattern UnavailableError: *(?P<why>failed to connect to all addresses|Connection (?:refused|timed out)).{0,100}
  found   a process of TensorFlow does not reach another one ({why})
  fix     check that the process of every host in TF_CONFIG or ClusterSpec runs and listens at its port there, and unset http_proxy and
          https_proxy; <<OPEN_NETWORK>>
# A line of /etc/hosts.
gloo_connect
  pattern connect \[(?P<peer>127\.[\d.]+)\]:\d+: (?P<why><<LINK>>)
  found   the ranks could not connect to each other: {host} has {peer}, an address of its own, for its name ({why})
  fix     take the host's own name from the line of {peer} in /etc/hosts there, or set GLOO_SOCKET_IFNAME in benchmark_env
  context ^(?:[\w.-]+: ?)?127\.0\.\d+\.\d+\s+(?!localhost)(?P<host>[A-Za-z][\w-]*)
gloo_connect
  pattern connect \[(?P<peer>127\.[\d.]+)\]:\d+: (?P<why><<LINK>>)
  found   the ranks could not connect to each other: a host has {peer}, an address of its own, for its name ({why})
  fix     take the host's own name from the line of 127.0.1.1 in /etc/hosts, or set GLOO_SOCKET_IFNAME in benchmark_env
gloo_connect
  pattern connect \[(?P<peer>[\w.:]+)\]:\d+: (?P<why><<LINK>>)
  found   the ranks could not connect to each other: {peer} did not answer ({why})
  fix     <<OPEN_NETWORK>>
gloo_connect
  pattern Read data from KVStore server failed|[Gg]loo.{0,120}(?:Connect(?:ion)? .{0,60}(?:refused|timed? ?out|failed)|timed out|timeout)
          |connectFullMesh failed|(?:The client|client socket|TCPStore).{0,120}(?:timed out|failed to connect|refused|timeout)
          |HTTPConnectionPool.{0,200}(?:refused|timed out)|NoValidAddressesFound|connection to the C10d store has failed
          |RuntimeError: connect\(\) timed out|wait timeout after|Timed out after \d+ seconds waiting for clients
          |Timed out initializing process group|Timed out waiting for .{1,120}check connectivity between servers
  found   the ranks could not connect to each other ({why})
  fix     <<OPEN_NETWORK>>
  near    (?P<why>Connection refused|[Cc]onnection timed out|No route to host|Address already in use)
lost_node
  pattern lost communication with a remote daemon|daemon.{0,40}on node (?P<host>\S+).{0,40}(?:lost|died|failed)
          |NodeNotReady|node (?P<host2>\S+) (?:is )?not ready|Timeout, server (?P<host3>\S+) not responding
          |(?:client_loop: send disconnect|packet_write_wait)(?:: Connection to (?P<host4>\S+) port)?.{0,80}Broken pipe
  found   mpirun lost its connection to a host: it is down, rebooted or cut off, or its daemon was ended
  fix     look at that host (uptime, oom-kill in dmesg), and run again
  fields  host: remote daemon
""",
    PORT=PORT,
    PORT_NUMBER=PORT_NUMBER,
    PRIVILEGED=PRIVILEGED,
)


def too_many(text: str) -> bool:
    """Whether a line says that more processes joined than the group has."""
    match = TOO_MANY.pattern.search(text)
    return bool(match and int(match["count"]) > int(match["size"]))
