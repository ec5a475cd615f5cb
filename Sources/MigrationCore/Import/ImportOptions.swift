public import Foundation
public import MigrationArchive
package import MigrationSystem

/// How to make an import.
public struct ImportOptions: Sendable {
    /// Whether to replace the data in the container; otherwise a container that holds data is
    /// refused.
    public var replacesExisting = false

    /// Where to keep the replaced data, as a separate container; `nil` removes it.
    ///
    /// The directory must not exist yet. It must be on the container's file system, so that nothing is copied,
    /// and outside the container. ``MigrationHost/recover(_:discards:)`` describes how to go back to it.
    public var keptContainer: URL? {
        get { keptPath.map { URL(containerAtPath: $0) } }
        set { keptPath = newValue.map { BytePath(of: $0) } }
    }

    /// The path of that directory.
    package var keptPath: BytePath?

    /// Whether another program's tar file may replace data even if it is empty or has no end mark.
    public var allowsIncomplete = false

    /// Whether a time that the destination's file system can't hold is an error; otherwise it is one of the
    /// report's omissions.
    public var isStrict = false

    /// How to treat symbolic links that lead out of the container.
    public var externalLinks = ExternalLinkPolicy.refuse

    /// The app that the archive's data belongs to, whichever app it names; `nil` trusts the archive.
    ///
    /// Use it if an app changes its identifier. If the container's own app is known, it must be
    /// this one; otherwise this one becomes the container's app.
    public var bundleIdentifier: String?

    /// Whether data in a directory that isn't a container but holds several may be replaced.
    public var takesAnyDirectory = false

    /// The app that exported the data, if the archive does not name it.
    public var source = ImportSource()

    /// The importing app, as `TEAM.bundle`; the archive must list it among its importers.
    public var importer: String?

    /// The fingerprint that the archive must have; any other is refused before the container changes.
    public var expectedFingerprint: Fingerprint?

    /// Whether to do nothing if the container's data already came from this archive, whatever the
    /// app has changed since.
    ///
    /// The fingerprint of a file is read from it; for a stream, set ``expectedFingerprint``.
    public var skipsIfImported = false

    /// The signature that the archive must have; otherwise it is refused before the container
    /// changes.
    public var requiredSignature: RequiredSignature?

    /// The extra metadata to restore; the archive must hold it.
    ///
    /// Only root can restore owners, and most attributes outside `user.*`.
    public var extraMetadata: ExtraMetadata = []

    /// The accounts that replace those in the archive.
    public var ownerMap = OwnerMap()

    /// The number of threads that decompress, from 1 to 64; `nil` means one per processor.
    public var threadCount: Int?

    /// Receives each entry as it is restored, in the order of the archive, on the thread that reads
    /// it.
    ///
    /// Files may be written shortly afterwards by other threads, and links are made last.
    public var entryHandler: (@Sendable (ArchiveEntry) -> Void)?

    /// Makes the default options.
    public init() {}
}

/// The source of the data, for an app's extension; the archive supplies every `nil`.
///
/// The import's record stores the same values.
public struct ImportSource: Sendable {
    /// The bundle identifier, or its equivalent on the source platform.
    public var bundleIdentifier: String?

    /// The platform.
    public var platform: MigrationPlatform?

    /// The store; `nil` means Google Play for Android and the App Store for iOS.
    public var store: MigrationAppIdentifier.StoreIdentifier?

    /// The version of the exported format.
    public var version: String?

    /// Makes a source that takes everything from the archive.
    public init() {}
}

extension Fingerprint {
    /// Throws unless `found`, the fingerprint of an archive, is this one.
    ///
    /// - Parameter found: The fingerprint; `nil` for the tar file of another program, which has none.
    /// - Throws: ``MigrationError`` of code `fingerprintMismatch`.
    public func check(_ found: Fingerprint?) throws(MigrationError) {
        guard found != self else { return }
        let message =
            found.map { "the archive's fingerprint is \($0), and \(self) was expected" }
            ?? "the file carries no fingerprint, and \(self) was expected"
        throw MigrationError(.fingerprintMismatch, message)
    }
}

extension ImportOptions {
    /// Throws if this process can't restore the requested metadata, or the archive of `header`
    /// lacks it; `nil` is another program's tar file, which may or may not hold it.
    func checkExtraMetadata(
        of header: ArchiveHeader?,
        restoredTo path: BytePath
    ) throws(MigrationError) {
        if extraMetadata.contains(.owners), FileStatus.currentUser != 0 {
            throw MigrationError(
                .invalidOption,
                "only root can restore owners",
                path: path,
                remedy: .restoreOwnersAsRoot
            )
        }
        guard let header else { return }
        let missing = extraMetadata.subtracting(header.extraMetadata)
        guard let (kind, name) = missing.first else { return }
        throw MigrationError(
            .invalidOption,
            "the archive holds no \(name) to restore",
            path: path,
            remedy: .archiveMetadata(kind)
        )
    }
}

extension ExtraMetadata {
    /// The first kind in the set, with its name.
    fileprivate var first: (Remedy.Metadata, String)? {
        if contains(.owners) { return (.owners, "owners") }
        if contains(.accessLists) { return (.accessLists, "access control lists") }
        return contains(.attributes) ? (.attributes, "further attributes") : nil
    }
}

extension ArchiveExtractor.Options {
    /// The same options for the extractor; an archive without a fingerprint may use only the free
    /// space.
    init(_ options: ImportOptions, for reader: ArchiveReader, in directory: OpenFile) throws {
        self.init()
        let isForeign = reader.header == nil
        isLenient = isForeign
        if isForeign { byteLimit = try directory.descriptor.availableSpace() }
        externalLinks = options.externalLinks
        extraMetadata = options.extraMetadata
        ownerMap = options.ownerMap
        entryHandler = options.entryHandler
        requiresTimes = options.isStrict
        times = try StorableTimes(in: directory.descriptor)
    }
}

extension ArchiveExtractor {
    /// Restores the entries of `reader` in `directory`.
    static func restore(
        _ reader: ArchiveReader,
        in directory: OpenFile,
        options: Options
    ) throws -> ArchiveExtractor {
        let root = try directory.descriptor.duplicate()
        let extractor = ArchiveExtractor(root: root, options: options)
        try extractor.extract(reader)
        return extractor
    }

    /// Extracts from `reader`; the operation's progress counts the bytes of a file that were read,
    /// or of the content that a pipe's header estimates.
    func extract(_ reader: ArchiveReader) throws {
        let progress = reader.operation.progress
        let estimate = reader.archiveBytes == nil ? reader.header?.sizeEstimate ?? 0 : 0
        if estimate > 0 { progress?.setTotal(Int64(clamping: estimate)) }
        try extract(from: reader) { consumed in
            let done = Int64(clamping: estimate > 0 ? min(readContentBytes, estimate) : consumed)
            progress?.completedUnitCount = done
        }
    }

    /// The omissions of the import, for its report.
    var omissions: OmissionList {
        var list = OmissionList()
        for omission in tally.omissions { list.append(Omission(omission)) }
        list.countFurther(tally.omissionCount - tally.omissions.count)
        return list
    }
}

extension Omission {
    fileprivate init(_ omission: EntryOmission) {
        let reason: Reason
        var detail: String?
        switch omission.kind {
        case .extendedAttribute(let name):
            (reason, detail) = (.extendedAttribute, PrintableText.escaping(name))
        case .specialPermissions(let bits):
            (reason, detail) = (.specialPermissions, String(bits, radix: 8))
        case .modificationTime(let time, let stored):
            reason = .modificationTime
            detail = "\(time.universal) became \(stored.universal)"
        case .externalLink(let target):
            (reason, detail) = (.externalLink, PrintableText.escaping(target))
        case .owners: reason = .owners
        case .reserved: reason = .leftOutByDefault
        case .damaged(let text): (reason, detail) = (.damaged, text)
        }
        self.init(path: omission.path.bytes, reason: reason, detail: detail)
    }
}
