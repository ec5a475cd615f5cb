internal import Glibc

// MARK: - Reading

extension FileDescriptor {
    /// Appends the result of one read to `output`; nothing at the end of the file.
    package borrowing func read(into output: inout OutputSpan<UInt8>) throws(SystemError) {
        try unsafe output.withUnsafeMutableBufferPointer { bytes, count throws(SystemError) in
            let free = unsafe UnsafeMutableBufferPointer(rebasing: bytes[count...])
            count += try retryingOnInterrupt("read") {
                unsafe Glibc.read(rawValue, free.baseAddress, free.count)
            }
        }
    }

    /// Reads at most `count` bytes into `buffer` from `start`; returns how many, 0 at the end.
    package borrowing func read(
        into buffer: inout [UInt8],
        from start: Int,
        count: Int
    ) throws(SystemError) -> Int {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let rawValue = rawValue
        return try retryingOnInterrupt("read") {
            unsafe buffer.withUnsafeMutableBytes {
                unsafe Glibc.read(rawValue, $0.baseAddress?.advanced(by: start), count)
            }
        }
    }

    /// Reads at most `count` bytes at `offset` of the file into `buffer` from `start`.
    package borrowing func read(
        at offset: UInt64,
        into buffer: inout [UInt8],
        from start: Int = 0,
        count: Int
    ) throws(SystemError) -> Int {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let rawValue = rawValue
        return try retryingOnInterrupt("pread") {
            unsafe buffer.withUnsafeMutableBytes {
                unsafe pread(rawValue, $0.baseAddress?.advanced(by: start), count, off_t(offset))
            }
        }
    }

    /// Reads at `offset` of the file until `count` bytes are in `buffer` from `start`; returns how many,
    /// fewer only at the end of the file.
    package borrowing func fill(
        _ buffer: inout [UInt8],
        from start: Int = 0,
        count: Int,
        at offset: UInt64
    ) throws(SystemError) -> Int {
        var filled = 0
        while filled < count {
            let read = try read(
                at: offset + UInt64(filled),
                into: &buffer,
                from: start + filled,
                count: count - filled
            )
            if read == 0 { break }
            filled += read
        }
        return filled
    }

    /// Moves the position of the next read to `offset`.
    package borrowing func seek(to offset: UInt64) throws(SystemError) {
        guard lseek(rawValue, off_t(offset), SEEK_SET) >= 0 else { throw SystemError("lseek") }
    }

    /// Reads the whole file from its start; `nil` if it holds more than `limit` bytes.
    package borrowing func readAll(limit: Int) throws(SystemError) -> [UInt8]? {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let offset = UInt64(contents.count)
            let count = try read(at: offset, into: &buffer, count: buffer.count)
            if count == 0 { return contents }
            contents.append(contentsOf: buffer[..<count])
            if contents.count > limit { return nil }
        }
    }
}

// MARK: - Writing

extension FileDescriptor {
    /// Writes every byte of `bytes` at the current offset.
    package borrowing func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let part = rest
            let written = try retryingOnInterrupt("write") {
                unsafe part.withUnsafeBytes { unsafe write(rawValue, $0.baseAddress, $0.count) }
            }
            rest = rest.extracting(droppingFirst: written)
        }
    }

    /// Writes `bytes` in one call, so that they stay together in a file opened for appending.
    package borrowing func writeAtOnce(_ bytes: Span<UInt8>) throws(SystemError) {
        let written = try retryingOnInterrupt("write") {
            unsafe bytes.withUnsafeBytes { unsafe write(rawValue, $0.baseAddress, $0.count) }
        }
        guard written == bytes.count else { throw SystemError("write", code: ENOSPC) }
    }

    /// Writes every byte of `bytes` at `offset` of the file.
    package borrowing func writeAll(
        _ bytes: Span<UInt8>,
        at offset: UInt64
    ) throws(SystemError) {
        var rest = bytes
        var position = offset
        while !rest.isEmpty {
            let part = rest
            let written = try retryingOnInterrupt("pwrite") {
                unsafe part.withUnsafeBytes {
                    unsafe pwrite(rawValue, $0.baseAddress, $0.count, off_t(position))
                }
            }
            position += UInt64(written)
            rest = rest.extracting(droppingFirst: written)
        }
    }
}

extension FileDescriptor {
    /// Writes every byte of `pieces`, one after another, at the current offset.
    package borrowing func writeAll(
        gathering pieces: [UnsafeRawBufferPointer]
    ) throws(SystemError) {
        var vectors = unsafe pieces.map { piece in
            unsafe iovec(iov_base: .init(mutating: piece.baseAddress), iov_len: piece.count)
        }
        let rawValue = rawValue
        var first = 0
        while unsafe first < vectors.count {
            let count = min(unsafe vectors.count - first, Self.vectorLimit)
            var written = try retryingOnInterrupt("writev") {
                unsafe vectors.withUnsafeBufferPointer {
                    unsafe writev(rawValue, $0.baseAddress?.advanced(by: first), CInt(count))
                }
            }
            while unsafe first < vectors.count, unsafe written >= vectors[first].iov_len {
                unsafe written -= vectors[first].iov_len
                first += 1
            }
            if written > 0 {
                unsafe vectors[first].iov_base += written
                unsafe vectors[first].iov_len -= written
            }
        }
    }

    /// The maximum number of pieces that one call writes (POSIX.1-2017, IOV_MAX, on Linux and
    /// macOS).
    private static let vectorLimit = 1024
}

// MARK: - Space

extension FileDescriptor {
    /// The bytes that this process may still write on the open file's file system.
    package borrowing func availableSpace() throws(SystemError) -> UInt64 {
        var space = statvfs()
        guard unsafe fstatvfs(rawValue, &space) == 0 else { throw SystemError("fstatvfs") }
        return UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }

    /// Whether the open file's file system records access times.
    package borrowing func recordsAccess() throws(SystemError) -> Bool {
        var system = statvfs()
        guard unsafe fstatvfs(rawValue, &system) == 0 else { throw SystemError("fstatvfs") }
        return system.f_flag & noAccessTime == 0
    }
}

/// ST_NOATIME (statvfs(3)), which the C library's Swift module hides.
private let noAccessTime: UInt = 1024

extension FileDescriptor {
    /// The minimum size that a name counts for, in bytes, so that empty files are not free.
    private static let smallestName: UInt64 = 512

    /// Adds up the disk space of everything in this directory until the sum exceeds `limit`.
    ///
    /// The tree may change during the walk: removed files don't count, nor do those in
    /// directories that can't be listed. The size of a file is divided among its hard links. A
    /// cancellation ends the walk with the sum so far.
    package borrowing func allocatedSize(
        upTo limit: UInt64,
        _ cancellation: CancellationFlag? = nil
    ) throws(SystemError) -> UInt64 {
        let cursor = DirectoryCursor(root: OpenFile(try duplicate()))
        var size: UInt64 = 0
        var levels = [try Self.directories(in: cursor.rootDirectory, &size)]
        while let last = levels.indices.last, size <= limit, cancellation?.isCancelled != true {
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

    /// Adds the files in `directory` to `size`; returns the names of the directories in it.
    private static func directories(
        in directory: OpenFile,
        _ size: inout UInt64
    ) throws(SystemError) -> [[UInt8]] {
        let listing = try DirectoryListing(of: directory.descriptor)
        var names: [[UInt8]] = []
        for index in listing.indices {
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
