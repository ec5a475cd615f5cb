/// The version of a store's format, such as `3` or `2.1`.
///
/// Two versions are the same if their texts are. One is newer than another if both consist of
/// numbers separated by dots and its numbers are greater, compared from the left.
public struct StoreVersion: Hashable, Sendable {
    /// The version as it is written in the store.
    public let text: String

    /// Makes the version that is written as `text`.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether a store of this version was made by a newer program than one of `other`.
    ///
    /// - Returns: `false` if either version isn't made of numbers.
    public func isNewer(than other: StoreVersion) -> Bool {
        guard let numbers, let others = other.numbers else { return false }
        for index in 0..<max(numbers.count, others.count) {
            let number = index < numbers.count ? numbers[index] : 0
            let otherNumber = index < others.count ? others[index] : 0
            if number != otherNumber { return number > otherNumber }
        }
        return false
    }

    private var numbers: [UInt64]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}

extension StoreVersion: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Makes the version of a string literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Makes the version of a whole number.
    public init(integerLiteral number: Int) {
        self.init(String(number))
    }
}

extension StoreVersion: CustomStringConvertible {
    /// The version as it is written in the store.
    public var description: String { text }
}
