/// A named value that a file carries beside its content.
public struct ExtendedAttribute: Hashable, Sendable {
    /// The name with its namespace, such as `user.comment`.
    public let name: [UInt8]

    /// The value, which may be empty.
    public let value: [UInt8]

    /// Makes an attribute.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
