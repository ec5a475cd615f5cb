import Foundation
import Glibc
import MigrationSystem

/// What the system must give a process before it can work.
///
/// Without it the language's own libraries, which are below everything else here, wait for ever, or end
/// the process without a word.
enum Surroundings {
    /// The descriptors that these libraries, and the watch for signals, open at least.
    private static let descriptors = 10

    /// One each for signals, for the operation, for what it reads or writes and for progress, besides
    /// those that the language keeps busy.
    private static var threads: Int { ProcessInfo.processInfo.activeProcessorCount + 4 }

    /// Ends the process, with the reason, where something is missing.
    static func check() {
        checkDescriptors()
        // The language takes the words of the command line from there.
        if CommandLine.argc == 0, access("/proc/self/cmdline", R_OK) != 0 {
            end("/proc is missing: \(SystemError("open")); mount it first")
        }
        checkThreads()
    }

    /// Says why nothing can be done, and ends the process.
    static func end(_ reason: String) -> Never {
        let line = [UInt8]("migrate: error: \(reason)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(ExitCode.failure.rawValue)
    }

    private static func checkDescriptors() {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<descriptors {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                end(
                    "too few files may be open: \(SystemError("open")); 'ulimit -n 64' allows more"
                )
            }
            opened.append(descriptor)
        }
    }

    private static func checkThreads() {
        let isDone = Monitor(false)
        let running = Monitor(0)
        defer {
            isDone.withLock { $0 = true }
            running.wait { $0 == 0 ? () : nil }
        }
        for _ in 0..<threads {
            running.withLock { $0 += 1 }
            do throws(SystemError) {
                try SystemThread.start(named: "migrate") {
                    isDone.wait { $0 ? () : nil }
                    running.withLock { $0 -= 1 }
                }
            } catch {
                end("too few threads may run: \(error); see 'ulimit -u'")
            }
        }
    }
}
