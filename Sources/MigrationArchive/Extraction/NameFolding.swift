internal import MigrationSystem

/// Whether a file system takes names for the same that differ in their bytes.
enum NameFolding {
    private static let name = "migration-probe-\u{E9}"
    private static let otherSpellings = ["MIGRATION-PROBE-\u{E9}", "migration-probe-e\u{301}"]

    /// Tries it with an empty file in `directory`, which is removed again.
    static func happens(in directory: OpenFile) throws(SystemError) -> Bool {
        var number = 0
        while true {
            let probe = ByteString(utf8: "\(number)\(name)")
            do throws(SystemError) {
                _ = try directory.descriptor.open(probe, .creating(permissions: 0o600))
            } catch {
                guard error.isExisting else { throw error }
                number += 1
                continue
            }
            defer { try? directory.descriptor.removeFile(probe) }
            for spelling in otherSpellings {
                let other = ByteString(utf8: "\(number)\(spelling)")
                if try isThere(other, in: directory) { return true }
            }
            return false
        }
    }

    private static func isThere(
        _ name: ByteString,
        in directory: OpenFile
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try directory.descriptor.status(of: name)
            return true
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }
}
