internal import CMigrationShims
internal import Glibc

/// The metadata of a file.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown
    }

    /// The numbers that identify a file on this machine.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            (self.device, self.inode) = (device, inode)
        }
    }

    // In this order they leave no gaps; a walk keeps thousands.
    package let identity: Identity
    package let linkCount: UInt64
    package let size: UInt64
    /// The bytes on the disk; fewer than `size` if the file has holes.
    package let allocatedSize: UInt64
    package let modificationTime: FileTime
    package let owner: UInt32
    package let changeTime: FileTime
    package let group: UInt32
    package let accessTime: FileTime
    /// The permission bits, with the set-id and sticky bits.
    package let permissions: UInt16
    package let kind: Kind

    /// Makes the status of a file that exists only in an archive.
    package init(kind: Kind, identity: Identity, linkCount: UInt64, size: UInt64) {
        (self.kind, self.identity, self.linkCount, self.size) = (kind, identity, linkCount, size)
        (permissions, owner, group, allocatedSize) = (0, 0, 0, 0)
        let time = FileTime(seconds: 0)
        (accessTime, modificationTime, changeTime) = (time, time, time)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            case S_IFBLK: .blockDevice
            default: .unknown
            }
        permissions = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        owner = status.st_uid
        group = status.st_gid
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino)
        )
        linkCount = UInt64(truncatingIfNeeded: status.st_nlink)
        size = UInt64(max(0, status.st_size))
        allocatedSize = UInt64(max(0, status.st_blocks)) * 512
        accessTime = FileTime(status.st_atim)
        modificationTime = FileTime(status.st_mtim)
        changeTime = FileTime(status.st_ctim)
    }
}

extension FileTime {
    fileprivate init(_ time: timespec) {
        self.init(
            seconds: Int64(time.tv_sec),
            nanoseconds: UInt32(truncatingIfNeeded: time.tv_nsec)
        )
    }
}

extension FileStatus {
    /// Whether both describe the same file, unchanged in content and metadata.
    package func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && size == earlier.size
            && modificationTime == earlier.modificationTime && changeTime == earlier.changeTime
    }

    /// The effective user of this process.
    package static var currentUser: UInt32 { geteuid() }

    /// The user that files appear to belong to if their owner is unknown in the user namespace.
    package static let overflowUser: UInt32 = {
        // Without this file, the kernel's default is the best guess.
        guard let file = try? FileDescriptor.open("/proc/sys/kernel/overflowuid", .reading),
            let bytes = try? file.readAll(limit: 64)
        else { return 65_534 }
        return UInt32(String(decoding: bytes, as: UTF8.self).dropLast()) ?? 65_534
    }()

    /// Whether the file is untrustworthy to root: it belongs neither to root nor to the owner of `place`.
    ///
    /// The system protects all other users.
    package func isForeign(to place: FileStatus) -> Bool {
        Self.currentUser == 0 && owner != 0 && owner != place.owner
    }

    /// Whether the permission bits let `user` read the file, regardless of groups.
    package func isReadableByBits(to user: UInt32) -> Bool {
        if user == 0 { return true }
        return permissions & (owner == user ? 0o400 : 0o004) != 0
    }
}

// MARK: - Asking the system

/// Reading and changing the metadata of files.
extension FileDescriptor {
    /// The metadata of the open file.
    package borrowing func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(rawValue, &status) == 0 else { throw SystemError("fstat") }
        return FileStatus(status)
    }

    /// The metadata of `name` in this directory; a link is not followed.
    package borrowing func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        try status(of: name[...])
    }

    /// The metadata of `name` in this directory; a link is not followed.
    package borrowing func status(
        of name: ArraySlice<UInt8>
    ) throws(SystemError) -> FileStatus {
        var status = stat()
        let rawValue = rawValue
        let result = name.withPath { unsafe fstatat(rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { throw SystemError("lstat") }
        return FileStatus(status)
    }

    /// The metadata of `name` in this directory; `nil` if nothing has that name.
    package borrowing func statusIfPresent(
        of name: ArraySlice<UInt8>
    ) throws(SystemError) -> FileStatus? {
        do {
            return try status(of: name)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// The metadata of `name` in this directory; `nil` if nothing has that name.
    package borrowing func statusIfPresent(
        of name: [UInt8]
    ) throws(SystemError) -> FileStatus? {
        try statusIfPresent(of: name[...])
    }

    /// The metadata of `path`, whose links are not followed; `nil` if it doesn't exist.
    package static func statusIfPresent(
        atPath path: BytePath
    ) throws(SystemError) -> FileStatus? {
        do {
            return try status(atPath: path)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// The metadata of `path`; a link in its last component is not followed.
    package static func status(atPath path: BytePath) throws(SystemError) -> FileStatus {
        var status = stat()
        let result = path.withCString { unsafe lstat($0, &status) }
        guard result == 0 else { throw SystemError("lstat") }
        return FileStatus(status)
    }

    /// Sets the owner of the open file, which may clear its set-id bits.
    package borrowing func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        guard fchown(rawValue, owner, group) == 0 else { throw SystemError("fchown") }
    }

    /// Gives the open file to `owner`.
    package borrowing func setOwner(_ owner: FileOwner) throws(SystemError) {
        try setOwner(owner.user, group: owner.group)
    }

    /// Gives `name` in this directory, which may be a link, to `owner`.
    package borrowing func setOwner(
        _ owner: FileOwner,
        of name: [UInt8]
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath {
            unsafe fchownat(rawValue, $0, owner.user, owner.group, AT_SYMLINK_NOFOLLOW)
        }
        guard result == 0 else { throw SystemError("fchownat") }
    }

    /// Gives the open file the owner and group of `status` if they differ.
    package borrowing func adoptOwner(of other: FileStatus) throws(SystemError) {
        let status = try status()
        guard status.owner != other.owner || status.group != other.group else { return }
        try setOwner(other.owner, group: other.group)
    }

    /// Sets the permission bits of the open file.
    package borrowing func setPermissions(_ permissions: UInt16) throws(SystemError) {
        guard fchmod(rawValue, mode_t(permissions)) == 0 else { throw SystemError("fchmod") }
    }

    /// Sets the permission bits of `name` in this directory; a link is refused, not followed.
    package borrowing func setPermissions(
        _ permissions: UInt16,
        of name: [UInt8]
    ) throws(SystemError) {
        let rawValue = rawValue
        let flags = AT_SYMLINK_NOFOLLOW
        // The C library may have to open the file, and a signal can interrupt that.
        _ = try retryingOnInterrupt("fchmodat") {
            name.withPath { unsafe fchmodat(rawValue, $0, mode_t(permissions), flags) }
        }
    }

    /// Sets the modification time of the open file; the access time becomes the same.
    package borrowing func setModificationTime(_ time: FileTime) throws(SystemError) {
        let value = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let result = unsafe withUnsafeTemporaryAllocation(of: timespec.self, capacity: 2) { times in
            unsafe times.initialize(repeating: value)
            return unsafe futimens(rawValue, times.baseAddress)
        }
        guard result == 0 else { throw SystemError("futimens") }
    }

    /// Sets the modification time of `name` in this directory; a link is not followed.
    package borrowing func setModificationTime(
        _ time: FileTime,
        of name: [UInt8]
    ) throws(SystemError) {
        let value = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let rawValue = rawValue
        let result = unsafe withUnsafeTemporaryAllocation(of: timespec.self, capacity: 2) { times in
            unsafe times.initialize(repeating: value)
            return name.withPath {
                unsafe utimensat(rawValue, $0, times.baseAddress, AT_SYMLINK_NOFOLLOW)
            }
        }
        guard result == 0 else { throw SystemError("utimensat") }
    }

    /// Sets the size of the open file; the bytes past the data become a hole.
    package borrowing func setSize(_ size: UInt64) throws(SystemError) {
        let rawValue = rawValue
        _ = try retryingOnInterrupt("ftruncate") { ftruncate(rawValue, off_t(size)) }
    }

    /// Makes everything written to the open file survive a power loss.
    package borrowing func synchronize() throws(SystemError) {
        guard fsync(rawValue) == 0 else { throw SystemError("fsync") }
    }

    /// Makes everything on the open file's file system survive a power loss.
    package borrowing func synchronizeFileSystem() throws(SystemError) {
        guard migration_sync_file_system(rawValue) == 0 else { throw SystemError("syncfs") }
    }
}

/// A point in time as file systems keep it: seconds since 1970 and nanoseconds after them.
public struct FileTime: Hashable, Sendable, Comparable {
    /// Whole seconds since 1970-01-01 UTC, negative before it.
    public let seconds: Int64

    /// Nanoseconds after `seconds`, from 0 to 999,999,999.
    public let nanoseconds: UInt32

    /// Makes a time; `nanoseconds` counts forward even when `seconds` is negative.
    public init(seconds: Int64, nanoseconds: UInt32 = 0) {
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// Orders times from the past to the future.
    public static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension FileTime {
    /// UTC to the nanosecond, in ISO 8601; the seconds since 1970 for years that the C library
    /// can't represent.
    package var universal: String {
        let digits = String(nanoseconds)
        let fraction = String(repeating: "0", count: 9 - digits.count) + digits
        guard let parts = CalendarTime(universal: self) else { return "@\(seconds).\(fraction)" }
        let day = [parts.year, parts.month, parts.day]
        let time = [parts.hour, parts.minute, parts.second]
        return "\(Self.joined(day, "-"))T\(Self.joined(time, ":")).\(fraction)Z"
    }

    private static func joined(_ numbers: [Int], _ separator: String) -> String {
        numbers.map { (0..<10).contains($0) ? "0\($0)" : "\($0)" }.joined(separator: separator)
    }
}

extension FileStatus.Kind {
    /// The kind in words, for messages.
    package var name: String {
        switch self {
        case .regular: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .characterDevice, .blockDevice: "a device"
        case .unknown: "something else"
        }
    }
}
