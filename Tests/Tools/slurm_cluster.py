# SPDX-License-Identifier: MPL-2.0
"""A Slurm of one node on the loopback interface, without systemd or containers.

  slurm_cluster.py FOLDER SECONDS COMMAND ...    runs a command in it, with its exit code; 124 if it
                                                 hangs, after SECONDS

All its files are in FOLDER; SLURM_CONF is FOLDER/slurm.conf. It needs root, as munge and slurmd do.
"""
import os
import pathlib
import socket
import subprocess
import sys
import time

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} CoresPerSocket={cores} RealMemory=1000
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(parents=True)
    (folder / "munge").chmod(0o700)
    key = folder / "munge/key"
    key.write_bytes(os.urandom(64))
    key.chmod(0o400)
    host = socket.gethostname().split(".")[0]
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=host, ports=free_ports(2), folder=folder, cores=os.cpu_count() or 1))
    environment = dict(os.environ, SLURM_CONF=str(configuration))
    munge = folder / "munge"
    daemons = []

    def start(*command):
        log = open(folder / f"{command[0]}.log", "ab")
        daemons.append(subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    try:
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
              f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait_for(lambda: (munge / "socket").exists())
        start("slurmctld", "-D", "-c")
        start("slurmd", "-D", "-c")
        wait_for(lambda: b"idle" in subprocess.run(
            ["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True).stdout)
        return subprocess.run(
            sys.argv[3:], env=environment, stdin=subprocess.DEVNULL,
            timeout=float(sys.argv[2])).returncode
    except subprocess.TimeoutExpired:
        return 124
    finally:
        # Nothing of their state is needed again.
        for daemon in reversed(daemons):
            daemon.kill()
            daemon.wait()


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit("the cluster does not start: see the logs in its folder")
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
