internal import Glibc

/// A path to a file by its parent directory and its name in it.
package struct PathName: Hashable, Sendable {
    /// The absolute path of the parent, with no link in it.
    package let parent: ByteString

    /// The name in the parent.
    package let name: ByteString

    /// Names `name` in `parent`, an absolute path with no link in it.
    package init(parent: ByteString, name: ByteString) {
        self.parent = parent
        self.name = name
    }

    /// Names the file at `path`, an absolute path, as it is.
    package init(absolute path: ByteString) {
        let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
        self.init(parent: Self.parent(of: path), name: ByteString(path[(slash + 1)...]))
    }

    /// The whole path.
    package var path: ByteString {
        parent == [UInt8(ascii: "/")] ? parent + name : parent + [UInt8(ascii: "/")] + name
    }

    /// Resolves everything in `path` but its last component, which may be a link or missing.
    package init(resolving path: ByteString) throws(SystemError) {
        let slash = UInt8(ascii: "/")
        let trimmed = path.withoutTrailingSlashes
        let index = trimmed.lastIndex(of: slash)
        let last = ByteString(trimmed[(index.map { $0 + 1 } ?? trimmed.startIndex)...])
        guard !last.isEmpty, last != ByteString(utf8: "."), last != ByteString(utf8: "..") else {
            let real = try Self.realPath(path.isEmpty ? ByteString(utf8: ".") : path)
            self.init(absolute: real)
            return
        }
        let directory = index.map { $0 == 0 ? [slash] : ByteString(trimmed[..<$0]) }
        self.init(parent: try Self.realPath(directory ?? ByteString(utf8: ".")), name: last)
    }

    /// Resolves every link in `path`, also in its last component, which must exist.
    package init(resolvingWhole path: ByteString) throws(SystemError) {
        try self.init(resolving: Self.realPath(path))
    }

    /// The directory of a file with an absolute path.
    static func parent(of path: ByteString) -> ByteString {
        let index = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
        return index == 0 ? [UInt8(ascii: "/")] : ByteString(path[..<index])
    }

    /// The absolute path of what `path` leads to, with no link in it.
    static func realPath(_ path: ByteString) throws(SystemError) -> ByteString {
        let resolved: ByteString? = path.withPath { path in
            guard let pointer = unsafe realpath(path, nil) else { return nil }
            defer { unsafe free(pointer) }
            return unsafe ByteString(cString: pointer)
        }
        guard let resolved else { throw SystemError("realpath") }
        return resolved
    }
}

extension ByteString {
    /// The path without the slashes at its end; a path of slashes alone keeps one.
    package var withoutTrailingSlashes: ArraySlice<UInt8> {
        let slash = UInt8(ascii: "/")
        var path = self[...]
        while path.count > 1, path.last == slash { path = path.dropLast() }
        return path
    }
}
