import Foundation
import Glibc
import TestSupport
import Testing

/// The scratch directory of a test, and the common operations of tests of the command.
struct Workplace {
    let directory: URL

    init() throws {
        directory = try #require(ScratchDirectory.current)
    }

    /// The path of `name` in the directory.
    func path(_ name: String) -> String {
        directory.appending(path: name).path
    }

    /// Runs `migrate`.
    func migrate(_ arguments: String..., input: [UInt8] = []) throws -> MigrateCommand.Result {
        try MigrateCommand.run(arguments, input: input)
    }

    /// Starts `migrate` with an input that gives `input` and then stalls.
    func startStalled(_ arguments: String..., input: [UInt8] = []) throws -> MigrateCommand {
        let words = arguments.map { [UInt8]($0.utf8) }
        return try MigrateCommand.start(words, input: input, stalls: true)
    }

    /// Runs a script in the directory; `$migrate` is the command.
    @discardableResult
    func shell(_ script: String, input: [UInt8] = []) throws -> MigrateCommand.Result {
        let words = ["-c", "cd \"$0\" && { \(script)\n}", directory.path]
        return try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            program: "/bin/sh",
            input: input,
            environment: ["migrate": MigrateCommand.path, "LC_ALL": "C.UTF-8"]
        ).wait()
    }

    /// Makes a container with some of everything, and incompressible data of `megabytes`.
    func makeContainer(_ name: String = "source", megabytes: Int = 0) throws {
        let random =
            megabytes > 0 ? "head -c \(megabytes)000000 /dev/urandom > Documents/noise" : ":"
        let result = try shell(
            """
            umask 022; mkdir -p \(name)/Documents/empty \(name)/Library/Caches && cd \(name) &&
            seq 1000 > Documents/numbers && : > Documents/none && echo text > Documents/.hidden &&
            echo tool > Documents/tool && chmod 755 Documents/tool && chmod 600 Documents/none &&
            ln -s numbers Documents/link && ln Documents/numbers Library/again &&
            echo long > Library/$(printf 'n%.0s' $(seq 200)) && echo cache > Library/Caches/page &&
            echo word > 'Documents/größe' && \(random)
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
    }

    /// Exports the container `source` as the file `name`, and returns its bytes.
    @discardableResult
    func export(_ source: String = "source", as name: String = "archive") throws -> [UInt8] {
        let result = try migrate("export", "--container", path(source), "--out", path(name))
        try #require(result.exitCode == 0, "\(result.errors)")
        return try bytes(of: name)
    }

    /// Starts an app on the source by `migrate run`; it has begun, and ends by a signal.
    func startApp() throws -> MigrateCommand {
        let app = ["sh", "-c", "echo started; exec cat"]
        let words = ["run", "--container", path("source"), "--"] + app
        let command = try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            stalls: true,
            output: .unread
        )
        command.waitUntilItWrites()
        return command
    }

    func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path(name))))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    /// Whether anything, a link too, is at `name`.
    func exists(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(name), &status) == 0
    }

    /// The names in the directory, sorted, including hidden files.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    /// Waits until `condition` holds, for at most some seconds.
    func wait(until condition: () throws -> Bool) throws {
        for _ in 0..<2000 {
            if try condition() { return }
            usleep(10_000)
        }
        Issue.record("what was waited for did not happen")
    }
}

extension Workplace {
    /// Every entry below `name` but the bookkeeping: kind, permissions, time, links and content.
    func tree(_ name: String) throws -> [String: String] {
        var tree: [String: String] = [:]
        let root = path(name)
        for entry in try FileManager.default.subpathsOfDirectory(atPath: root)
        where entry != ".migration" && !entry.hasPrefix(".migration/") {
            tree[entry] = try describe(root + "/" + entry)
        }
        return tree
    }

    private func describe(_ path: String) throws -> String {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        let mode = String(status.st_mode, radix: 8)
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
            return "\(mode) \(time) -> \(target)"
        case S_IFREG:
            let content = try Data(contentsOf: URL(filePath: path)).base64EncodedString()
            return "\(mode) \(time) \(status.st_nlink) \(content)"
        default: return "\(mode) \(time)"
        }
    }
}

extension MigrateCommand.Result {
    /// The only line of standard error; `nil` if there isn't exactly one.
    var errorLine: String? {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[1].isEmpty ? String(lines[0]) : nil
    }

    /// Expects a failure as a person should see it: this code, one line, and no answer.
    func expectFailure(
        _ code: Int32,
        _ sourceLocation: SourceLocation = #_sourceLocation,
        comment: Comment? = nil
    ) {
        #expect(exitCode == code, comment ?? "\(errors)", sourceLocation: sourceLocation)
        #expect(
            errorLine?.hasPrefix("migrate: error: ") ?? false,
            comment ?? "\(errors)",
            sourceLocation: sourceLocation
        )
        #expect(standardOutput.isEmpty, comment, sourceLocation: sourceLocation)
    }
}

/// Properties of the machine that runs the tests.
enum Machine {
    static var isRoot: Bool { geteuid() == 0 }

    /// Whether this process, and so the command beside it, is built with a sanitizer, which needs
    /// memory itself.
    static let isSanitized =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// Whether a program is found by `PATH`.
    static func has(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
