internal import MigrationSystem

/// The order in which a walk through a tree comes upon its paths: a directory before what is in it,
/// the names in a directory in byte order.
///
/// It is the order of the paths' bytes with the slash before every other byte.
enum TreeOrder {
    private static let slash = UInt8(ascii: "/")

    /// Whether `left` comes before `right`.
    static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            if left[index] == slash { return true }
            return right[index] != slash && left[index] < right[index]
        }
        return left.count < right.count
    }
}

extension EntryPath {
    /// Whether a walk comes upon this path before `other`.
    func precedesInTree(_ other: EntryPath) -> Bool {
        TreeOrder.precedes(bytes.span, other.bytes.span)
    }
}
