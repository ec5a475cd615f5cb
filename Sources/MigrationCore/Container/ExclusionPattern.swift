internal import Glibc
internal import MigrationSystem

/// A pattern for what an export leaves out, in the notation of the shell.
///
/// `*` stands for any text without a slash, `?` for one byte, `[a-z]` for one of several. A pattern
/// with a slash in it is matched against paths from the container's root (`Documents/*.tmp`), one
/// without against the name of every entry at any depth (`*.tmp`). A slash at its end makes it match
/// directories alone. What lies in a directory that matches is left out with it. `./` at the start
/// stands for the container's root.
public struct ExclusionPattern: Hashable, Sendable {
    private let pattern: [UInt8]
    private let isForDirectories: Bool
    private let isForPaths: Bool

    /// Reads a pattern.
    ///
    /// - Parameter pattern: The pattern, in the notation of the shell.
    /// - Throws: ``MigrationError`` of code `invalidOption` where it can match no path, since it is
    ///   empty or absolute, has an empty part, `.` or `..` in it, ends with a backslash that stands
    ///   for nothing, or holds a zero byte.
    public init(_ pattern: String) throws(MigrationError) {
        let slash = UInt8(ascii: "/")
        var bytes = ByteString(utf8: pattern)
        isForDirectories = bytes.last == slash
        if isForDirectories { bytes.removeLast() }
        isForPaths = bytes.contains(slash)
        if bytes.starts(with: "./".utf8) { bytes.removeFirst(2) }
        self.pattern = bytes
        let names = bytes.split(separator: slash, omittingEmptySubsequences: false)
        let escapes = bytes.reversed().prefix { $0 == UInt8(ascii: "\\") }
        guard names.allSatisfy(Self.canMatch), escapes.count.isMultiple(of: 2) else {
            let message =
                "a pattern must be relative to the container, with no empty part, '.' or '..', and "
                + "no backslash at its end that stands for nothing"
            throw MigrationError(.invalidOption, message, path: [UInt8](pattern.utf8))
        }
    }

    private static func canMatch(_ name: ArraySlice<UInt8>) -> Bool {
        !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
            && !name.contains(0)
    }

    /// Whether the pattern matches the entry at `path`.
    func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        if isForDirectories && !isDirectory { return false }
        let name = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
        let subject = isForPaths ? path : [UInt8](name)
        return pattern.isMatchedByShell(subject)
    }
}

extension [UInt8] {
    /// Whether the shell's pattern in these bytes matches `subject` (POSIX.1-2017, fnmatch).
    fileprivate func isMatchedByShell(_ subject: [UInt8]) -> Bool {
        let pattern = map { CChar(bitPattern: $0) } + [0]
        let text = subject.map { CChar(bitPattern: $0) } + [0]
        return unsafe pattern.withUnsafeBufferPointer { pattern in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe fnmatch(
                    pattern.baseAddress.unsafelyUnwrapped,
                    text.baseAddress.unsafelyUnwrapped,
                    FNM_PATHNAME
                ) == 0
            }
        }
    }
}
