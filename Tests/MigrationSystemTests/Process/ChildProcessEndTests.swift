import Foundation
import MigrationSystem
import TestSupport
import Testing

/// A FIFO shows whether any process is left: it ends when the last process that has it open is
/// gone.
@Suite(.scratchDirectory)
struct ChildProcessEndTests {
    /// A process that leaves session, group and parents, holding the FIFO open.
    private static let daemon = """
        exec 9>fifo
        (setsid sh -c '(setsid sh -c "echo ready >&9; echo up; exec sleep 600" &) & wait' &)
        """

    private let fifo: OpenFile
    private let directory: String

    init() throws {
        let path = try BytePath.scratch / "fifo"
        try path.makeFIFO()
        directory = try #require(ScratchDirectory.current).path
        fifo = OpenFile(try FileDescriptor.open(path, .reading))
    }

    private func program(_ script: String) -> TestProgram {
        var program = TestProgram(script)
        program.directory = directory
        return program
    }

    /// Reads the FIFO once; empty if no process has it open any more.
    private func read(waiting milliseconds: Int32 = 60_000) throws -> String {
        var request = pollfd(fd: fifo.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        try #require(poll(&request, 1, milliseconds) > 0)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try fifo.descriptor.read(into: &buffer, from: 0, count: 64)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Reads the number of the supervisor, which the program has printed.
    private func supervisor(toldBy process: ChildProcess) throws -> pid_t {
        let line = String(decoding: try process.nextOutput() ?? [], as: UTF8.self)
        return try #require(pid_t(line.split(separator: "\n").first ?? ""))
    }

    @Test func `leaves nobody of a group`() throws {
        let script = "exec 9>fifo; sleep 600 & echo ready >&9; trap '' TERM INT HUP; sleep 600"
        let process = try program(script).start()
        #expect(try read() == "ready\n")
        #expect(try process.terminate() == .signaled(SIGKILL))
        #expect(try read(waiting: 0) == "")
    }

    @Test func `leaves nobody who left session, group and parents`() throws {
        let process = try program(Self.daemon + "; sleep 600").start()
        #expect(try read() == "ready\n")
        #expect(try process.terminate() == .signaled(SIGKILL))
        #expect(try read(waiting: 0) == "")
    }

    @Test func `leaves nobody whom the child left behind when it ended`() throws {
        let process = try program(Self.daemon + "; read line <&3; exit 5").start()
        #expect(try read() == "ready\n")
        try process.connection.descriptor.writeAll([UInt8]("end\n".utf8).span)
        #expect(try process.wait(for: .exit, timeout: .seconds(60)) == .exit)
        // Nobody has asked for it yet.
        #expect(try read() == "")
        #expect(try process.terminate() == .exited(5))
    }

    @Test func `leaves nobody of more than one list holds`() throws {
        let script = "exec 9>fifo; i=0; while [ $i -lt 900 ]; do sleep 600 & i=$((i+1)); done"
        let process = try program(script + "; echo ready >&9; exit").start()
        #expect(try read() == "ready\n")
        try process.terminate()
        #expect(try read(waiting: 0) == "")
    }

    @Test func `leaves nobody of those who keep starting others`() throws {
        let chain = "exec 9>fifo; echo 'setsid sh link & exit' >link; sh link; echo ready >&9"
        let process = try program(chain).start()
        #expect(try read() == "ready\n")
        try process.terminate()
        #expect(try read(waiting: 0) == "")
    }

    @Test(.enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls"))
    func `leaves nobody of a crowd that keeps starting others, where it is confined`() throws {
        // Each of their processes ends by itself after 20 seconds, in case everything else fails.
        let crowd = """
            use POSIX; my $end = time + 20;
            for (1..40) { next if fork; while (time < $end) { setsid; exit if fork } exit }
            print STDERR "ready"; sleep 20
            """
        let program = program("exec 9>fifo; exec perl -e '\(crowd)'")
        let process = try program.confined([("fifo", .readAndWrite)]).start()
        let output = try process.nextOutput() ?? []
        #expect(String(decoding: output, as: UTF8.self) == "ready")
        try process.terminate()
        #expect(try read(waiting: 0) == "")
    }

    @Test(.enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls"))
    func `lets nobody out of the group where it is confined, and says it did`() throws {
        // The shell makes a group for each command, too.
        var program = TestProgram("set -m; eval \"$SHOW\"; setsid --wait sh -c \"$SHOW\"")
        program.environment.append("SHOW=cut -d ' ' -f 5,6 /proc/$$/stat")
        program.executable = "/bin/bash"
        let lines = try program.confined().run().output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(Set(lines).count == 1)
    }

    @Test func `says that somebody may be left where the supervisor was killed`() throws {
        let process = try program("echo $PPID; exec sleep 600").start()
        let supervisor = try supervisor(toldBy: process)
        kill(supervisor, SIGKILL)
        #expect(throws: ChildProcess.UnfinishedEnd.supervisorKilled) { try process.terminate() }
        #expect(process.ending == .signaled(SIGKILL))
    }

    @Test func `waits no longer than it may for those who don't end`() throws {
        let process = try program("exec 9>fifo; echo $PPID; exec sleep 600").start()
        let supervisor = try supervisor(toldBy: process)
        kill(supervisor, SIGSTOP)
        let limit = Duration.milliseconds(50)
        #expect(throws: ChildProcess.UnfinishedEnd.outlasted(limit)) {
            try process.terminate(within: limit)
        }
        kill(supervisor, SIGCONT)
        #expect(try read() == "")
    }

    @Test func `leaves nobody when it is forgotten`() throws {
        do {
            let process = try program(Self.daemon + "; sleep 600").start()
            #expect(try read() == "ready\n")
            withExtendedLifetime(process) {}
        }
        #expect(try read() == "")
    }

    @Test func `leaves nobody when the host is killed`() async throws {
        let directory = directory
        let script = Self.daemon + "; sleep 600"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [directory = directory as String, script = script as String] in
            var program = TestProgram(script)
            program.directory = directory
            let process = try program.start()
            _ = try process.wait(for: .output, timeout: .seconds(60))
            kill(getpid(), SIGKILL)
            try process.terminate()
        }
        #expect(try read() == "ready\n")
        #expect(try read() == "")
    }

    @Test func `ends once, whoever asks and how often`() async throws {
        let process = try program("sleep 9999").start()
        try await withThrowingTaskGroup(of: ProcessEnding.self) { group in
            for _ in 0..<8 { group.addTask { try process.terminate() } }
            for try await ending in group { #expect(ending == .signaled(SIGKILL)) }
        }
        #expect(try process.terminate() == .signaled(SIGKILL))
        #expect(process.ending == .signaled(SIGKILL))
    }

    @Test func `keeps no file of the host open`() throws {
        let file = try BytePath.scratch / "locked"
        try file.write("")
        let lock = try LockHolder(file, LOCK_EX)
        let output = try TestProgram("ls -l /proc/$PPID/fd").run().output
        #expect(output.contains("children"))
        #expect(!output.contains("locked"))
        lock.release()
    }
}
