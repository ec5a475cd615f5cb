import Foundation
import MigrationSystem
import TestSupport
import Testing

/// Programs that have their own root directory, and are not confined otherwise.
@Suite(.scratchDirectory)
struct PrivateRootTests {
    private let scratch: BytePath

    init() throws {
        scratch = try BytePath.scratch
        for name: BytePath in ["read", "write", "other", "deep", "deep/er", "shown"] {
            try (scratch / name).makeDirectory()
        }
        for name: BytePath in ["read/file", "write/file", "other/file", "single"] {
            try (scratch / name).write("content")
        }
    }

    private func rule(
        _ name: String,
        _ access: Sandbox.Access,
        followsLink: Bool = true
    ) -> Sandbox.Rule {
        let path = scratch / BytePath(name)
        return Sandbox.Rule(path: path, access: access, followsLink: followsLink)
    }

    /// Runs a script that sees the files of rules, with the directory as `$0`.
    private func run(
        _ script: String,
        _ rules: [Sandbox.Rule] = [],
        _ mounts: [ChildProcess.Mount] = []
    ) throws -> String {
        var program = TestProgram("exec 2>&1; \(script)")
        program.arguments.append(scratch.url.path)
        program.directory = (scratch / "write").url.path
        program.mounts = mounts
        let common = try Sandbox.rules(forRunning: BytePath(program.executable))
        let own = [rule("read", .read), rule("write", .readAndWrite)]
        program.root = try PrivateRoot(showing: common + own + rules, mounts)
        do {
            return try program.run().output
        } catch let error as SystemError where error.isAboutMounts {
            try Test.cancel("no process may have mounts of its own here: \(error)")
        }
    }

    @Test func `shows nothing but what the rules are about, by its own path`() throws {
        #expect(try run("ls -A $0; cat $0/read/file") == "read\nwrite\ncontent")
        #expect(try run("pwd") == "\((scratch / "write").url.path)\n")
        #expect(try run("stat $0/other/file").contains("No such file"))
        let names = try run("ls -A /etc").split(separator: "\n")
        let known = ["alternatives", "ld.so.cache", "localtime", "timezone"]
        #expect(names.allSatisfy { known.contains(String($0)) })
        #expect(try run("ls -A /home /root").contains("No such file"))
    }

    @Test func `lets only what may be written be changed`() throws {
        #expect(try run("echo new >new && chmod 600 new && mv new file && cat file") == "new\n")
        let commands = [
            "chmod 600 $0/read/file", "touch $0/read/file", "chown 1 $0/read/file",
            "chmod $(stat -c %a /usr) /usr", "chmod 755 $0", "mkdir $0/new", "touch /dev/null",
            "chmod 555 /proc",
        ]
        for command in commands {
            #expect(try run(command).contains("Read-only file system"), "\(command)")
        }
        #expect(try (scratch / "write/file").contents() == Data("new\n".utf8))
    }

    @Test func `lets the mode of no device be changed that is open already`() throws {
        // The mode that it has already, so that a successful call changes nothing.
        #expect(try run("chmod 666 /proc/self/fd/0").contains("Read-only file system"))
        #expect(try run("echo lost >/dev/null; echo kept >/dev/stderr") == "kept\n")
    }

    @Test func `shows links and directories on the way as they are`() throws {
        try (scratch / "link").makeSymbolicLink(to: "deep/er")
        try (scratch / "deep/er/again").makeSymbolicLink(to: scratch / "other")
        let way = "link/again/../deep/er/../../other/file"
        let output = try run(
            "cat $0/\(way); readlink $0/link; ls $0/other $0/deep/er",
            [rule(way, .read)]
        )
        let other = scratch.url.path
        #expect(output == "contentdeep/er\n\(other)/deep/er:\nagain\n\n\(other)/other:\nfile\n")
    }

    @Test func `shows a file that is named, and no link where none is to be followed`() throws {
        try (scratch / "link").makeSymbolicLink(to: "other")
        let rules = [
            rule("single", .read), rule("link", .read, followsLink: false), rule("missing", .read),
        ]
        #expect(try run("ls -A $0", rules) == "read\nsingle\nwrite\n")
    }

    @Test func `shows a part within another with rights of its own`() throws {
        try (scratch / "read/inner").makeDirectory()
        let script = "touch $0/read/inner/new && touch $0/read/new"
        let output = try run(script, [rule("read/inner", .readAndWrite)])
        #expect(output.contains("Read-only file system"))
        #expect(try (scratch / "read/inner").names() == ["new"])
        #expect(try (scratch / "read").names() == ["file", "inner"])
    }

    @Test func `shows a directory at another path with the rights that it has`() throws {
        let mounts = [
            ChildProcess.Mount((scratch / "read"), at: (scratch / "shown")),
            ChildProcess.Mount((scratch / "write"), at: (scratch / "deep/er")),
        ]
        let output = try run(
            "cat $0/shown/file && touch $0/deep/er/new; touch $0/shown/new; ls -A $0",
            [],
            mounts
        )
        #expect(output.hasPrefix("content"))
        #expect(output.contains("shown/new': Read-only file system"))
        #expect(output.hasSuffix("deep\nread\nshown\nwrite\n"))
        #expect(try (scratch / "write").names() == ["file", "new"])
        #expect(try (scratch / "shown").names() == [])
    }

    @Test func `tells a path that can't be looked at from one that is missing`() throws {
        let name = String(repeating: "n", count: 256)
        let error = systemError { _ = try PrivateRoot(showing: [rule(name, .read)]) }
        #expect(error?.call == "lstat")
        _ = try PrivateRoot(showing: [rule("missing", .read), rule("single/below", .read)])
    }

    @Test func `takes no rule about everything`() throws {
        let everything = Sandbox.Rule(path: "/usr/..", access: .read)
        let error = systemError { _ = try PrivateRoot(showing: [everything]) }
        #expect(error?.isAboutMounts == true)
    }

    @Test func `makes nothing outside, and leaves nothing`() throws {
        _ = try run("touch new; ls")
        #expect(
            try scratch.names() == ["deep", "other", "read", "shown", "single", "write"]
        )
        let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(!mounts.contains(scratch.url.path))
    }
}
