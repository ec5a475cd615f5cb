internal import Glibc

/// A path of any bytes, absolute or relative, as system calls accept it.
///
/// The name of a file in an open directory is not a path but `[UInt8]`; so is the content of a
/// link.
package struct BytePath: Hashable, Sendable {
    /// The bytes of the path.
    package let bytes: [UInt8]

    /// Makes a path of bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path of bytes.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.init([UInt8](bytes))
    }

    /// Makes a path of the UTF-8 bytes of a text.
    package init(_ text: String) {
        self.init([UInt8](utf8: text))
    }

    /// Copies a path from a C string.
    package init(cString: UnsafePointer<CChar>) {
        unsafe self.init([UInt8](cString: cString))
    }
}

extension BytePath: ExpressibleByStringInterpolation {
    /// Makes a path of the UTF-8 bytes of a literal.
    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension BytePath: Comparable {
    /// Orders paths by their bytes.
    package static func < (left: BytePath, right: BytePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

// MARK: - Components

extension BytePath {
    private static let slash = UInt8(ascii: "/")

    /// The root directory.
    package static let root: BytePath = "/"

    /// Whether the path begins at the root directory.
    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The names between the slashes, without empty ones.
    package var components: [ArraySlice<UInt8>] { bytes.split(separator: Self.slash) }

    /// The path without the slashes at its end; a path of only slashes keeps one.
    package var trimmed: BytePath {
        bytes.count > 1 && bytes.last == Self.slash ? BytePath(trimmedBytes) : self
    }

    private var trimmedBytes: ArraySlice<UInt8> {
        var rest = bytes[...]
        while rest.count > 1, rest.last == Self.slash { rest.removeLast() }
        return rest
    }

    /// The name after the last slash, ignoring slashes at the end; empty for the root directory.
    package var lastComponent: [UInt8] {
        let trimmed = trimmedBytes
        return [UInt8](trimmed[((trimmed.lastIndex(of: Self.slash) ?? -1) + 1)...])
    }

    /// The path without the last component; the root directory's parent is itself.
    package var parent: BytePath {
        let trimmed = trimmedBytes
        guard let slash = trimmed.lastIndex(of: Self.slash) else { return "." }
        return slash == 0 ? .root : BytePath(trimmed[..<slash])
    }

    /// The path of the file `name` in this directory.
    package static func / (directory: BytePath, name: [UInt8]) -> BytePath {
        BytePath(directory == .root ? directory.bytes + name : directory.bytes + [slash] + name)
    }

    /// The path of `path`, which is relative, from this directory.
    package static func / (directory: BytePath, path: BytePath) -> BytePath {
        directory / path.bytes
    }

    /// Whether the path is that of `directory` or of something in it.
    package func isEqual(toOrBelow directory: BytePath) -> Bool {
        rest(from: directory) != nil
    }

    /// The path of the same file if `directory` is renamed to `other`; `nil` if it isn't in
    /// `directory`.
    package func moved(from directory: BytePath, to other: BytePath) -> BytePath? {
        rest(from: directory).map { rest in
            rest.isEmpty ? other : BytePath(other == .root ? [UInt8](rest) : other.bytes + rest)
        }
    }

    /// The part after `directory`, which is empty or begins with a slash; `nil` if it isn't in `directory`.
    package func rest(from directory: BytePath) -> ArraySlice<UInt8>? {
        if directory == .root { return isAbsolute ? bytes[(bytes.count == 1 ? 1 : 0)...] : nil }
        guard bytes.starts(with: directory.bytes) else { return nil }
        let rest = bytes.dropFirst(directory.bytes.count)
        return rest.isEmpty || rest.first == Self.slash ? rest : nil
    }
}

// MARK: - Links

extension BytePath {
    /// Resolves everything in `path` except its last component, which may be a link or missing.
    package init(resolving path: BytePath) throws(SystemError) {
        let name = path.lastComponent
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) {
            try self.init(resolvingWhole: path.bytes.isEmpty ? "." : path)
        } else {
            self = try BytePath(resolvingWhole: path.parent) / name
        }
    }

    /// Resolves every link in `path`, also in its last component, which must exist.
    package init(resolvingWhole path: BytePath) throws(SystemError) {
        let resolved: BytePath? = path.withCString { path in
            guard let pointer = unsafe realpath(path, nil) else { return nil }
            defer { unsafe free(pointer) }
            return unsafe BytePath(cString: pointer)
        }
        guard let resolved else { throw SystemError("realpath") }
        self = resolved
    }

    /// Calls `body` with the path as a C string; it must not contain a zero byte.
    @safe
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        bytes.withPath(body)
    }
}
