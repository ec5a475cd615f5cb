import Foundation
import MigrationSystem
import TestSupport
import Testing

/// A program that a test runs as a child process, and its results.
struct TestProgram {
    var executable = "/bin/sh"
    var arguments: [String]
    /// A program that measures coverage would say that it can't write its profile elsewhere.
    var environment = ["PATH=/usr/bin:/bin", "LLVM_PROFILE_FILE=/dev/null"]
    var directory = "/"
    var mounts: [ChildProcess.Mount] = []
    var root: PrivateRoot?
    var sandbox: Sandbox?
    var group: ControlGroup?
    var memoryLimit: UInt64?

    /// The results of a program that has ended.
    struct Outcome: Equatable {
        let ending: ProcessEnding
        let output: String
    }

    /// A script of the shell.
    init(_ script: String) {
        arguments = ["sh", "-c", script]
    }

    /// An executable that this package builds.
    init(built name: String, _ arguments: String...) {
        executable = Bundle.main.bundleURL.appending(path: name).path
        self.arguments = [name] + arguments
    }

    /// Confines the program to what it needs to start, and to `rules` of the scratch directory.
    func confined(_ rules: [(name: String, access: Sandbox.Access)] = []) throws -> TestProgram {
        let scratch = try BytePath.scratch
        var program = self
        program.sandbox = Sandbox(
            rules: try Sandbox.rules(forRunning: BytePath(executable))
                + rules.map {
                    Sandbox.Rule(
                        path: scratch / BytePath($0.name),
                        access: $0.access
                    )
                }
        )
        return program
    }

    func start() throws -> ChildProcess {
        try ChildProcess.start(
            ChildProcess.Configuration(
                executable: BytePath(executable),
                arguments: arguments.map { [UInt8](utf8: $0) },
                environment: environment.map { [UInt8](utf8: $0) },
                workingDirectory: BytePath(directory),
                mounts: mounts,
                root: root,
                sandbox: sandbox,
                group: group,
                memoryLimit: memoryLimit
            )
        )
    }

    /// Runs the program to its end.
    func run() throws -> Outcome {
        let process = try start()
        let output = try process.wholeOutput()
        #expect(try process.wait(for: .exit, timeout: .seconds(60)) == .exit)
        return Outcome(ending: try process.terminate(), output: output)
    }
}

extension ChildProcess {
    /// Reads the output until nobody can write to it any more.
    func wholeOutput() throws -> String {
        var bytes: [UInt8] = []
        while let part = try nextOutput() { bytes += part }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits for output; `nil` at its end.
    func nextOutput() throws -> [UInt8]? {
        try #require(try wait(for: .output, timeout: .seconds(60)) == .output)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try output.descriptor.read(into: &buffer, from: 0, count: buffer.count)
        return count == 0 ? nil : [UInt8](buffer[..<count])
    }
}

extension Sandbox {
    /// Whether this kernel can confine a process, and by how much.
    static func isVersion(_ version: Int) -> Bool { support.landlockVersion >= version }
}
