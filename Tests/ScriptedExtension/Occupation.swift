internal import Foundation
internal import Glibc

/// Work for some milliseconds, which a host may notice in part.
enum Occupation {
    private static let step = 20

    /// Performs a command of the form `name milliseconds` or `name milliseconds path`; returns
    /// whether there is one of this name.
    static func perform(
        _ name: String,
        _ words: [String],
        with progress: Progress,
        _ url: (String) -> URL
    ) throws -> Bool {
        let milliseconds = words.first.flatMap { Int($0) } ?? 0
        let path = words.count > 1 ? url(words[1]).path : ""
        switch name {
        case "spin": spin(milliseconds)
        case "print-on": steps(milliseconds) { FileHandle.standardError.write(Data("on\n".utf8)) }
        case "grow": try write(at: path, milliseconds, 64 << 10, flags: O_APPEND)
        case "rewrite": try write(at: path, milliseconds, 1, flags: 0)
        case "read-on": steps(milliseconds) { _ = Attempts.read(path) }
        case "step": steps(milliseconds) { progress.completedUnitCount += 1 }
        case "step-child": stepChild(milliseconds, of: progress, waitingAt: path)
        case "stall": try stall(milliseconds, at: path)
        default: return false
        }
        return true
    }

    private static func steps(_ milliseconds: Int, _ body: () -> Void) {
        for _ in 0..<max(1, milliseconds / step) {
            body()
            usleep(UInt32(step) * 1_000)
        }
    }

    private static func spin(_ milliseconds: Int) {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end {}
    }

    private static func write(at path: String, _ time: Int, _ size: Int, flags: Int32) throws {
        let file = open(path, O_WRONLY | O_CREAT | flags, 0o600)
        guard file >= 0 else { throw ScriptError("\(path) can't be opened") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 7, count: size)
        steps(time) {
            _ = flags == 0 ? pwrite(file, bytes, size, 0) : Glibc.write(file, bytes, size)
        }
    }

    /// Moves a child of the progress, which never completes a unit of its parent.
    ///
    /// Halfway it waits for a file at `path`, if there is a path.
    private static func stepChild(
        _ milliseconds: Int,
        of progress: Progress,
        waitingAt path: String
    ) {
        progress.totalUnitCount = 2
        let count = max(1, milliseconds / step)
        let child = Progress(totalUnitCount: Int64(count + 1))
        progress.addChild(child, withPendingUnitCount: 2)
        steps(milliseconds) {
            child.completedUnitCount += 1
            guard !path.isEmpty, child.completedUnitCount == count / 2 else { return }
            while access(path, F_OK) != 0 { usleep(5_000) }
        }
        child.completedUnitCount += 1
    }

    /// Waits in the kernel where no signal arrives, as in a long `fsync`: for a program that is being
    /// started, whose input is a FIFO at `path` that nobody writes to yet.
    private static func stall(_ milliseconds: Int, at path: String) throws {
        mkfifo(path, 0o600)
        Thread.detachNewThread {
            usleep(UInt32(milliseconds) * 1_000)
            close(open(path, O_WRONLY))
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDONLY, 0)
        var process: pid_t = 0
        let words = ["true"].map { (word: String) in strdup(word) }
        defer { words.forEach { free($0) } }
        let result = posix_spawn(&process, "/bin/true", &actions, nil, words + [nil], environ)
        guard result == 0 else { throw ScriptError("nothing can be started: \(result)") }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        unlink(path)
    }
}
