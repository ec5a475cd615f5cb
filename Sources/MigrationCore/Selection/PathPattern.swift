package import MigrationSystem

/// A pattern for paths, in the notation of the shell and of `.gitignore`.
///
/// `*` matches any text without a slash, `?` one byte, and `[a-z]` one of several. A pattern with a
/// slash at its start or in it applies to paths from the root (`Documents/*.tmp`, `/*.tmp`), a
/// pattern without one to the name of every entry at any depth (`*.tmp`). `**` between slashes
/// stands for any number of directories (`**/cache`, `Documents/**/*.tmp`). With a slash at its
/// end, a pattern matches only directories. A pattern that matches a directory also matches
/// everything below it. `./` at the start is the same as `/`.
public struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// The original text of the pattern.
    public let description: String

    /// The patterns of the names between the slashes; an empty one means `**`.
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

    /// Whether the pattern matches the entry at `path` itself, or, if `orAbove`, a directory above it.
    ///
    /// It scans the path once, and tracks all positions in the pattern that it may have reached.
    func matches(_ path: [UInt8], isDirectory: Bool, orAbove: Bool = false) -> Bool {
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var places = [0]
        for (index, part) in parts.enumerated() {
            places = advance(places, past: part)
            if places.isEmpty { return false }
            let isLast = index == parts.count - 1
            guard places.contains(names.count), isLast || orAbove else { continue }
            return !isForDirectories || isDirectory || !isLast
        }
        return false
    }

    private func advance(_ places: [Int], past part: ArraySlice<UInt8>) -> [Int] {
        var next: [Int] = []
        func add(_ place: Int) { if !next.contains(place) { next.append(place) } }
        for var place in places where place < names.count {
            // Each '**' before the last name may match no directory.
            while place < names.count, names[place].isEmpty {
                add(place)
                place += 1
                // At the end it matches at least one name: a directory doesn't match itself.
                if place == names.count { add(place) }
            }
            if place < names.count, names[place].isMatchedByShell(part) { add(place + 1) }
        }
        return next
    }
}

extension PathPattern {
    /// Reads a file of patterns, one per line; empty lines and those that begin with `#` are comments.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` that names the line of a bad pattern.
    package static func list(
        in content: [UInt8],
        ofFileAt path: BytePath
    ) throws(MigrationError) -> [PathPattern] {
        var patterns: [PathPattern] = []
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let name = "line \(index + 1) of the patterns"
            guard let text = String(validating: line, as: UTF8.self) else {
                throw MigrationError(.invalidOption, "\(name) is not valid UTF-8", path: path)
            }
            do throws(MigrationError) {
                patterns.append(try PathPattern(text))
            } catch {
                throw MigrationError(.invalidOption, "\(name): \(error.message)", path: path)
            }
        }
        return patterns
    }
}
