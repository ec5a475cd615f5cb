internal import Glibc
package import MigrationArchive
internal import MigrationSystem

/// A pattern for paths, in the notation of the shell and of `.gitignore`.
///
/// `*` matches any text without a slash, `?` one byte, and `[a-z]` one of several. A pattern with a
/// slash at its start or in it applies to paths from the root (`Documents/*.tmp`, `/*.tmp`), a
/// pattern without one to the name of every entry at any depth (`*.tmp`). `**` between slashes stands
/// for any number of directories (`**/cache`, `Documents/**/*.tmp`). With a slash at its end, a pattern
/// matches only directories. What matches stands for everything below it too. `./` at the start is the
/// same as `/`.
public struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as it was written.
    public let description: String

    /// The patterns of the names between the slashes; one that is empty stands for `**`.
    private let names: [[UInt8]]

    private let isForDirectories: Bool

    /// Reads a pattern.
    ///
    /// - Parameter pattern: The pattern.
    /// - Throws: ``MigrationError`` of code `invalidOption` if it can't match any path: it is empty,
    ///   has an empty part, `.` or `..` in it, ends with a backslash that escapes nothing, or holds a
    ///   zero byte; also if it begins with `!`, which has no meaning here, or has `**` beside other
    ///   text in a part.
    public init(_ pattern: String) throws(MigrationError) {
        description = pattern
        let slash = UInt8(ascii: "/")
        var bytes = [UInt8](pattern.utf8)[...]
        if bytes.starts(with: "!".utf8) {
            let message = "'!' has no meaning in a pattern; '\\!' stands for the character"
            throw MigrationError(.invalidOption, message, path: BytePath(pattern))
        }
        isForDirectories = bytes.last == slash
        if isForDirectories { bytes.removeLast() }
        let isForPaths = bytes.contains(slash)
        if bytes.starts(with: "./".utf8) {
            bytes.removeFirst(2)
        } else if bytes.first == slash {
            bytes.removeFirst()
        }
        let parts = bytes.split(separator: slash, omittingEmptySubsequences: false)
        let escapes = bytes.reversed().prefix { $0 == UInt8(ascii: "\\") }
        guard parts.allSatisfy(Self.canMatch), escapes.count.isMultiple(of: 2) else {
            let message =
                "a pattern has no empty part, '.' or '..', '**' only between slashes, and no "
                + "backslash at its end that escapes nothing"
            throw MigrationError(.invalidOption, message, path: BytePath(pattern))
        }
        let names = parts.map { $0.elementsEqual("**".utf8) ? [] : Array($0) }
        self.names = isForPaths ? names : [[]] + names
    }

    private static func canMatch(_ part: ArraySlice<UInt8>) -> Bool {
        if part.elementsEqual("**".utf8) { return true }
        let star = UInt8(ascii: "*")
        let hasDoubleStar = zip(part, part.dropFirst()).contains { $0 == star && $1 == star }
        return !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
            && !part.contains(0) && !hasDoubleStar
    }

    /// Whether the pattern matches the entry at `path` itself.
    func matches(_ path: [UInt8], isDirectory: Bool) -> Bool {
        if isForDirectories && !isDirectory { return false }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return Self.matches(parts: parts, names: names)
    }

    /// Whether the pattern matches the entry at `path` or a directory above it.
    package func matches(toOrAbove path: EntryPath, isDirectory: Bool) -> Bool {
        if matches(path.bytes, isDirectory: isDirectory) { return true }
        var above = path.parent
        while let directory = above {
            if matches(directory.bytes, isDirectory: true) { return true }
            above = directory.parent
        }
        return false
    }

    private static func matches(
        parts: [ArraySlice<UInt8>],
        names: [[UInt8]]
    ) -> Bool {
        var (part, name) = (0, 0)
        // Of several '**', only the last one that was passed can still help, so little time is lost.
        var retry: (part: Int, name: Int)?
        while part < parts.count {
            if name < names.count, names[name].isEmpty {
                name += 1
                // At the end it stands for at least one name: a directory does not match itself.
                if name == names.count { return true }
                retry = (part, name)
            } else if name < names.count, names[name].isMatchedByShell(parts[part]) {
                (part, name) = (part + 1, name + 1)
            } else if let next = retry {
                (part, name) = (next.part + 1, next.name)
                retry = (part, name)
            } else {
                return false
            }
        }
        return name == names.count
    }
}

/// A search for entries by patterns, which finds out if one matches nothing.
package final class PatternSearch: Sendable {
    private let patterns: [PathPattern]
    private let unmatched: Monitor<Set<Int>>

    package init(_ patterns: [PathPattern]) {
        self.patterns = patterns
        unmatched = Monitor(Set(patterns.indices))
    }

    /// Whether there are no patterns, which find nothing.
    package var isEmpty: Bool { patterns.isEmpty }

    /// Whether a pattern matches the entry at `path` or a directory above it.
    @Sendable
    package func finds(_ path: EntryPath, isDirectory: Bool) -> Bool {
        let found = patterns.indices.filter {
            patterns[$0].matches(toOrAbove: path, isDirectory: isDirectory)
        }
        if !found.isEmpty { unmatched.withLock { $0.subtract(found) } }
        return !found.isEmpty
    }

    /// Throws if one of the patterns matched nothing.
    package func checkCompleteness() throws(ArchiveError) {
        guard let index = unmatched.withLock({ $0.min() }) else { return }
        let pattern = PrintableText.escaping(patterns[index].description)
        throw ArchiveError(.notFound, "the archive has no entry that matches '\(pattern)'")
    }
}

extension [UInt8] {
    /// Whether the shell's pattern in these bytes matches `name` (POSIX.1-2017, fnmatch).
    fileprivate func isMatchedByShell(_ name: ArraySlice<UInt8>) -> Bool {
        let pattern = map { CChar(bitPattern: $0) } + [0]
        let text = name.map { CChar(bitPattern: $0) } + [0]
        return unsafe pattern.withUnsafeBufferPointer { pattern in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe fnmatch(
                    pattern.baseAddress.unsafelyUnwrapped,
                    text.baseAddress.unsafelyUnwrapped,
                    0
                ) == 0
            }
        }
    }
}
