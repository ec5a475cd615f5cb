internal import MigrationSystem

/// Whether a file system treats names with different bytes as the same.
enum NameFolding {
    /// Names are the same only if their bytes are.
    case absent
    /// A name is listed in the spelling with which it was created.
    case keepingSpelling
    /// A name may be listed in another spelling than the one it was created with.
    case changingSpelling

    private static let name = "Migration-Probe-\u{E9}"
    private static let otherSpellings = ["mIGRATION-pROBE-\u{E9}", "Migration-Probe-e\u{301}"]

    /// Finds out by making an empty file in `directory`, which is removed again.
    static func observed(in directory: OpenFile) throws(SystemError) -> NameFolding {
        var number = 0
        while true {
            let probe = [UInt8](utf8: "\(number)\(name)")
            do throws(SystemError) {
                _ = try directory.descriptor.open(probe, .creating(permissions: 0o600))
            } catch {
                guard error.isExisting else { throw error }
                number += 1
                continue
            }
            let folding = try folding(of: probe, number, in: directory)
            // Otherwise it would be part of the restored tree.
            try directory.descriptor.removeFile(probe)
            return folding
        }
    }

    /// Looks for `probe`, which exists, in other spellings.
    private static func folding(
        of probe: [UInt8],
        _ number: Int,
        in directory: OpenFile
    ) throws(SystemError) -> NameFolding {
        for spelling in otherSpellings {
            let other = [UInt8](utf8: "\(number)\(spelling)")
            guard try directory.descriptor.statusIfPresent(of: other) != nil else { continue }
            let listing = try DirectoryListing(of: directory.descriptor)
            return listing.contains(probe) ? .keepingSpelling : .changingSpelling
        }
        return .absent
    }
}
