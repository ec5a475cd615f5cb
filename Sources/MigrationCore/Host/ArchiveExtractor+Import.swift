internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

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
        for drop in drops { list.append(Omission(drop)) }
        list.countFurther(dropCount - drops.count)
        return list
    }
}

extension Omission {
    fileprivate init(_ drop: EntryDrop) {
        path = drop.path.description
        bytes = 0
        switch drop.kind {
        case .extendedAttribute(let name):
            (reason, detail) = (.extendedAttribute, PrintableText.escaping(name))
        case .specialPermissions(let bits):
            (reason, detail) = (.specialPermissions, String(bits, radix: 8))
        case .externalLink(let target):
            (reason, detail) = (.externalLink, PrintableText.escaping(target))
        case .reserved: (reason, detail) = (.leftOutByDefault, nil)
        }
    }
}
