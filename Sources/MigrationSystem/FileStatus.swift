internal import Glibc

/// What the system knows of a file.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown
    }

    /// What tells one file from every other one on this machine.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    package let kind: Kind
    /// The permission bits, set-id and sticky bits included.
    package let permissions: UInt16
    package let owner: UInt32
    package let group: UInt32
    package let identity: Identity
    package let linkCount: UInt64
    package let size: UInt64
    /// Bytes on the disk, which are fewer than `size` where a file has holes.
    package let allocatedSize: UInt64
    package let accessTime: FileTime
    package let modificationTime: FileTime
    package let changeTime: FileTime

    /// Makes the status of a file that is on no disk.
    package init(kind: Kind, identity: Identity, linkCount: UInt64, size: UInt64) {
        self.kind = kind
        self.identity = identity
        self.linkCount = linkCount
        self.size = size
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

    /// The user whose rights this process has.
    package static var currentUser: UInt32 { geteuid() }

    /// Whether root must not rely on the file, since it belongs neither to root nor to the owner of
    /// `place`; anybody else is kept from harm by the system.
    package func isForeign(to place: FileStatus) -> Bool {
        Self.currentUser == 0 && owner != 0 && owner != place.owner
    }

    /// Whether the permission bits alone let `user` read the file, whatever groups they are in.
    package func isReadableByBits(to user: UInt32) -> Bool {
        if user == 0 { return true }
        return permissions & (owner == user ? 0o400 : 0o004) != 0
    }
}
