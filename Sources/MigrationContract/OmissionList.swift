internal import MigrationSystem

/// Everything that was left out, in full up to a bound and counted beyond it.
public struct OmissionList: Sendable, Codable {
    /// The first omissions, at most 1,000 of them.
    public private(set) var items: [Omission] = []

    /// How many omissions there are in all.
    public private(set) var count = 0

    /// The bytes of content in all omissions.
    public private(set) var bytes: UInt64 = 0

    /// Makes an empty list.
    public init() {}

    package mutating func append(_ omission: Omission) {
        count += 1
        bytes.addSaturating(omission.bytes)
        if items.count < 1_000 { items.append(omission) }
    }

    /// Counts omissions of which nothing else is known any more.
    package mutating func countFurther(_ number: Int) {
        count += number
    }
}
