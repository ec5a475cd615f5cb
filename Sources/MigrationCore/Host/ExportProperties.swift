/// What an extension says of its export before it begins.
struct ExportProperties: Sendable {
    /// The estimate of the content's bytes.
    let sizeEstimate: UInt64

    /// The bytes that the content takes on its disk, where that is known.
    let allocatedBytes: UInt64?

    /// The version of the data's format.
    let resourcesVersion: String

    /// Whether the content is worth compressing.
    let isCompressible: Bool
}
