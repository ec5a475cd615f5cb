public import Foundation
public import MigrationArchive
internal import MigrationSystem

/// Where an archive is written to.
public struct ArchiveDestination: Sendable {
    enum Place {
        case file([UInt8], replacingExisting: Bool)
        case descriptor(Int32)
    }

    let place: Place

    /// For whom the archive is encrypted; `nil` where it is not.
    private(set) var encryption: ArchiveEncryption?

    /// A file that appears under its name only when the archive is whole, readable by its owner alone.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - replacingExisting: Whether a file that is there is replaced; otherwise it is an error.
    /// - Returns: The destination, in which nothing happens before the export.
    public static func file(_ url: URL, replacingExisting: Bool = false) -> ArchiveDestination {
        .file(path: ByteString(pathOf: url), replacingExisting: replacingExisting)
    }

    /// A file at a path of any bytes.
    package static func file(path: [UInt8], replacingExisting: Bool) -> ArchiveDestination {
        ArchiveDestination(place: .file(path, replacingExisting: replacingExisting))
    }

    /// An open descriptor, such as 1 for standard output, to which the archive is written as it is made.
    ///
    /// The descriptor stays open. What was written before a failure is not taken back.
    ///
    /// - Parameter number: The number of the descriptor, which is open for writing.
    /// - Returns: The destination.
    public static func descriptor(_ number: Int32) -> ArchiveDestination {
        ArchiveDestination(place: .descriptor(number))
    }

    /// The same place, at which the archive is encrypted.
    ///
    /// - Parameter encryption: For whom.
    /// - Returns: The destination.
    public func encrypted(with encryption: ArchiveEncryption) -> ArchiveDestination {
        var destination = self
        destination.encryption = encryption
        return destination
    }
}
