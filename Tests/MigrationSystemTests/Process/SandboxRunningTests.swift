import Foundation
import MigrationSystem
import TestSupport
import Testing

/// The files that a program needs to start, which the program's own content can't extend.
@Suite(.scratchDirectory)
struct SandboxRunningTests {
    private func paths(forRunning executable: BytePath) throws -> [BytePath] {
        try Sandbox.rules(forRunning: executable).map(\.path)
    }

    @Test(.enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock"))
    func `runs a program that is linked with the toolchain's libraries`() throws {
        let outcome = try TestProgram(built: "migrate", "--version").confined().run()
        #expect(outcome.output.hasPrefix("migrate "))
        #expect(outcome.ending == .exited(0))
    }

    @Test(.enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock"))
    func `runs a program that reads files with threads`() throws {
        let scratch = try BytePath.scratch
        try (scratch / "container").makeDirectory()
        try (scratch / "out").makeDirectory()
        try VariedTree.make(in: scratch / "container")
        let directory = String(decoding: scratch.bytes, as: UTF8.self)
        let program = TestProgram(
            built: "migrate",
            "export",
            "--container",
            directory + "/container",
            "--out",
            directory + "/out/archive"
        )
        let outcome = try program.confined([("container", .read), ("out", .readAndWrite)]).run()
        #expect(outcome.ending == .exited(0), "\(outcome.output)")
        #expect(try (scratch / "out").names() == ["archive"])
    }

    @Test func `names the executable and resource bundles, not the directory`() throws {
        let scratch = try BytePath.scratch
        for name: BytePath in ["a.resources", "b.bundle", "neighbour"] {
            try (scratch / name).makeDirectory()
        }
        let executable = scratch / "program"
        try executable.write("#!/bin/sh\n")
        let paths = try paths(forRunning: executable)
        for path in [executable, scratch / "a.resources", scratch / "b.bundle"] {
            #expect(paths.contains(path))
        }
        #expect(!paths.contains(scratch))
        #expect(!paths.contains(scratch / "neighbour"))
    }

    @Test(
        .enabled(if: Sandbox.isVersion(1), "this kernel has no Landlock"),
        arguments: ["x.bundle", "x.resources"] as [BytePath]
    )
    func `opens nothing by a link that is called as a resource bundle`(_ name: BytePath) throws {
        let scratch = try BytePath.scratch
        try (scratch / "secret").makeDirectory()
        try (scratch / "secret/text").write("secret")
        try (scratch / "brought.bundle").makeDirectory()
        try (scratch / "brought.bundle/text").write("brought")
        try (scratch / name).makeSymbolicLink(to: "secret")
        let directory = String(decoding: scratch.bytes, as: UTF8.self)
        try FileManager.default.copyItem(atPath: "/bin/cat", toPath: directory + "/program")
        var program = TestProgram("")
        program.executable = directory + "/program"
        program.arguments = ["cat", "\(directory)/brought.bundle/text", "\(directory)/secret/text"]
        let output = try program.confined().run().output
        #expect(output.hasPrefix("brought"))
        #expect(output.contains("Permission denied"))
    }

    @Test func `names the real place of an executable that is a link`() throws {
        let scratch = try BytePath.scratch
        try (scratch / "real").makeDirectory()
        try (scratch / "real/program").write("")
        try (scratch / "link").makeSymbolicLink(to: "real/program")
        #expect(try paths(forRunning: scratch / "link").contains(scratch / "real/program"))
    }

    @Test func `throws where there is no executable`() {
        let error = systemError { _ = try Sandbox.rules(forRunning: "/nowhere") }
        #expect(error?.isMissing == true)
    }
}
