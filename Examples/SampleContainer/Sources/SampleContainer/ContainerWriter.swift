internal import CSampleShims
internal import Glibc

/// Writes entries below one directory, with names in bytes, and gives each its own time.
struct ContainerWriter {
    let root: String
    private(set) var fileCount = 0
    /// The bytes written, without holes.
    private(set) var byteCount = 0
    /// Whether the file system refused an extended attribute.
    private(set) var lacksAttributes = false

    private var clock: SeededGenerator
    private var known: Set<EntryPath> = []
    private var directories: [(path: EntryPath, mode: mode_t)] = []

    /// Makes `root`, or uses it if it is an empty directory.
    init(root: String, seed: UInt64) throws {
        self.root = root
        clock = SeededGenerator(seed: seed, part: "clock")
        if mkdir(root, 0o755) != 0 {
            guard errno == EEXIST else { throw SampleError.last("mkdir", root) }
            try Self.requireEmpty(root)
        }
    }

    /// Adds a directory and its parents; `mode` applies from `finish` on.
    mutating func addDirectory(_ path: EntryPath, mode: mode_t = 0o755) throws {
        guard known.insert(path).inserted else { return }
        if let parent = path.parent {
            try addDirectory(parent)
        }
        try check("mkdir", path) { mkdir($0, 0o755) }
        directories.append((path, mode))
    }

    /// Adds a file and its parent directories.
    mutating func addFile(
        _ path: EntryPath,
        _ contents: [UInt8],
        mode: mode_t = 0o644,
        modified: Timestamp? = nil
    ) throws {
        try addFile(path, mode: mode, modified: modified) { file in
            try Self.write(contents, to: file, at: 0)
        }
        byteCount += contents.count
    }

    /// Adds a file of `length` bytes that is a hole except for `extents`.
    mutating func addSparseFile(
        _ path: EntryPath,
        length: Int,
        extents: [(offset: Int, contents: [UInt8])]
    ) throws {
        try addFile(path, mode: 0o644, modified: nil) { file in
            guard ftruncate(file, length) == 0 else {
                throw SampleError.last("ftruncate", path.text)
            }
            for extent in extents {
                try Self.write(extent.contents, to: file, at: extent.offset)
            }
        }
        byteCount += extents.reduce(0) { $0 + $1.contents.count }
    }

    /// Adds a symbolic link whose target is `target`, byte for byte.
    mutating func addSymbolicLink(_ path: EntryPath, to target: EntryPath) throws {
        try addParent(of: path)
        try check("symlink", path) { name in
            Self.withPath(target.bytes) { symlink($0, name) }
        }
        try setTime(of: path, to: .random(using: &clock))
        fileCount += 1
    }

    /// Adds another name of the file at `existing`.
    mutating func addHardLink(_ path: EntryPath, to existing: EntryPath) throws {
        try addParent(of: path)
        try check("link", path) { name in
            Self.withPath(absolute(existing)) { link($0, name) }
        }
        fileCount += 1
    }

    /// Sets an extended attribute, or notes that this file system has none.
    mutating func setAttribute(_ name: String, _ value: [UInt8], of path: EntryPath) throws {
        let result = Self.withPath(absolute(path)) {
            sample_set_attribute($0, name, value, value.count)
        }
        if result == 0 { return }
        guard errno == ENOTSUP else { throw SampleError.last("setxattr", path.text) }
        lacksAttributes = true
    }

    /// Sets the mode and time of a file that other code wrote, and counts it.
    mutating func adopt(_ path: EntryPath, length: Int) throws {
        try check("chmod", path) { chmod($0, 0o644) }
        try setTime(of: path, to: .random(using: &clock))
        fileCount += 1
        byteCount += length
    }

    /// Sets the modes and times of directories, which adding entries would change again.
    consuming func finish() throws {
        for (path, mode) in directories.reversed() {
            try check("chmod", path) { chmod($0, mode) }
            try setTime(of: path, to: .random(using: &clock))
        }
    }
}

// MARK: - System calls

extension ContainerWriter {
    private mutating func addFile(
        _ path: EntryPath,
        mode: mode_t,
        modified: Timestamp?,
        write: (_ file: Int32) throws -> Void
    ) throws {
        try addParent(of: path)
        let file = Self.withPath(absolute(path)) { open($0, O_WRONLY | O_CREAT | O_EXCL, 0o600) }
        guard file >= 0 else { throw SampleError.last("open", path.text) }
        defer { close(file) }
        try write(file)
        guard fchmod(file, mode) == 0 else { throw SampleError.last("fchmod", path.text) }
        try setTime(of: path, to: modified ?? .random(using: &clock))
        fileCount += 1
    }

    private mutating func addParent(of path: EntryPath) throws {
        if let parent = path.parent {
            try addDirectory(parent)
        }
    }

    private func setTime(of path: EntryPath, to time: Timestamp) throws {
        let times = [time.value, time.value]
        try check("utimensat", path) { utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) }
    }

    private func check(
        _ call: String,
        _ path: EntryPath,
        _ body: (UnsafePointer<CChar>) -> Int32
    ) throws {
        guard Self.withPath(absolute(path), body) == 0 else {
            throw SampleError.last(call, path.text)
        }
    }

    private func absolute(_ path: EntryPath) -> [UInt8] {
        Array(root.utf8) + [UInt8(ascii: "/")] + path.bytes
    }

    private static func withPath<Result>(
        _ bytes: [UInt8],
        _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        body(bytes.map { CChar(bitPattern: $0) } + [0])
    }

    private static func write(_ contents: [UInt8], to file: Int32, at offset: Int) throws {
        var done = 0
        while done < contents.count {
            let count = contents[done...].withUnsafeBytes {
                pwrite(file, $0.baseAddress, $0.count, offset + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SampleError.last("write", "a file") }
            done += count
        }
    }

    private static func requireEmpty(_ directory: String) throws {
        guard let stream = opendir(directory) else { throw SampleError.last("open", directory) }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil {
            count += 1
        }
        guard count <= 2 else { throw SampleError.notEmpty(directory) }
    }
}
