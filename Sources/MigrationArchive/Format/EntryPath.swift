internal import MigrationSystem

/// The path of an archive entry: bytes, relative, with `/` between its components.
///
/// The bytes come from the file system and need not be valid UTF-8. Two paths are
/// equal only if every byte is.
public struct EntryPath: Hashable, Sendable {
    /// The path's bytes, with no `/` at either end.
    public let bytes: [UInt8]

    /// Makes a path from bytes, which are kept unchanged.
    ///
    /// - Parameter bytes: The path; whether an archive can hold it is checked where it is used.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path of the UTF-8 bytes of `string`, which are not normalized.
    ///
    /// - Parameter string: The path.
    public init(_ string: String) {
        self.init(bytes: [UInt8](string.utf8))
    }
}

extension EntryPath {
    /// Hashes the bytes at once rather than one by one.
    public func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// An unpredictable number that is the same for equal paths in this process.
    var randomHash: Int { Self.hash(of: bytes[...]) }

    /// The ``randomHash`` of the path that has `bytes`.
    static func hash(of bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}

extension EntryPath: Comparable {
    /// Orders paths by their bytes.
    public static func < (left: EntryPath, right: EntryPath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension EntryPath: CustomStringConvertible {
    /// The path in printable form: control characters and bytes that are not valid UTF-8 are escaped.
    public var description: String { PrintableText.escaping(bytes) }
}

extension EntryPath {
    /// The components between the slashes.
    package var components: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// The last component.
    package var lastComponent: ArraySlice<UInt8> {
        bytes[bytes.index(after: bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1)...]
    }

    /// The path without its last component, or `nil` if it has only one.
    package var parent: EntryPath? {
        bytes.lastIndex(of: UInt8(ascii: "/")).map { EntryPath(bytes: [UInt8](bytes[..<$0])) }
    }

    /// Whether this path is `other` or below it.
    package func isEqual(toOrBelow other: EntryPath) -> Bool {
        guard bytes.starts(with: other.bytes) else { return false }
        return bytes.count == other.bytes.count || bytes[other.bytes.count] == UInt8(ascii: "/")
    }
}

// MARK: - The directories above a path

extension EntryPath {
    /// A number for this path that is the same as that of an equal path in this process.
    package var levelHash: Int {
        var hasher = Hasher()
        for component in components { Self.add(component, to: &hasher) }
        return hasher.finalize()
    }

    /// The ``levelHash`` of each directory above this path, from the root down, and of the path itself.
    ///
    /// They are computed in one pass, because a path may have very many components.
    package var levelHashes: [Int] {
        var hasher = Hasher()
        return components.map { component in
            Self.add(component, to: &hasher)
            let whole = hasher
            return whole.finalize()
        }
    }

    /// Adds a component of a path to the hasher of the directory above it, which then has the path's ``levelHash``.
    package static func add(_ component: ArraySlice<UInt8>, to hasher: inout Hasher) {
        hasher.combine(component.count)
        unsafe component.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path of the directory above this one that consists of the first `depth` components.
    package func ancestor(atDepth depth: Int) -> EntryPath {
        let components = components.prefix(depth)
        return EntryPath(bytes: [UInt8](bytes[..<(components.last?.endIndex ?? 0)]))
    }
}

// MARK: - Rules

extension EntryPath {
    /// Returns why this can't be the path of an entry, which holds only names between single slashes; `nil` if
    /// it can.
    package var violation: String? {
        if bytes.isEmpty { return "the path is empty" }
        if bytes.count > TarFormat.pathLimit { return "the path is longer than 65,535 bytes" }
        if bytes.first == UInt8(ascii: "/") { return "the path is absolute" }
        let span = bytes.span
        if span.firstIndex(of: 0) != nil { return "the path holds a zero byte" }
        var start = 0
        while start <= span.count {
            let rest = span.extracting(droppingFirst: start)
            let component = rest.extracting(
                first: rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.count
            )
            if let violation = Self.violation(ofComponent: component) { return violation }
            start += component.count + 1
        }
        return nil
    }

    private static func violation(ofComponent component: Span<UInt8>) -> String? {
        let dot = UInt8(ascii: ".")
        switch component.count {
        case 0: return "the path has an empty component"
        case 1 where component[0] == dot: return "the path has a '.' component"
        case 2 where component[0] == dot && component[1] == dot:
            return "the path has a '..' component"
        case ...TarFormat.componentLimit: return nil
        default: return "a name in the path is longer than 255 bytes"
        }
    }

    /// Whether the text of `target` alone leads a symbolic link here out of the root.
    package func leadsOut(withTarget target: [UInt8]) -> Bool {
        if target.first == UInt8(ascii: "/") { return true }
        var depth = components.count - 1
        for component in target.split(separator: UInt8(ascii: "/")) {
            if component.elementsEqual("..".utf8) {
                depth -= 1
                if depth < 0 { return true }
            } else if !component.elementsEqual(".".utf8) {
                depth += 1
            }
        }
        return false
    }
}

/// The rules for what else an entry holds.
enum PathRules {
    /// Returns why `target` can't be the target of a symbolic link; `nil` if it can.
    static func violation(ofLinkTarget target: [UInt8]) -> String? {
        if target.isEmpty { return "the link leads nowhere" }
        if target.contains(0) { return "the link's target holds a zero byte" }
        if target.count > 4095 { return "the link's target is longer than 4,095 bytes" }
        return nil
    }

    /// Returns why no file can have an attribute of this name; `nil` if one can.
    static func violation(ofAttributeName name: [UInt8]) -> String? {
        if name == ExtendedAttribute.userNamespace { return "an attribute has no name" }
        if name.count > 255 { return "an attribute's name is longer than 255 bytes" }
        return nil
    }
}

extension ArchiveEntry {
    /// Returns why no archive can hold this entry; `nil` if one can.
    package var violation: String? {
        if let violation = path.violation { return violation }
        if !extendedAttributes.isEmpty, let violation = violationOfAttributes { return violation }
        switch kind {
        case .symbolicLink(let target): return PathRules.violation(ofLinkTarget: target)
        case .hardLink(let target):
            if target == path { return "a hard link to itself" }
            return target.violation.map { "a hard link's target: \($0)" }
        case .file, .directory: return nil
        }
    }

    private var violationOfAttributes: String? {
        if isLink { return "a link must not have attributes" }
        for attribute in extendedAttributes {
            let violation = PathRules.violation(ofAttributeName: attribute.name)
            if let violation { return violation }
        }
        for (left, right) in zip(extendedAttributes, extendedAttributes.dropFirst())
        where !left.name.lexicographicallyPrecedes(right.name) {
            return "the attributes are not in order"
        }
        return nil
    }
}

// MARK: - Order

/// The order in which a walk through a tree visits its paths: a directory before the entries in it,
/// the names in a directory in byte order.
///
/// It is the order of the paths' bytes, if the slash sorts before every other byte.
package enum TreeOrder {
    private static let slash = UInt8(ascii: "/")

    /// Whether `left` comes before `right`.
    package static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        let common = left.commonPrefix(with: right)
        guard common < min(left.count, right.count) else { return left.count < right.count }
        return precedes(left[common], right[common])
    }

    private static func precedes(_ left: UInt8, _ right: UInt8) -> Bool {
        left == slash || right != slash && left < right
    }

    /// Whether a walk leaves `left` before `right`.
    static func isLeft(_ left: Span<UInt8>, before right: Span<UInt8>) -> Bool {
        let common = left.commonPrefix(with: right)
        if common < min(left.count, right.count) { return precedes(left[common], right[common]) }
        if left.count == right.count { return false }
        // One path may be a directory that contains the other.
        return left.count > right.count
            ? left[common] == slash : right[common] != slash
    }
}

extension EntryPath {
    /// Whether a walk in tree order leaves this path before `other`: a directory only after
    /// everything in it.
    package func isLeft(before other: EntryPath) -> Bool {
        TreeOrder.isLeft(bytes.span, before: other.bytes.span)
    }

    /// Returns whether this path comes before `other` in tree order.
    ///
    /// In tree order a directory comes before the entries in it, and the names in a directory come in the
    /// order of their bytes. An ``ArchiveWriter`` takes entries in this order.
    ///
    /// - Parameter other: Another path.
    /// - Returns: Whether this one comes first; `false` if they are equal.
    public func precedesInTree(_ other: EntryPath) -> Bool {
        TreeOrder.precedes(bytes.span, other.bytes.span)
    }
}

// MARK: - Sorting

extension EntryPath {
    /// Returns the positions of `paths` in tree order.
    package static func treeOrder(of paths: [EntryPath]) -> [Int] {
        guard let first = paths.first else { return [] }
        let prefix = paths.reduce(first.bytes.count) {
            min($0, $1.bytes.span.commonPrefix(with: first.bytes.span))
        }
        var items: [(start: UInt64, position: Int)] = []
        items.reserveCapacity(paths.count)
        for (position, path) in paths.enumerated() {
            items.append((path.treeStart(from: prefix), position))
        }
        items.sort { left, right in
            if left.start != right.start { return left.start < right.start }
            return paths[left.position].precedesInTree(paths[right.position])
        }
        return items.map(\.position)
    }

    /// Eight bytes from `index` on as a number that sorts paths with the same bytes before `index`
    /// in tree order; if it is equal for two paths, the paths decide.
    private func treeStart(from index: Int) -> UInt64 {
        let span = bytes.span
        var start: UInt64 = 0
        for position in index..<index + 8 {
            let byte = position < span.count ? span[position] : 0
            start = start << 8 | (byte == UInt8(ascii: "/") ? 0 : UInt64(byte))
        }
        return start
    }
}
