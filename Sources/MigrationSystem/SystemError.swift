internal import Glibc

/// A failed call to the operating system.
public struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno` after the call.
    public let code: Int32

    /// The name of the call, as its manual page spells it.
    public let call: String

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package init(_ call: String) {
        self.init(call, code: errno)
    }
}

extension SystemError: CustomStringConvertible {
    /// The system's own words for the failure, and the call.
    public var description: String {
        "\(unsafe String(cString: strerror(code))) (\(call))"
    }
}

extension SystemError {
    /// The code that says that something is at the path already.
    static let existingCode = EEXIST

    /// The error of a lock that another process holds.
    package static let busy = SystemError("flock", code: EWOULDBLOCK)

    /// A program could not have mounts of its own.
    package var isAboutMounts: Bool {
        [
            "unshare", "mount", "open_tree", "mount_setattr", "move_mount", "pivot_root", "umount2",
        ].contains(call)
    }

    /// It could not have a namespace, so that no other mounts are possible either.
    package var isAboutNamespaces: Bool { call == "unshare" }

    /// What a call says where there is nothing at the path.
    package static func missing(_ call: String) -> SystemError { SystemError(call, code: ENOENT) }

    /// What a call says where something is at the path already.
    package static func existing(_ call: String) -> SystemError { SystemError(call, code: EEXIST) }

    /// What a call says where something else is at the path than a directory.
    package static func notDirectory(_ call: String) -> SystemError {
        SystemError(call, code: ENOTDIR)
    }

    /// What a call says where it does not apply to what is at the path.
    package static func invalid(_ call: String) -> SystemError { SystemError(call, code: EINVAL) }

    /// The error of what another user put in the way.
    package static let notPermitted = SystemError("open", code: EPERM)

    /// The error of what somebody may not do.
    package static let denied = SystemError("access", code: EACCES)

    /// There is nothing at the path.
    package var isMissing: Bool { code == ENOENT }

    /// Something is at the path already.
    package var isExisting: Bool { code == EEXIST }

    /// A link or a file stands where a directory was expected.
    package var isNotDirectory: Bool { code == ENOTDIR || code == ELOOP }

    /// A directory stands where something else was expected.
    package var isDirectory: Bool { code == EISDIR }

    /// The file system, the quota or the file size limit has no room left.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// What was asked for is more than the system gives at once.
    package var isTooLarge: Bool { code == E2BIG }

    /// The file has no such extended attribute.
    package var isWithoutAttribute: Bool { code == ENODATA }

    /// The directory still holds something.
    package var isNotEmpty: Bool { code == ENOTEMPTY }

    /// Nobody reads the other end of the pipe.
    package var isBrokenPipe: Bool { code == EPIPE }

    /// The other end of the socket went away with messages unread.
    package var isConnectionReset: Bool { code == ECONNRESET }

    /// Another process holds the lock.
    package var isBusy: Bool { code == EWOULDBLOCK || code == EAGAIN }

    /// Permission is denied.
    package var isDenied: Bool { code == EACCES || code == EPERM }

    /// The two places are not of one file system, or of two layers of one.
    package var isCrossDevice: Bool { code == EXDEV }

    /// The file system takes no changes.
    package var isReadOnly: Bool { code == EROFS }

    /// The file system says of itself that it can't do what was asked.
    var isUnsupportedByFileSystem: Bool { code == ENOTSUP || code == EOPNOTSUPP }

    /// The file system can't do what was asked.
    package var isUnsupported: Bool {
        code == ENOTSUP || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL
    }

    /// A process can't be put in the cgroup that was made for it.
    package var isOfControlGroup: Bool { call == "cgroup.procs" }

    /// An atomic exchange of two directories is impossible at this place.
    package var isExchangeImpossible: Bool {
        isUnsupported || isDenied || isReadOnly || isCrossDevice || code == EBUSY
    }
}

/// Repeats `body` until it succeeds or fails with something other than `EINTR`.
package func retryingOnInterrupt<Value: SignedInteger>(
    _ call: String,
    _ body: () -> Value
) throws(SystemError) -> Value {
    while true {
        let result = body()
        if result != -1 { return result }
        guard errno == EINTR else { throw SystemError(call) }
    }
}
