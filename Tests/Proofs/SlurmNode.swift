import Foundation
import Glibc
import TestTrees

/// A Slurm cluster of only this machine, in a directory of its own.
struct SlurmNode {
    /// How many lines of the manifest a task takes.
    static let chunk = 100

    private let place: BytePath
    private var configuration: BytePath { place / "slurm.conf" }

    /// Why no cluster can be started here; `nil` if one can.
    static var whyMissing: String? {
        guard getuid() == 0 else { return "Slurm's daemons need root" }
        let programs = ["munged", "slurmctld", "slurmd", "sbatch", "scancel", "sinfo"]
        let missing = programs.filter { !Tools.has($0) }
        return missing.isEmpty
            ? nil : "\(missing.joined(separator: ", ")) missing: install slurm-wlm"
    }

    /// Starts the daemons, and waits until the node takes jobs.
    init(in place: BytePath) throws {
        self.place = place
        for name: BytePath in ["", "munge", "state", "spool"] {
            try FileManager.default.createDirectory(
                at: (place / name).url,
                withIntermediateDirectories: true
            )
        }
        // Munge refuses a directory or key that others can write to.
        guard chmod((place / "munge").text, 0o700) == 0 else { throw ProofError("chmod fails") }
        let munge = (place / "munge").text
        try Tools.call(["sh", "-c", "umask 077; head -c 1024 /dev/urandom > \"$0\"/key", munge])
        try configuration.write(try text())
        do {
            try start(
                "munged",
                [
                    "munged", "--foreground", "--force", "--key-file=\(munge)/key",
                    "--socket=\(munge)/socket", "--pid-file=\(munge)/pid",
                    "--log-file=\(munge)/log",
                    "--seed-file=\(munge)/seed",
                ]
            )
            try start("slurmctld", ["slurmctld", "-D"])
            try start("slurmd", ["slurmd", "-D"])
            try waitUntilIdle()
        } catch {
            stop()
            throw error
        }
    }

    /// Starts a daemon, and writes its number to a file beside it.
    ///
    /// It must hold none of this process's descriptors: Foundation waits until all of them are closed.
    private func start(_ name: BytePath, _ command: [String]) throws {
        let script = """
            for file in /proc/$$/fd/*; do
                number=${file##*/}
                if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
            done
            setsid "$@" </dev/null >/dev/null 2>&1 &
            echo $! >"$0"
            """
        try Tools.call(
            ["bash", "-c", script, (place / name).text] + command,
            environment: environment
        )
    }

    /// The settings of a client to find the cluster.
    var environment: [String: String] { ["SLURM_CONF": configuration.text] }

    /// Ends the running jobs, as the loss of a node would.
    func cancelJobs() throws {
        try Tools.call(["scancel", "--user", "root"], environment: environment)
    }

    /// Ends the daemons.
    func stop() {
        for name: BytePath in ["slurmd", "slurmctld", "munged"] {
            let text = try? String(contentsOf: (place / name).url, encoding: .utf8)
            guard let text, let daemon = pid_t(text.trimmingCharacters(in: .newlines)) else {
                continue
            }
            kill(daemon, SIGTERM)
            // The process that inherits its children may leave it as a zombie, which has no program.
            for _ in 0..<500 where access("/proc/\(daemon)/exe", F_OK) == 0 { usleep(10_000) }
            kill(daemon, SIGKILL)
        }
    }

    private func waitUntilIdle() throws {
        for _ in 0..<300 {
            let state = try? Tools.call(
                ["sinfo", "--noheader", "--format", "%T"],
                environment: environment
            )
            if state?.hasPrefix("idle") ?? false { return }
            usleep(100_000)
        }
        throw ProofError("Slurm's node takes no jobs: see \(place.text)")
    }

    private func text() throws -> String {
        let host = try Tools.call(["hostname", "-s"]).trimmingCharacters(in: .newlines)
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let place = place.text
        return """
            ClusterName=proof
            SlurmctldHost=\(host)(127.0.0.1)
            SlurmUser=root
            SlurmdUser=root
            AuthType=auth/munge
            AuthInfo=socket=\(place)/munge/socket
            SlurmctldPort=\(Int.random(in: 20_000..<30_000))
            SlurmdPort=\(Int.random(in: 30_000..<40_000))
            StateSaveLocation=\(place)/state
            SlurmdSpoolDir=\(place)/spool
            SlurmctldPidFile=\(place)/slurmctld.pid
            SlurmdPidFile=\(place)/slurmd.pid
            SlurmctldLogFile=\(place)/slurmctld.log
            SlurmdLogFile=\(place)/slurmd.log
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            ReturnToService=2
            MpiDefault=none
            JobAcctGatherType=jobacct_gather/none
            AccountingStorageType=accounting_storage/none
            SchedulerParameters=sched_interval=1,sched_min_interval=0
            NodeName=\(host) NodeAddr=127.0.0.1 CPUs=\(processors) RealMemory=4096 State=UNKNOWN
            PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP

            """
    }
}
