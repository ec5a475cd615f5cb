internal import Glibc
internal import MigrationSystem

/// The resources that the process needs before it can work.
///
/// Without them, Swift's runtime hangs or ends the process without a message.
enum Surroundings {
    /// The least number of descriptors that the signal watch and an operation open.
    private static let descriptors = 13

    /// One thread each for signals, the operation, its input or output, and progress.
    private static let threads = 4

    /// The least addresses: for the program, the stacks of these threads, and the work itself.
    private static var addresses: UInt64 {
        (192 << 20) + UInt64(sysconf(CInt(_SC_NPROCESSORS_ONLN))) * (16 << 20)
    }

    /// Ends the process with the reason if something is missing.
    static func check() {
        checkAddresses()
        checkDescriptors()
        // Swift reads the words of the command line from there.
        if CommandLine.argc == 0, access("/proc/self/cmdline", R_OK) != 0 {
            end("/proc is missing: \(SystemError("open")); mount it first")
        }
        checkThreads()
    }

    /// Prints why the process can't work, and ends it.
    static func end(_ reason: String) -> Never {
        let line = [UInt8]("migrate: error: \(reason)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(ExitCode.systemTooSmall.rawValue)
    }

    private static func checkAddresses() {
        guard let limit = AddressSpace.limit, limit < addresses else { return }
        end(
            "too little memory may be used: \(limit >> 20) MiB, and \(addresses >> 20) are needed; "
                + "'ulimit -v \(addresses >> 10)' allows more"
        )
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
        do throws(SystemError) {
            try SystemThread.check(threads)
        } catch {
            end("too few threads may run: \(error); see 'ulimit -u'")
        }
    }
}
