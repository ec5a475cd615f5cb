internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// How much of an archive ``ArchiveSource/verify(_:externalLinks:threadCount:progress:)`` checks.
public enum VerificationScope: String, Sendable, Codable {
    /// Every frame's hash, and then every entry as an import would judge it.
    case everything
    /// The hashes of frames and the fingerprint; no content is decompressed and no entry is read.
    case hashes

    /// The same for what checks archives.
    func verifierScope(_ externalLinks: ExternalLinkPolicy) -> ArchiveVerifier.Scope {
        guard self == .everything else { return .hashes }
        var options = ArchiveExtractor.Options()
        options.externalLinks = externalLinks.forExtraction
        options.leftOut = ContainerLayout.ownNames.map { EntryPath(bytes: $0) }
        return .everything(options) { () throws(SystemError) in
            let directory = ByteString(pathOf: FileManager.default.temporaryDirectory)
            return try FileDescriptor.openFollowingLinks(directory, .directory).openTemporary()
        }
    }
}
