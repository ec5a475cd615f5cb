package import MigrationArchive
package import MigrationContainers
package import MigrationContract
package import MigrationSystem

/// Puts an archive's files where the app expects them; without an importer, every file is restored
/// at its path.
package protocol ContainerImporter: Sendable {
    /// App groups that are omitted on purpose.
    var omissions: [Omission] { get }

    /// Checks that it can import into `container`, before anything is read.
    func check(_ container: MigrationDataContainer) throws

    /// Checks that it can import data of `source` from an archive with this header.
    func check(_ header: ArchiveHeader?, from source: ImportSource) throws

    /// The app that it belongs to, if known.
    func identifier(for container: MigrationDataContainer) throws -> String?

    /// Asks whether it supports importing, before anything is extracted.
    func ask(in staged: StagedImport) throws

    /// Fills the staged container; `extract` puts the archive's files into a directory.
    ///
    /// - Returns: The result of `extract`, and the report of the session.
    func fill<Extracted>(
        _ staged: StagedImport,
        from header: ArchiveHeader?,
        of source: ImportSource,
        extracting extract: (OpenFile) throws -> Extracted
    ) throws -> (Extracted, any Sendable)
}

/// The staging directory of an importer, until it replaces the container.
package struct StagedImport {
    /// The staging directory, which is empty.
    package let staging: StagingDirectory

    /// The container that is replaced, which is locked and open as `root`.
    package let container: MigrationDataContainer
    package let root: OpenFile

    package let operation: MigrationOperation
}
