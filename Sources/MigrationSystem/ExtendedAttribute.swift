internal import CMigrationShims
internal import Glibc

/// A named value of a file besides its content.
public struct ExtendedAttribute: Hashable, Sendable {
    /// The name with its namespace, such as `user.comment`.
    public let name: [UInt8]

    /// The value, which may be empty.
    public let value: [UInt8]

    /// Makes an attribute.
    public init(name: [UInt8], value: [UInt8]) {
        (self.name, self.value) = (name, value)
    }
}

extension ExtendedAttribute {
    /// The prefix of the names that users may choose, which archives include (xattr(7)).
    package static let userNamespace = [UInt8](utf8: "user.")

    /// Whether users may set an attribute of this name.
    package static func isOfUser(_ name: [UInt8]) -> Bool { name.starts(with: userNamespace) }
}

extension FileDescriptor {
    /// The names of the open file's extended attributes, in byte order; empty if the file system has
    /// none or can't list them.
    package borrowing func knownExtendedAttributeNames() throws(SystemError) -> [[UInt8]] {
        do throws(SystemError) {
            return try extendedAttributeNames()
        } catch {
            guard error.isUnsupported else { throw error }
            return []
        }
    }

    /// The names of the open file's extended attributes, in byte order; empty if the file system has
    /// none.
    package borrowing func extendedAttributeNames() throws(SystemError) -> [[UInt8]] {
        let rawValue = rawValue
        return try unsafe Self.names(listedBy: "flistxattr") { names, capacity in
            unsafe migration_list_attributes(rawValue, names, capacity)
        }
    }

    /// The names of the extended attributes of the symbolic link `name` itself, in byte order.
    ///
    /// Not every kernel has a call that takes a directory and a name, so the link is reached
    /// through the directory's path in `/proc` (proc(5)).
    package borrowing func extendedAttributeNames(
        ofLink name: [UInt8]
    ) throws(SystemError) -> [[UInt8]] {
        let path = [UInt8](utf8: "/proc/self/fd/\(rawValue)/") + name
        return try unsafe Self.names(listedBy: "llistxattr") { names, capacity in
            path.withPath { unsafe migration_list_link_attributes($0, names, capacity) }
        }
    }

    private static func names(
        listedBy call: String,
        _ list: (UnsafeMutablePointer<CChar>?, Int) -> Int
    ) throws(SystemError) -> [[UInt8]] {
        while true {
            let needed = list(nil, 0)
            if needed == 0 { return [] }
            if needed < 0 {
                let error = SystemError(call)
                if error.isUnsupportedByFileSystem { return [] }
                throw error
            }
            var names = [UInt8](repeating: 0, count: needed)
            let count = unsafe names.withUnsafeMutableBytes {
                unsafe list($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
            }
            if count < 0 {
                if errno == ERANGE { continue }
                throw SystemError(call)
            }
            return names[..<count].split(separator: 0).map([UInt8].init)
                .sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// The value of the open file's extended attribute `name`.
    package borrowing func extendedAttribute(_ name: [UInt8]) throws(SystemError) -> [UInt8] {
        let rawValue = rawValue
        while true {
            let needed = name.withPath { unsafe migration_get_attribute(rawValue, $0, nil, 0) }
            if needed < 0 { throw SystemError("fgetxattr") }
            if needed == 0 { return [] }
            var value = [UInt8](repeating: 0, count: needed)
            let count = unsafe value.withUnsafeMutableBytes { value in
                name.withPath {
                    unsafe migration_get_attribute(rawValue, $0, value.baseAddress, value.count)
                }
            }
            if count >= 0 { return [UInt8](value[..<count]) }
            if errno != ERANGE { throw SystemError("fgetxattr") }
        }
    }

    /// The open file's extended attributes, by name in byte order.
    package borrowing func extendedAttributes() throws(SystemError) -> [ExtendedAttribute] {
        var attributes: [ExtendedAttribute] = []
        for name in try knownExtendedAttributeNames() {
            attributes.append(ExtendedAttribute(name: name, value: try extendedAttribute(name)))
        }
        return attributes
    }

    /// Removes the open file's extended attribute `name`.
    package borrowing func removeExtendedAttribute(_ name: [UInt8]) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath { unsafe migration_remove_attribute(rawValue, $0) }
        guard result == 0 else { throw SystemError("fremovexattr") }
    }

    /// Sets extended attributes of the open file.
    package borrowing func setExtendedAttributes(
        _ attributes: [ExtendedAttribute]
    ) throws(SystemError) {
        let rawValue = rawValue
        for attribute in attributes {
            let result = unsafe attribute.value.withUnsafeBytes { value in
                attribute.name.withPath {
                    unsafe migration_set_attribute(rawValue, $0, value.baseAddress, value.count)
                }
            }
            guard result == 0 else { throw SystemError("fsetxattr") }
        }
    }
}
