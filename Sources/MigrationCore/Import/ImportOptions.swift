internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

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

/// What an app's extension is told of the app that exported; what is `nil` the archive says.
///
/// The import's record keeps what the extension was told.
public struct ImportSource: Sendable {
    /// The bundle identifier, or what the source platform has in its place.
    public var bundleIdentifier: String?

    /// The platform.
    public var platform: MigrationPlatform?

    /// The store; `nil` takes Google Play for Android and the App Store for iOS.
    public var store: MigrationAppIdentifier.StoreIdentifier?

    /// The version of the exported format.
    public var version: String?

    /// Makes a source of which the archive says everything.
    public init() {}
}

extension ImportCall {
    /// Says where the data comes from, by what the archive says and what the person adds to it.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` where neither says it.
    init(
        directory: ByteString,
        header: ArchiveHeader?,
        source: ImportSource
    ) throws(MigrationError) {
        guard let identifier = source.bundleIdentifier ?? header?.bundleIdentifier,
            let platform = source.platform ?? header.map({ MigrationPlatform($0.platform) }),
            let version = source.version ?? header?.resourcesVersion
        else {
            let message =
                "the archive does not say which app, platform and version it is from, which the "
                + "extension must be told"
            throw MigrationError(.invalidOption, message)
        }
        self.init(
            directory: Data(directory),
            source: MigrationAppIdentifier(
                storeIdentifier: source.store ?? platform.defaultStore,
                bundleIdentifier: identifier,
                platform: platform
            ),
            sourceVersion: version
        )
    }
}

extension MigrationPlatform {
    /// The store that an app of the platform mostly comes from.
    var defaultStore: MigrationAppIdentifier.StoreIdentifier {
        switch self {
        case .android: .googlePlay
        case .iOS: .appStore
        default: MigrationAppIdentifier.StoreIdentifier("unknown")
        }
    }
}

/// What becomes of symbolic links that lead out of the place they are restored to.
public enum ExternalLinkPolicy: String, Sendable, CaseIterable {
    /// The import fails.
    case refuse

    /// They are restored as they are; they are never followed.
    case keep

    /// They are left out, and the report says so.
    case skip
}

extension ArchiveExtractor.Options {
    /// What `options` ask for; an archive that carries no proof may take the space that there is.
    init(_ options: ImportOptions, for reader: ArchiveReader, in directory: OpenFile) throws {
        self.init()
        let isForeign = reader.header == nil
        isLenient = isForeign
        if isForeign { byteLimit = try directory.descriptor.availableSpace() }
        externalLinks = options.externalLinks.forExtraction
    }
}

extension ExternalLinkPolicy {
    /// The same for what restores entries.
    var forExtraction: ArchiveExtractor.ExternalLinks {
        switch self {
        case .refuse: .refuse
        case .keep: .keep
        case .skip: .skip
        }
    }
}

extension ArchiveExtractor {
    /// Restores in `directory` what `reader` holds; `progress` gets how many bytes were read.
    static func restore(
        _ reader: ArchiveReader,
        in directory: OpenFile,
        options: Options,
        progress: Progress?
    ) throws -> ArchiveExtractor {
        let root = try directory.descriptor.duplicate()
        let extractor = ArchiveExtractor(root: root, options: options)
        try extractor.extract(from: reader) { consumed in
            progress?.completedUnitCount = Int64(clamping: consumed)
        }
        return extractor
    }

    /// What was not restored, as reports say it.
    var omissions: OmissionList {
        var list = OmissionList()
        for omission in entryOmissions { list.append(Omission(omission)) }
        list.countFurther(omissionCount - entryOmissions.count)
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
        case .externalLink(let target):
            (reason, detail) = (.externalLink, PrintableText.escaping(target))
        case .reserved: reason = .leftOutByDefault
        }
        self.init(path: omission.path.description, reason: reason, bytes: 0, detail: detail)
    }
}
