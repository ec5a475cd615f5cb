/// How an import is made.
public struct ImportOptions: Sendable {
    /// Whether a container that holds data is replaced; otherwise it is refused.
    public var replacesData = false

    /// Whether another program's tar file replaces data though it gave nothing or has no end mark.
    public var allowsIncomplete = false

    /// What becomes of symbolic links that lead out of the container.
    public var externalLinks = ExternalLinkPolicy.refuse

    /// The app that the data comes from, as far as the archive does not say it.
    public var source = ImportSource()

    /// The app that imports, as `TEAM.bundle`; the archive must name it among its importers.
    public var importer: String?

    /// The signature that the archive must have; otherwise it is refused before the container changes.
    public var requiredSignature: RequiredSignature?

    /// The number of threads that decompress, from 1 to 64; `nil` takes one a core, three at most.
    public var threadCount: Int?

    /// Makes the default options.
    public init() {}
}
