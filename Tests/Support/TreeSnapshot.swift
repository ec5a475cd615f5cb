public import Foundation
import Glibc

/// Everything that a migration must keep of a tree, read by plain calls to the system.
public struct TreeSnapshot: Equatable, Sendable {
    /// One file, directory or link.
    public struct Node: Equatable, Sendable {
        /// The `S_IFMT` bits.
        public let type: mode_t
        /// The permission bits.
        public let mode: mode_t
        /// The whole seconds of the last change.
        public let seconds: Int
        /// The nanoseconds of the last change.
        public let nanoseconds: Int
        /// The bytes of a file.
        public let content: Data
        /// Where a symbolic link leads.
        public let target: [UInt8]
        /// The first path of the same file.
        public let firstName: BytePath
        /// The extended attributes.
        public let attributes: [String: [UInt8]]
    }

    /// What was found, by path from the root, which is not among it.
    public private(set) var nodes: [BytePath: Node] = [:]

    /// Looks at everything below `root` but what lies at or below the paths in `exclusions`.
    public init(of root: BytePath, excluding exclusions: [BytePath] = []) throws {
        var firstNames: [ino_t: BytePath] = [:]
        try add(root, nil, exclusions, &firstNames)
    }

    private mutating func add(
        _ directory: BytePath,
        _ path: BytePath?,
        _ exclusions: [BytePath],
        _ firstNames: inout [ino_t: BytePath]
    ) throws {
        for name in try directory.names() {
            let relative = path.map { $0 / name } ?? name
            if exclusions.contains(relative) { continue }
            let full = directory / name
            var status = stat()
            guard full.withPointer({ lstat($0, &status) }) == 0 else {
                throw CallFailure("lstat \(full)")
            }
            let type = status.st_mode & S_IFMT
            let isFirst = firstNames[status.st_ino] == nil
            if isFirst { firstNames[status.st_ino] = relative }
            nodes[relative] = Node(
                type: type,
                mode: status.st_mode & 0o7777,
                seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec,
                content: type == S_IFREG ? try full.contents() : Data(),
                target: type == S_IFLNK ? try full.linkTarget() : [],
                firstName: firstNames[status.st_ino] ?? relative,
                attributes: try full.attributes()
            )
            if type == S_IFDIR { try add(full, relative, exclusions, &firstNames) }
        }
    }

    /// Says in words how this differs from `other`; nothing where the two are equal.
    public func differences(from other: TreeSnapshot) -> [String] {
        Set(nodes.keys).union(other.nodes.keys).sorted().compactMap { path in
            guard let mine = nodes[path] else { return "\(path) is missing" }
            guard let theirs = other.nodes[path] else { return "\(path) is too much" }
            return mine == theirs ? nil : "\(path) is \(mine), not \(theirs)"
        }
    }
}

extension BytePath {
    /// Where a symbolic link leads.
    public func linkTarget() throws -> [UInt8] {
        var target = [CChar](repeating: 0, count: 5000)
        let count = withPointer { readlink($0, &target, target.count) }
        guard count >= 0 else { throw CallFailure("readlink \(self)") }
        return target[..<count].map { UInt8(bitPattern: $0) }
    }

    /// The extended attributes, of the link itself where it is one.
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
