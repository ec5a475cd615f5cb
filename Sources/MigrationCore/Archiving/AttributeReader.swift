internal import MigrationArchive
internal import MigrationSystem

/// Reads the attributes that an archive holds, and reports the others.
final class AttributeReader: Sendable {
    /// The extra metadata that the archive holds.
    let extra: ExtraMetadata

    /// Whether something that the archive can't hold fails the export.
    let isStrict: Bool

    private let reported = Monitor(OmissionList())

    init(holding extra: ExtraMetadata, isStrict: Bool) {
        (self.extra, self.isStrict) = (extra, isStrict)
    }

    /// The omissions reported so far.
    var omissions: OmissionList { reported.withLock { $0 } }

    /// The prefix of attributes that hold access control lists (acl(5)).
    private static let accessListPrefix = [UInt8](utf8: "system.posix_acl_")

    /// Reports attributes of the item at `path` that the archive doesn't hold.
    func report(_ names: [[UInt8]], at path: [UInt8]) throws(ArchiveError) {
        for name in names {
            let isAccessList = name.starts(with: Self.accessListPrefix)
            let omission = try omission(
                ofUnrepresentable: path,
                .extendedAttribute,
                PrintableText.escaping(name),
                .holdMetadata(isAccessList ? .accessLists : .attributes)
            )
            reported.withLock { $0.append(omission) }
        }
    }

    /// The omission of something that the archive can't hold; a strict export fails instead.
    func omission(
        ofUnrepresentable path: [UInt8],
        _ reason: Omission.Reason,
        _ detail: String,
        _ remedy: Remedy? = nil
    ) throws(ArchiveError) -> Omission {
        guard isStrict else { return Omission(path: path, reason: reason, detail: detail) }
        let thing = reason == .extendedAttribute ? "the attribute \(detail)" : "a \(detail)"
        throw ArchiveError(
            .unrepresentable,
            "a strict export may not omit what the archive can't hold: \(thing)",
            entry: EntryPath(bytes: path),
            remedy: remedy
        )
    }
}

/// The extended attributes of a file: those that an archive holds, and the names of the others.
struct FileAttributes {
    private(set) var carried: [ExtendedAttribute] = []
    private(set) var others: [[UInt8]] = []

    /// Reads the attributes of `file`.
    init(of file: borrowing FileDescriptor, holding extra: ExtraMetadata) throws(SystemError) {
        let names: [[UInt8]]
        do throws(SystemError) {
            names = try file.extendedAttributeNames()
        } catch {
            others = try Self.unlisted(error)
            return
        }
        for name in names {
            if extra.includesAttribute(name) {
                let value = try file.extendedAttribute(name)
                carried.append(ExtendedAttribute(name: name, value: value))
            } else {
                others.append(name)
            }
        }
    }

    /// A placeholder for names that the system can't list, for the report; rethrows other errors.
    static func unlisted(_ error: SystemError) throws(SystemError) -> [[UInt8]] {
        guard error.isUnsupported else { throw error }
        return [[UInt8](utf8: "all, which the system can't list: \(error)")]
    }
}
