internal import Glibc
internal import MigrationSystem

/// Chooses the files of a container that an export omits, with the reasons.
struct ContainerSelection: Sendable {
    /// The directory of files that an app can make again.
    private static let cachesPath = [UInt8](utf8: "Library/Caches")

    /// Files that are never exported: temporary files, the system's own data, and bookkeeping.
    private static let neverMoved: [[UInt8]] = [
        [UInt8](utf8: "tmp"),
        [UInt8](utf8: "SystemData"),
        ContainerLayout.bookkeepingName,
        ContainerLayout.metadataName,
    ]

    let includesCaches: Bool
    let exclusions: [ExclusionPattern]

    /// Whether every file directly in the directory at `path` is kept, whatever its name.
    func keepsAllFiles(in path: [UInt8]) -> Bool {
        exclusions.isEmpty && !path.isEmpty && !Self.cachesPath.starts(with: path)
    }

    /// The reason for omitting the entry at `path`; `nil` to keep it.
    func reasonForOmitting(_ path: [UInt8], isDirectory: Bool) -> Omission.Reason? {
        if Self.neverMoved.contains(path) || !includesCaches && path == Self.cachesPath {
            return .leftOutByDefault
        }
        let isExcluded = exclusions.contains { $0.matches(path, isDirectory: isDirectory) }
        return isExcluded ? .excluded : nil
    }
}

/// A pattern for files that an export omits, in the notation of the shell.
///
/// `*` matches any text without a slash, `?` one byte, and `[a-z]` one of several. A pattern with a
/// slash applies to paths from the container's root (`Documents/*.tmp`), a pattern without one to
/// the name of every entry at any depth (`*.tmp`). With a slash at its end, it matches only
/// directories. If a directory matches, everything in it is omitted too. `./` at the start stands
/// for the container's root.
public struct ExclusionPattern: Hashable, Sendable {
    private let pattern: [UInt8]
    private let isForDirectories: Bool
    private let isForPaths: Bool

    /// Reads a pattern.
    ///
    /// - Parameter pattern: The pattern, in the notation of the shell.
    /// - Throws: ``MigrationError`` of code `invalidOption` if it can't match any path: it is empty
    ///   or absolute, has an empty part, `.` or `..` in it, ends with a backslash that escapes
    ///   nothing, or holds a zero byte.
    public init(_ pattern: String) throws(MigrationError) {
        let slash = UInt8(ascii: "/")
        var bytes = [UInt8](utf8: pattern)
        isForDirectories = bytes.last == slash
        if isForDirectories { bytes.removeLast() }
        isForPaths = bytes.contains(slash)
        if bytes.starts(with: "./".utf8) { bytes.removeFirst(2) }
        self.pattern = bytes
        let names = bytes.split(separator: slash, omittingEmptySubsequences: false)
        let escapes = bytes.reversed().prefix { $0 == UInt8(ascii: "\\") }
        guard names.allSatisfy(Self.canMatch), escapes.count.isMultiple(of: 2) else {
            let message =
                "a pattern must be relative to the container, without an empty part, '.' or '..', and "
                + "without a backslash at its end that escapes nothing"
            throw MigrationError(.invalidOption, message, path: BytePath(pattern))
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
