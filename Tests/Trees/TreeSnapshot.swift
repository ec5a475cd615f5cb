package import Foundation
import Glibc

/// Everything that a migration must keep of a tree, read by plain system calls.
package struct TreeSnapshot: Equatable, Sendable {
    /// One file, directory or link.
    package struct Node: Equatable, Sendable {
        /// The `S_IFMT` bits.
        package var type: mode_t
        /// The permission bits.
        package var mode: mode_t
        /// The whole seconds of the last change.
        package var seconds: Int
        /// The nanoseconds of the last change.
        package var nanoseconds: Int
        /// The bytes of a file.
        package var content: Content
        /// The target of a symbolic link, or the number of a device.
        package var target: [UInt8]
        /// The first path of the same file.
        package var firstName: BytePath
        /// The extended attributes.
        package var attributes: [String: [UInt8]]
    }

    /// The entries by their path from the root, without the root itself.
    package var nodes: [BytePath: Node] = [:]
    /// The number of disk blocks of the files; they need not be kept.
    package private(set) var blocks: [BytePath: Int] = [:]

    /// Whether the two hold the same.
    package static func == (left: TreeSnapshot, right: TreeSnapshot) -> Bool {
        left.nodes == right.nodes
    }

    /// Makes a snapshot of an empty directory.
    package init() {}

    /// Reads everything below `root`, except at or below the paths in `exclusions`.
    package init(of root: BytePath, excluding exclusions: [BytePath] = []) throws {
        var firstNames: [FileIdentity: BytePath] = [:]
        let excluded = Set(exclusions)
        try root.walk { path, file in
            if excluded.contains(path) { return false }
            let status = try file.status()
            let identity = FileIdentity(device: status.st_dev, number: status.st_ino)
            let firstName = firstNames[identity] ?? path
            let type = status.st_mode & S_IFMT
            if type != S_IFDIR { firstNames[identity] = firstName }
            if type == S_IFREG { blocks[path] = Int(status.st_blocks) }
            nodes[path] = Node(
                type: type,
                mode: status.st_mode & 0o7777,
                seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec,
                content: type == S_IFREG ? try Content(of: file) : Content(Data()),
                target: type == S_IFLNK
                    ? try file.linkTarget() : [UInt8]("\(status.st_rdev)".utf8),
                firstName: firstName,
                attributes: try file.attributes()
            )
            return true
        }
    }

    /// The bytes of all files, each file counted once.
    package var contentBytes: Int {
        nodes.lazy.filter { $0.value.firstName == $0.key }.map(\.value.content.count).reduce(0, +)
    }
}

private struct FileIdentity: Hashable {
    let device: dev_t
    let number: ino_t
}

// MARK: - Comparing

extension TreeSnapshot {
    /// One difference between a tree and the expected one.
    package struct Difference: Equatable, Sendable, CustomStringConvertible {
        /// The properties that can differ.
        package enum Property: String, Sendable {
            case missing = "is missing", added = "is too much"
            case kind, mode, time, content, target, attributes, firstName = "first name"
        }

        /// Where it is.
        package let path: BytePath
        /// The property that differs.
        package let property: Property
        fileprivate var values = ""

        /// The difference in words.
        package var description: String { "\(path): \(property.rawValue)\(values)" }
    }

    /// The differences from the expected tree, by path.
    package func differences(from expected: TreeSnapshot) -> [Difference] {
        Set(nodes.keys).union(expected.nodes.keys).sorted().flatMap { path in
            guard let found = nodes[path] else {
                return [Difference(path: path, property: .missing)]
            }
            guard let expected = expected.nodes[path] else {
                return [Difference(path: path, property: .added)]
            }
            return found == expected ? [] : found.differences(from: expected, at: path)
        }
    }
}

extension TreeSnapshot.Node {
    fileprivate func differences(from expected: Self, at path: BytePath) -> [TreeSnapshot
        .Difference]
    {
        var differences: [TreeSnapshot.Difference] = []
        func compare<Value: Equatable>(
            _ property: TreeSnapshot.Difference.Property,
            _ value: (Self) -> Value
        ) {
            let (found, wanted) = (value(self), value(expected))
            guard found != wanted else { return }
            let words = ": \("\(found)".prefix(200)), not \("\(wanted)".prefix(200))"
            differences.append(.init(path: path, property: property, values: words))
        }
        compare(.kind) { String($0.type, radix: 8) }
        compare(.mode) { String($0.mode, radix: 8) }
        compare(.time) { "\($0.seconds) s \($0.nanoseconds) ns" }
        compare(.content, \.content)
        compare(.target) { BytePath($0.target) }
        compare(.firstName, \.firstName)
        compare(.attributes, \.attributes)
        return differences
    }
}

// MARK: - Looking

/// `SEEK_DATA`, which the C library's Swift module does not show.
private let seekData: Int32 = 3

/// Identifies the bytes of a file, however large, and whether or not runs of zeros are holes.
package struct Content: Hashable, Sendable, CustomStringConvertible {
    private static let blockSize = 1 << 16
    private static let zeros = [UInt8](repeating: 0, count: blockSize)

    /// How many bytes there are.
    package let count: Int
    /// A hash that differs between processes, and between contents.
    private let hash: Int

    /// Identifies the bytes of `data`.
    package init(_ data: Data) {
        var hasher = Hasher()
        data.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.blockSize) {
                let end = min(start + Self.blockSize, bytes.count)
                Self.add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), start, to: &hasher)
            }
        }
        (count, hash) = (data.count, hasher.finalize())
    }

    /// Identifies the text's UTF-8 bytes.
    package init(_ text: String) {
        self.init(Data(text.utf8))
    }

    /// Reads the file at `path`; holes are skipped.
    init(of path: BytePath) throws {
        let descriptor = path.withPointer { open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
        guard descriptor >= 0 else { throw CallFailure("open \(path)") }
        defer { close(descriptor) }
        var hasher = Hasher()
        var block = Self.zeros
        var offset = 0
        let end = Int(lseek(descriptor, 0, SEEK_END))
        while offset < end {
            let data = Int(lseek(descriptor, off_t(offset), seekData))
            // Only a hole is left.
            if data < 0 && errno == ENXIO { break }
            offset = max(offset, data / Self.blockSize * Self.blockSize)
            let size = min(Self.blockSize, end - offset)
            let isWhole = block.withUnsafeMutableBytes { block in
                guard pread(descriptor, block.baseAddress, size, off_t(offset)) == size else {
                    return false
                }
                Self.add(UnsafeRawBufferPointer(rebasing: block[..<size]), offset, to: &hasher)
                return true
            }
            guard isWhole else { throw CallFailure("pread \(path)") }
            offset += size
        }
        (count, hash) = (end, hasher.finalize())
    }

    private static func add(
        _ block: UnsafeRawBufferPointer,
        _ offset: Int,
        to hasher: inout Hasher
    ) {
        guard let start = block.baseAddress, memcmp(start, zeros, block.count) != 0 else { return }
        hasher.combine(offset)
        hasher.combine(bytes: block)
    }

    /// The size, and a hash of the content.
    package var description: String {
        "\(count) bytes, \(String(UInt(bitPattern: hash), radix: 36))"
    }
}

extension BytePath {
    /// Calls `visit` for everything below this directory, however deep, in byte order.
    ///
    /// It gets the path from here, and one by which the system takes it; a directory is entered where
    /// it returns `true`.
    package func walk(_ visit: (_ path: BytePath, _ file: BytePath) throws -> Bool) throws {
        var directory = try OpenDirectory(self)
        var levels: [(path: BytePath?, names: [BytePath])] = [
            (nil, try directory.path.names().reversed())
        ]
        while let level = levels.last {
            guard let name = levels[levels.count - 1].names.popLast() else {
                levels.removeLast()
                if !levels.isEmpty { try directory.move(to: "..") }
                continue
            }
            let path = level.path.map { $0 / name } ?? name
            let file = directory.path / name
            let isEntered = try visit(path, file)
            guard isEntered, try file.status().st_mode & S_IFMT == S_IFDIR else { continue }
            try directory.move(to: name)
            levels.append((path, try directory.path.names().reversed()))
        }
    }

    /// Makes nested directories, however many, and calls `body` with the innermost.
    package func makeLevels(
        _ count: Int,
        named name: BytePath,
        _ body: (BytePath) throws -> Void = { _ in }
    ) throws {
        var directory = try OpenDirectory(self)
        for _ in 0..<count {
            try (directory.path / name).makeDirectory()
            try directory.move(to: name)
        }
        try body(directory.path)
    }

    /// The result of `lstat`.
    package func status() throws -> stat {
        var status = stat()
        guard withPointer({ lstat($0, &status) }) == 0 else { throw CallFailure("lstat \(self)") }
        return status
    }
}

extension BytePath {
    /// The target of a symbolic link.
    package func linkTarget() throws -> [UInt8] {
        var target = [CChar](repeating: 0, count: 5000)
        let count = withPointer { readlink($0, &target, target.count) }
        guard count >= 0 else { throw CallFailure("readlink \(self)") }
        return target[..<count].map { UInt8(bitPattern: $0) }
    }

    /// The extended attributes, of a link itself if it is one.
    func attributes() throws -> [String: [UInt8]] {
        var list = [CChar](repeating: 0, count: 65_536)
        let count = withPointer { AttributeCalls.list($0, &list, list.count) }
        if count < 0 && errno == ENOTSUP { return [:] }
        guard count >= 0 else { throw CallFailure("llistxattr \(self)") }
        let names = list[..<count].map { UInt8(bitPattern: $0) }.split(separator: 0)
        var attributes: [String: [UInt8]] = [:]
        for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
            var value = [UInt8](repeating: 0, count: 65_536)
            let size = withPointer { AttributeCalls.get($0, name, &value, value.count) }
            guard size >= 0 else { throw CallFailure("lgetxattr \(self)") }
            attributes[name] = [UInt8](value[..<size])
        }
        return attributes
    }
}

/// A directory beneath which no path becomes too long.
private struct OpenDirectory: ~Copyable {
    private var descriptor: Int32

    init(_ path: BytePath) throws {
        descriptor = try Self.open(path)
    }

    deinit { close(descriptor) }

    /// Its path as long as it is open.
    var path: BytePath { "/proc/self/fd/\(descriptor)" }

    /// Opens a directory in this one, or its parent, in place of this one.
    mutating func move(to name: BytePath) throws {
        let next = try Self.open(path / name, O_NOFOLLOW)
        close(descriptor)
        descriptor = next
    }

    private static func open(_ path: BytePath, _ flags: Int32 = 0) throws -> Int32 {
        let descriptor = path.withPointer {
            Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
        }
        guard descriptor >= 0 else { throw CallFailure("open \(path)") }
        return descriptor
    }
}
