internal import Glibc

/// The resources that the process needs before it can work.
///
/// Without them, Swift's runtime hangs or crashes without a message.
package enum Surroundings {
    /// What the process lacks, and the remedy.
    package struct Shortage: Error, CustomStringConvertible {
        package let description: String
    }

    /// The minimum number of descriptors that the signal watch and an operation open.
    private static let descriptors = 13

    /// One thread each for signals, the operation, its input or output, and progress.
    private static let threads = 4

    /// The minimum address space: for the program, the stacks of these threads, and the work
    /// itself.
    private static var addresses: UInt64 {
        (192 << 20) + UInt64(sysconf(CInt(_SC_NPROCESSORS_ONLN))) * (16 << 20)
    }

    /// Throws if something is missing.
    package static func check() throws(Shortage) {
        try checkAddresses()
        try checkDescriptors()
        // Swift reads the command line from there.
        if CommandLine.argc == 0, unsafe access("/proc/self/cmdline", R_OK) != 0 {
            throw Shortage(description: "/proc is missing: \(SystemError("open")); mount it first")
        }
        try checkThreads()
    }

    private static func checkAddresses() throws(Shortage) {
        guard let limit = AddressSpace.limit, limit < addresses else { return }
        let reason = "too little memory may be used: \(limit >> 20) MiB, and "
        throw Shortage(
            description: reason + "\(addresses >> 20) are needed; "
                + "'ulimit -v \(addresses >> 10)' allows more"
        )
    }

    private static func checkDescriptors() throws(Shortage) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<descriptors {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let reason = "too few files may be open: \(SystemError("open"))"
                throw Shortage(description: reason + "; 'ulimit -n 64' allows more")
            }
            opened.append(descriptor)
        }
    }

    private static func checkThreads() throws(Shortage) {
        do throws(SystemError) {
            try SystemThread.check(threads)
        } catch {
            throw Shortage(description: "too few threads may run: \(error); see 'ulimit -u'")
        }
    }
}
