import Foundation
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ChildProcessTests {
    @Test func `tells the exit code`() throws {
        #expect(try TestProgram("exit 7").run().ending == .exited(7))
        #expect(try TestProgram("exit 0").run().ending == .exited(0))
    }

    @Test func `tells the signal`() throws {
        #expect(try TestProgram("kill -SEGV $$").run().ending == .signaled(SIGSEGV))
    }

    @Test func `gives back standard output and error in order`() throws {
        let outcome = try TestProgram("echo one; echo two >&2; echo three").run()
        #expect(outcome.output == "one\ntwo\nthree\n")
    }

    @Test func `reads nothing and does not wait where there is no output yet`() throws {
        let process = try TestProgram("read line <&3").start()
        #expect(try process.wait(for: [.output, .exit], timeout: .milliseconds(1)) == [])
        var buffer: [UInt8] = [0]
        let error = systemError {
            _ = try process.output.descriptor.read(into: &buffer, from: 0, count: 1)
        }
        #expect(error?.isBusy == true)
        #expect(process.ending == nil)
    }

    @Test func `gives the child an empty standard input`() throws {
        #expect(try TestProgram("cat; readlink /proc/self/fd/0").run().output == "/dev/null\n")
    }

    @Test func `passes exactly the environment that was given`() throws {
        var program = TestProgram("")
        program.executable = "/usr/bin/env"
        program.arguments = ["env"]
        program.environment = ["B=2", "A=\u{E9} =", "EMPTY="]
        #expect(try program.run().output == "B=2\nA=\u{E9} =\nEMPTY=\n")
    }

    @Test func `passes arguments as they are`() throws {
        var program = TestProgram("printf '<%s>' \"$0\" \"$@\"")
        program.arguments += ["zero", "", "a b", "\n"]
        #expect(try program.run().output == "<zero><><a b><\n>")
    }

    @Test func `limits the memory of each process, and nothing where it is not asked to`() throws {
        var program = TestProgram("ulimit -d; sh -c 'ulimit -d'")
        program.memoryLimit = 64 << 20
        #expect(try program.run().output == "65536\n65536\n")
        let unlimited = try TestProgram("ulimit -d").run().output
        #expect(unlimited != "65536\n")
    }

    @Test func `starts in the working directory`() throws {
        var program = TestProgram("pwd -P")
        program.directory = "/usr/bin"
        #expect(try program.run().output == "/usr/bin\n")
    }

    @Test func `shows a directory at another path, to the child alone`() throws {
        let scratch = try BytePath.scratch
        let (real, shown) = (scratch / "a b", scratch / "shown")
        for directory in [real, shown, real / "inner"] { try directory.makeDirectory() }
        try (real / "file").write("text")
        var program = TestProgram(
            "cat shown/file && cd shown && pwd -P && mv file inner/moved && ls inner"
        )
        program.directory = scratch.url.path
        program.mounts = [ChildProcess.Mount(real, at: shown)]
        let outcome: TestProgram.Outcome
        do {
            outcome = try program.run()
        } catch let error as SystemError where error.isAboutMounts {
            try Test.cancel("no process may have mounts of its own here: \(error)")
        }
        #expect(outcome.output == "text\(shown.url.path)\nmoved\n")
        #expect(try shown.names() == [])
        #expect(try (real / "inner/moved").contents() == Data("text".utf8))
    }

    @Test func `names the call where a directory can't be shown`() throws {
        let scratch = try BytePath.scratch
        var program = TestProgram("")
        let missing = scratch / "missing"
        program.mounts = [ChildProcess.Mount(missing, at: scratch)]
        #expect(systemError { _ = try program.run() }?.isAboutMounts == true)
    }

    @Test func `leaves the child no other descriptors`() throws {
        let leak = open("/", O_RDONLY)
        defer { close(leak) }
        // The descriptor that the shell opens to expand the list is gone when it is asked for.
        let script = "for file in /proc/$$/fd/*; do [ -e $file ] && echo ${file##*/}; done"
        #expect(try TestProgram(script).run().output == "0\n1\n2\n3\n")
    }

    @Test func `leaves the child no signal blocked or ignored`() throws {
        let output = try TestProgram("grep -E '^Sig(Blk|Ign)' /proc/self/status").run().output
        #expect(output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n")
    }

    @Test func `gives the child no new privileges, no core file and no terminal`() throws {
        let script = "grep NoNewPrivs /proc/self/status; ulimit -c; (exec </dev/tty) 2>&-; echo $?"
        let output = try TestProgram(script).run().output
        #expect(output.hasPrefix("NoNewPrivs:\t1\n0\n"))
        #expect(!output.hasSuffix("\n0\n"))
    }

    @Test func `carries messages both ways`() throws {
        let process = try TestProgram("read line <&3; echo \"got $line\" >&3").start()
        #expect(try process.wait(for: .message, timeout: .milliseconds(1)) == [])
        try process.connection.descriptor.writeAll([UInt8]("hello\n".utf8).span)
        #expect(try process.wait(for: .message, timeout: .seconds(60)) == .message)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try process.connection.descriptor.read(into: &buffer, from: 0, count: 64)
        #expect(String(decoding: buffer[..<count], as: UTF8.self) == "got hello\n")
    }

    @Test func `tells a message where the child hung up`() throws {
        let process = try TestProgram("exec 3>&-; read line").start()
        #expect(try process.wait(for: .message, timeout: .seconds(60)) == .message)
        var buffer: [UInt8] = [0]
        #expect(try process.connection.descriptor.read(into: &buffer, from: 0, count: 1) == 0)
    }

    @Test func `tells every event that is there, and keeps telling the end`() throws {
        let process = try TestProgram("echo word; exit 3").start()
        for _ in 0..<3 {
            #expect(try process.wait(for: .exit, timeout: .seconds(60)) == .exit)
            #expect(process.ending == .exited(3))
        }
        let all: ChildProcess.Events = [.message, .output, .exit]
        #expect(try process.wait(for: all, timeout: .zero) == all)
        #expect(try process.terminate() == .exited(3))
        #expect(try process.wait(for: .exit, timeout: .zero) == .exit)
    }

    @Test func `does not take other children of the host`() throws {
        var other: pid_t = 0
        let words: [String] = ["sh", "-c", "exit 9"]
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        try #require(posix_spawn(&other, "/bin/sh", nil, nil, arguments, nil) == 0)
        #expect(try TestProgram("exit 1").run().ending == .exited(1))
        var status: Int32 = 0
        #expect(waitpid(other, &status, 0) == other)
        #expect(status == 9 << 8)
    }
}

// MARK: - Failures

@Suite(.scratchDirectory)
struct ChildProcessFailureTests {
    private func failure(_ program: TestProgram) -> SystemError? {
        systemError { _ = try program.start() }
    }

    @Test func `names the call where there is no such program`() {
        var program = TestProgram("")
        program.executable = "/nowhere/program"
        #expect(failure(program) == SystemError("execve", code: ENOENT))
    }

    @Test func `names the call where the program can't be run`() {
        var program = TestProgram("")
        program.executable = "/dev/null"
        #expect(failure(program) == SystemError("execve", code: EACCES))
    }

    @Test func `names the call where there is no such directory`() {
        var program = TestProgram("")
        program.directory = "/nowhere"
        #expect(failure(program) == SystemError("chdir", code: ENOENT))
    }

    @Test func `refuses what the system would cut short`() {
        #expect(failure(TestProgram("a\0b")) == SystemError("execve", code: EINVAL))
    }
}
