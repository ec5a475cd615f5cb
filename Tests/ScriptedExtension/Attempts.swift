internal import Foundation
internal import Glibc

/// Forbidden actions that an extension may try; each says how it went.
enum Attempts {
    static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return outcome() }
        defer { close(file) }
        var byte: UInt8 = 0
        return Glibc.read(file, &byte, 1) >= 0 ? "done" : outcome()
    }

    static func write(_ path: String) -> String {
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { return outcome() }
        close(file)
        return "done"
    }

    static func list(_ path: String) -> String {
        guard let directory = opendir(path) else { return outcome() }
        closedir(directory)
        return "done"
    }

    static func chmod(_ path: String) -> String {
        Glibc.chmod(path, 0o644) == 0 ? "done" : outcome()
    }

    /// Gives a file the mode that it has, so that a success changes nothing.
    static func keepMode(_ path: String) -> String {
        var status = Glibc.stat()
        guard stat(path, &status) == 0, Glibc.chmod(path, status.st_mode & 0o7777) == 0 else {
            return outcome()
        }
        return "done"
    }

    /// Sets the times of a file to now.
    static func setTimes(_ path: String) -> String {
        utimensat(AT_FDCWD, path, nil, 0) == 0 ? "done" : outcome()
    }

    /// Gives a file to this process's own user.
    static func chown(_ path: String) -> String {
        Glibc.chown(path, geteuid(), getegid()) == 0 ? "done" : outcome()
    }

    static func status(_ path: String) -> String {
        var status = Glibc.stat()
        return lstat(path, &status) == 0 ? "done" : outcome()
    }

    static func readLink(_ path: String) -> String {
        var target = [CChar](repeating: 0, count: 16)
        return readlink(path, &target, target.count) >= 0 ? "done" : outcome()
    }

    /// Starts as many processes as it may, up to `count`, and ends them again.
    static func startMany(_ count: Int) -> String {
        var processes: [pid_t] = []
        defer {
            for process in processes {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
        }
        let words = ["sleep", "600"].map { (word: String) in strdup(word) }
        defer { words.forEach { free($0) } }
        for _ in 0..<count {
            var process: pid_t = 0
            errno = posix_spawn(&process, "/usr/bin/sleep", nil, nil, words + [nil], environ)
            guard errno == 0 else { return outcome() }
            processes.append(process)
        }
        return "done"
    }

    /// The user and the group of this process, real and effective, and its further groups.
    static func identity() -> String {
        var groups = [gid_t](repeating: 0, count: 256)
        let count = getgroups(256, &groups)
        return "\(getuid()) \(geteuid()) \(getgid()) \(getegid()) \(groups[..<Int(max(0, count))])"
    }

    static func connect() -> String {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return outcome() }
        close(socket)
        return "done"
    }

    static func signal(_ process: Int32) -> String {
        kill(process, 0) == 0 ? "done" : outcome()
    }

    /// Starts a process that leaves the session and the group of this one.
    static func startDaemon(marker: String) -> String {
        run("setsid sh -c 'sleep \(marker) & sleep \(marker)' >/dev/null 2>&1 &")
    }

    /// Stops the process that started this one, and lets another one kill it soon.
    static func endSupervisor() -> String {
        let supervisor = getppid()
        guard kill(supervisor, SIGSTOP) == 0 else { return outcome() }
        return run("(sleep 0.5; kill -9 \(supervisor)) >/dev/null 2>&1 &")
    }

    private static func run(_ command: String) -> String {
        var process: pid_t = 0
        let words = ["sh", "-c", command].map { (word: String) in strdup(word) }
        defer { words.forEach { free($0) } }
        var actions: posix_spawn_file_actions_t = .init()
        posix_spawn_file_actions_init(&actions)
        let result = posix_spawn(&process, "/bin/sh", &actions, nil, words + [nil], environ)
        guard result == 0 else { return "error \(result)" }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return "done"
    }

    private static func outcome() -> String {
        let code = errno
        return switch code {
        case EACCES: "EACCES"
        case EPERM: "EPERM"
        case ENOENT: "ENOENT"
        case EROFS: "EROFS"
        case EAGAIN: "EAGAIN"
        default: "error \(code)"
        }
    }
}
