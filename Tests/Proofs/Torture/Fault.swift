import Glibc
import TestTrees

/// A fault at a call, once or from then on.
struct Fault: Sendable {
    enum Kind: Sendable, Equatable {
        /// The process dies in place of the call.
        case death
        case error(Int32)
        /// Half of the requested bytes are read or written.
        case half
        /// The power fails, and only data that survives that is on the disk.
        case powerLoss(Disk.Survivors)
    }

    private static let forEver = 1_000_000

    let name: String
    let kind: Kind
    /// The calls that may fail; `nil` for all.
    var calls: Set<String>?
    /// At how many calls it happens, one after the other.
    var length = 1

    static let all = [
        Fault(name: "killed", kind: .death),
        Fault(name: "EIO once", kind: .error(EIO)),
        Fault(name: "EIO for ever", kind: .error(EIO), length: forEver),
        Fault(name: "ENOSPC once", kind: .error(ENOSPC), calls: changing),
        Fault(name: "ENOSPC for ever", kind: .error(ENOSPC), calls: changing, length: forEver),
        Fault(name: "EINTR once", kind: .error(EINTR)),
        Fault(name: "EINTR 4 times", kind: .error(EINTR), length: 4),
        Fault(name: "short once", kind: .half, calls: halved),
        Fault(name: "short for ever", kind: .half, calls: halved, length: forEver),
    ]

    static let losses = [
        Fault(name: "journal survives", kind: .powerLoss(.journal), calls: changing),
        Fault(name: "nothing survives", kind: .powerLoss(.nothing), calls: changing),
    ]

    /// Calls that change a file system.
    ///
    /// The disk doesn't change between two of them.
    private static let changing: Set = [
        "copy_file_range", "fallocate", "fchmod", "fchmodat", "fchmodat2", "fdatasync",
        "fsetxattr", "fsync", "ftruncate", "linkat", "lsetxattr", "mkdirat", "openat", "openat2",
        "pwrite64", "pwritev", "renameat", "renameat2", "symlinkat", "syncfs", "unlinkat",
        "utimensat", "write", "writev",
    ]
    private static let halved: Set = ["read", "pread64", "write", "pwrite64", "writev"]
    /// Calls that a signal may interrupt, by their manual pages.
    private static let interruptible: Set = [
        "fallocate", "fcntl", "ftruncate", "openat", "openat2", "pread64", "pwrite64", "pwritev",
        "read", "readv", "write", "writev", "close",
    ]

    var kills: Bool {
        switch kind {
        case .death, .powerLoss: true
        case .error, .half: false
        }
    }

    /// The text that an error must contain.
    var reason: String? {
        if case .error(let code) = kind { String(cString: strerror(code)) } else { nil }
    }

    /// The fault as the injector takes it.
    func word(on disk: Disk?) -> String {
        switch kind {
        case .death: "kill"
        case .error(let code): "error=\(code)"
        case .half: "short"
        case .powerLoss(let survivors):
            "powerloss=\(survivors.rawValue):\(disk?.mountPoint.text ?? "")"
        }
    }

    /// Whether the operation must succeed as if nothing had happened.
    func mustBeSurvived(at call: String) -> Bool {
        kind == .half || (kind == .error(EINTR) && Self.interruptible.contains(call))
    }

    /// Every `step`th point for these counts of calls, and for a power loss also the end.
    ///
    /// `passedOver` is the number of points to skip first; it is updated for the next fault.
    func points(_ counts: [String: Int], step: Int, passedOver: inout Int) -> [Point] {
        let every = counts.sorted { $0.key < $1.key }
            .filter { calls?.contains($0.key) ?? true }
            .flatMap { call, count in
                (0..<count).map { Point(fault: self, call: call, number: $0 + 1) }
            }
        let tried = stride(from: passedOver, to: every.count, by: step).map { every[$0] }
        passedOver += tried.count * step - every.count
        guard case .powerLoss = kind else { return tried }
        return tried + [Point(fault: self, call: "its end", number: 1)]
    }
}

/// A fault at the call with this number among those of its kind.
struct Point: CustomStringConvertible, Sendable {
    let fault: Fault
    let call: String
    let number: Int

    var last: Int { number + fault.length - 1 }
    var mustSucceed: Bool { fault.mustBeSurvived(at: call) }
    var description: String { "\(fault.name) at \(call) \(number)" }

    /// Whether a run that ended like this must have cleaned up itself.
    func leavesNothing(_ ended: Tools.Ended) -> Bool {
        ended.hasFailed && fault.length == 1 && call != "unlinkat"
    }
}
