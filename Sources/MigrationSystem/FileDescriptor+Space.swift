internal import Glibc

extension FileDescriptor {
    /// The bytes that this process may still write on the open file's file system.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        var space = statvfs()
        guard unsafe fstatvfs(rawValue, &space) == 0 else { throw SystemError("fstatvfs") }
        return UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }

    /// Whether the open file's file system takes note of when a file is read.
    package borrowing func recordsAccess() throws(SystemError) -> Bool {
        var system = statvfs()
        guard unsafe fstatvfs(rawValue, &system) == 0 else { throw SystemError("fstatvfs") }
        return system.f_flag & noAccessTime == 0
    }
}

/// ST_NOATIME (statvfs(3)), which the C library's Swift module hides.
private let noAccessTime: UInt = 1024

extension FileDescriptor {
    /// The least that a name is counted as, so that empty files are not free.
    private static let smallestName: UInt64 = 512

    /// Adds up what everything in this directory takes on the disk, until that is over `limit`.
    ///
    /// The tree may change meanwhile: what is gone when its turn comes is not counted, nor is what lies
    /// in directories that can't be listed. A file with several names is counted in parts.
    package borrowing func allocatedSize(upTo limit: UInt64) throws(SystemError) -> UInt64 {
        let cursor = DirectoryCursor(root: try duplicate())
        var size: UInt64 = 0
        var levels = [try Self.directories(in: cursor.rootDirectory, &size)]
        while let last = levels.indices.last, size <= limit {
            guard let name = levels[last].popLast() else {
                levels.removeLast()
                cursor.truncate(to: max(0, last - 1))
                continue
            }
            do throws(SystemError) {
                let directory = try cursor.descend(to: name)
                levels.append(try Self.directories(in: directory, &size))
            } catch {
                guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
                cursor.truncate(to: last)
            }
        }
        return size
    }

    /// Adds what is in `directory` to `size`, and returns the names of the directories in it.
    private static func directories(
        in directory: OpenFile,
        _ size: inout UInt64
    ) throws(SystemError) -> [ByteString] {
        let listing = try DirectoryListing(of: directory.descriptor)
        var names: [ByteString] = []
        for index in 0..<listing.count {
            let status: FileStatus
            do {
                status = try listing.status(at: index, in: directory.descriptor)
            } catch {
                guard error.isMissing || error.isDenied else { throw error }
                continue
            }
            let isDirectory = status.kind == .directory
            let nameCount = isDirectory ? 1 : max(1, status.linkCount)
            size.addSaturating(max(smallestName, status.allocatedSize / nameCount))
            if isDirectory { names.append(listing[index]) }
        }
        return names
    }
}
