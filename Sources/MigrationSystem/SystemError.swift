internal import Glibc

/// A failed call to the operating system.
public struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno` after the call.
    public let code: Int32

    /// The name of the call, as its manual page spells it.
    public let call: String

    package init(_ call: String, code: Int32) {
        (self.call, self.code) = (call, code)
    }

    package init(_ call: String) {
        self.init(call, code: errno)
    }
}

extension SystemError: CustomStringConvertible {
    /// The system's message for the failure, and the call.
    public var description: String {
        "\(unsafe String(cString: strerror(code))) (\(call))"
    }
}

extension SystemError {
    /// The code for a path that already exists.
    package static let existingCode = EEXIST

    /// The error of a lock that another process holds.
    package static let busy = SystemError("flock", code: EWOULDBLOCK)

    /// A program could not get its own mounts.
    package var isAboutMounts: Bool {
        [
            "unshare", "mount", "open_tree", "mount_setattr", "move_mount", "pivot_root", "umount2",
        ].contains(call)
    }

    /// A program could not get a namespace, and so no mounts either.
    package var isAboutNamespaces: Bool { call == "unshare" }

    /// The error for a path that doesn't exist.
    package static func missing(_ call: String) -> SystemError { SystemError(call, code: ENOENT) }

    /// The error for a path that already exists.
    package static func existing(_ call: String) -> SystemError { SystemError(call, code: EEXIST) }

    /// The error for a path that leads to something other than a directory.
    package static func notDirectory(_ call: String) -> SystemError {
        SystemError(call, code: ENOTDIR)
    }

    /// The error for a path that leads to a directory instead of a file.
    package static func directory(_ call: String) -> SystemError { SystemError(call, code: EISDIR) }

    /// The error for a file of a kind that the call doesn't apply to.
    package static func invalid(_ call: String) -> SystemError { SystemError(call, code: EINVAL) }

    /// The error for a file that another user put at the path.
    package static let notPermitted = SystemError("open", code: EPERM)

    /// The error for a call that is not permitted.
    package static let denied = SystemError("access", code: EACCES)

    /// The path doesn't exist.
    package var isMissing: Bool { code == ENOENT }

    /// The path already exists.
    package var isExisting: Bool { code == EEXIST }

    /// The path leads to a link or a file instead of a directory.
    package var isNotDirectory: Bool { code == ENOTDIR || code == ELOOP }

    /// The path leads to a directory, which is not expected.
    package var isDirectory: Bool { code == EISDIR }

    /// The file system, the quota or the file size limit is exhausted.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// The request is larger than the system accepts.
    package var isTooLarge: Bool { code == E2BIG }

    /// This process, or the system, can't open more files.
    package var isOfTooFewFiles: Bool { code == EMFILE || code == ENFILE }

    /// The file has no such extended attribute.
    package var isWithoutAttribute: Bool { code == ENODATA }

    /// The directory is not empty.
    package var isNotEmpty: Bool { code == ENOTEMPTY }

    /// The other end of the pipe is closed.
    package var isBrokenPipe: Bool { code == EPIPE }

    /// The other end of the socket was closed with messages unread.
    package var isConnectionReset: Bool { code == ECONNRESET }

    /// Another process holds the lock.
    package var isBusy: Bool { code == EWOULDBLOCK || code == EAGAIN }

    /// Permission is denied.
    package var isDenied: Bool { code == EACCES || code == EPERM }

    /// The two paths are on different file systems, or on different layers of one.
    package var isCrossDevice: Bool { code == EXDEV }

    /// The file system is read-only.
    package var isReadOnly: Bool { code == EROFS }

    /// The file system doesn't support the call.
    var isUnsupportedByFileSystem: Bool { code == ENOTSUP || code == EOPNOTSUPP }

    /// The file system can't carry out the call.
    package var isUnsupported: Bool {
        code == ENOTSUP || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL
    }

    /// A process can't be put in the cgroup that was made for it.
    package var isOfControlGroup: Bool { call == "cgroup.procs" }

    /// An atomic exchange of two directories is impossible here.
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
