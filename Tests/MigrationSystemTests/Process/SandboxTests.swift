import Foundation
import MigrationSystem
import TestSupport
import Testing

@Suite(
    .scratchDirectory,
    .enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock")
)
struct SandboxTests {
    private let scratch: BytePath

    init() throws {
        scratch = try BytePath.scratch
        for name: BytePath in ["read", "write", "write/a", "write/b", "other"] {
            try (scratch / name).makeDirectory()
        }
        for name: BytePath in ["read/file", "write/a/file", "other/file"] {
            try (scratch / name).write("content")
        }
    }

    /// Runs a script that may read `read` and write in `write`, with the directory as `$0`.
    private func run(_ script: String) throws -> TestProgram.Outcome {
        var program = try TestProgram(script).confined([("read", .read), ("write", .readAndWrite)])
        program.arguments.append(String(decoding: scratch.bytes, as: UTF8.self))
        return try program.run()
    }

    /// Expects that the shell command fails for lack of permission.
    private func expectDenied(
        _ command: String,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try run("(\(command)) && echo done")
        // A link that would give new rights to a file fails like one between file systems.
        let isDenied = ["Permission denied", "cross-device"].contains {
            outcome.output.contains($0)
        }
        #expect(isDenied, sourceLocation: location)
        #expect(!outcome.output.contains("done"), sourceLocation: location)
    }

    @Test(arguments: ["cat /etc/passwd", "ls /etc", "ls /", "ls /proc"])
    func `keeps the machine's files from being read`(_ command: String) throws {
        try expectDenied(command)
    }

    @Test(arguments: ["cat $0/other/file", "ls $0/other", "ls $0", "cat $0/read/../other/file"])
    func `keeps a neighbour from being read`(_ command: String) throws {
        try expectDenied(command)
    }

    @Test func `follows no link out`() throws {
        try (scratch / "write/link").makeSymbolicLink(to: scratch / "other/file")
        try expectDenied("cat $0/write/link")
        try expectDenied("ln $0/other/file $0/write/hard")
        try expectDenied("ln -s $0/other/file $0/write/out; cat $0/write/out")
    }

    @Test func `lets what may be read be read, and only that`() throws {
        #expect(try run("cd $0/read && ls && cat file").output == "file\ncontent")
        try expectDenied("echo more >>$0/read/file")
        try expectDenied("echo new >$0/read/new")
        try expectDenied("rm $0/read/file")
        try expectDenied("mkdir $0/read/directory")
        try expectDenied("ln -s file $0/read/link")
        #expect(try (scratch / "read").names() == ["file"])
        #expect(try (scratch / "read/file").contents() == Data("content".utf8))
    }

    @Test(.enabled(if: Sandbox.isVersion(3), "Landlock below 3 can't confine truncating"))
    func `lets nothing be truncated that may only be read`() throws {
        try expectDenied("perl -e 'truncate($ARGV[0], 0) || die $!' $0/read/file")
        try expectDenied(": >$0/read/file")
        #expect(try (scratch / "read/file").contents() == Data("content".utf8))
    }

    @Test func `lets what may be read not be run`() throws {
        try (scratch / "read/script").write("#!/bin/sh\n")
        try (scratch / "read/script").setMode(0o755)
        try expectDenied("$0/read/script")
    }

    @Test func `lets what may be written be written`() throws {
        let script = """
            cd $0/write && echo new >a/new && echo more >>a/file && mkdir c && ln -s a link \
            && mkfifo fifo && chmod 600 a/new && rm a/new && rmdir c && cat a/file && ls
            """
        let outcome = try run(script)
        #expect(outcome.output == "contentmore\na\nb\nfifo\nlink\n")
        #expect(outcome.ending == .exited(0))
    }

    @Test(.enabled(if: Sandbox.isVersion(2), "Landlock below 2 denies it everywhere"))
    func `lets files move between directories that may be written`() throws {
        // A rename, not a copy: the file keeps its inode number.
        let script = "cd $0/write && n=$(stat -c %i a/file) && mv a/file b/ && mv a b/ "
        let outcome = try run(script + "&& ln b/file twin && [ $n = $(stat -c %i twin) ] && ls b")
        #expect(outcome == TestProgram.Outcome(ending: .exited(0), output: "a\nfile\n"))
    }

    @Test(arguments: [
        "echo x >$0/new", "mkdir $0/new", "mv $0/write/a/file $0/", "rm $0/other/file",
    ])
    func `lets nothing be made or removed outside`(_ command: String) throws {
        try expectDenied(command)
        #expect(try scratch.names() == ["other", "read", "write"])
        #expect(try (scratch / "other").names() == ["file"])
    }

    @Test func `lets no device be made`() throws {
        let outcome = try run("mknod $0/write/null c 1 3")
        #expect(outcome.ending == .exited(1))
        #expect(outcome.output.contains("not permitted"))
    }

    @Test func `gives a file that is named its own rights and no more`() throws {
        let program = try TestProgram("cat write/a/file; cat other/file; ls other >&-")
            .confined([("other/file", .readAndWrite)])
        var here = program
        here.directory = String(decoding: scratch.bytes, as: UTF8.self)
        let output = try here.run().output
        #expect(output.contains("write/a/file: Permission denied"))
        #expect(output.contains("content"))
        #expect(output.contains("cannot open directory 'other'"))
    }

    @Test(.enabled(if: Sandbox.isVersion(6), "Landlock below 6 can't confine signals"))
    func `signals nobody outside`() throws {
        let outcome = try run("kill -0 \(getpid()); kill -0 $PPID; kill -0 $$ && echo itself")
        #expect(outcome.output.hasSuffix("itself\n"))
        #expect(outcome.output.components(separatedBy: "not permitted").count == 3)
    }

    @Test(
        .enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls"),
        arguments: ["prlimit --cpu --pid", "renice 19", "ionice -c 3 -p"]
    )
    func `sets no limit or priority of a process outside`(_ command: String) throws {
        #expect(try run("\(command) $PPID").output.contains("not permitted"))
    }

    @Test(
        .enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls"),
        arguments: [("taskset -p", "taskset -p 1"), ("chrt -p", "chrt -b -p 0")]
    )
    func `leaves the processors and the schedule of a process outside`(
        _ look: String,
        _ change: String
    ) throws {
        let script = "\(look) $PPID; \(change) $PPID >/dev/null; \(look) $PPID"
        let lines = try run(script).output.split(separator: "\n")
        #expect(lines.count.isMultiple(of: 2) && lines.count > 0)
        #expect(lines.prefix(lines.count / 2) == lines.suffix(lines.count / 2))
    }

    @Test(arguments: ["environ", "maps", "mem", "root/etc/passwd", "cwd/"])
    func `looks into no process outside`(_ name: String) throws {
        try expectDenied("cat /proc/\(getpid())/\(name)")
    }

    @Test func `looks into its own process`() throws {
        #expect(try run("cat /proc/self/cmdline").output == "cat\0/proc/self/cmdline\0")
        #expect(try run("cat /proc/self/stat /proc/self/maps").ending == .exited(0))
    }

    @Test func `keeps of the superuser's privileges those over files`() throws {
        let output = try run("grep CapPrm /proc/self/status").output
        let value = try #require(output.split(whereSeparator: \.isWhitespace).last)
        #expect(try #require(UInt64(value, radix: 16)) & ~0x1F == 0)
    }

    @Test func `leaves out what is missing`() throws {
        let outcome = try TestProgram("echo runs")
            .confined([("missing", .read), ("read/file/below", .read)]).run()
        #expect(outcome.output == "runs\n")
    }

    @Test func `confines what the child starts as well`() throws {
        try expectDenied("setsid sh -c 'sh -c \"cat /etc/passwd\"'")
    }
}

// MARK: - No support

@Suite(.scratchDirectory)
struct SandboxSupportTests {
    private func outcome(
        of script: String,
        confinedBy support: Sandbox.Support
    ) throws -> TestProgram.Outcome {
        var program = try TestProgram(script).confined()
        program.sandbox = program.sandbox.map { Sandbox(rules: $0.rules, by: support) }
        return try program.run()
    }

    @Test func `starts nothing where it can confine nothing`() {
        let support = Sandbox.Support(landlockVersion: 0, filtersSystemCalls: false)
        let error = systemError { _ = try outcome(of: "", confinedBy: support) }
        #expect(error?.call == "landlock_create_ruleset")
        #expect(error?.isUnsupported == true)
    }

    @Test(.enabled(if: Sandbox.support.filtersSystemCalls, "this kernel filters no system calls"))
    func `filters system calls and drops privileges where there is no Landlock`() throws {
        let support = Sandbox.Support(landlockVersion: 0, filtersSystemCalls: true)
        let script = "prlimit --pid $PPID --cpu; grep CapPrm /proc/self/status"
        let output = try outcome(of: script, confinedBy: support).output
        #expect(output.contains("not permitted"))
        let value = try #require(output.split(whereSeparator: \.isWhitespace).last)
        #expect(try #require(UInt64(value, radix: 16)) & ~0x1F == 0)
        #expect(try outcome(of: "cat /etc/passwd", confinedBy: support).ending == .exited(0))
    }

    @Test(.enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock"))
    func `confines files where no system calls can be filtered`() throws {
        let support = Sandbox.Support(
            landlockVersion: Sandbox.support.landlockVersion,
            filtersSystemCalls: false
        )
        let script = "prlimit --pid $$ --cpu && cat /etc/passwd"
        let outcome = try outcome(of: script, confinedBy: support)
        #expect(outcome.output.contains("CPU"))
        #expect(outcome.output.contains("Permission denied"))
    }
}
