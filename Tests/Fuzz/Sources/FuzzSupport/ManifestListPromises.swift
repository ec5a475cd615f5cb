@testable internal import IPhoneBackups
@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Promises about every `Manifest.mbdb`.
public enum ManifestListPromises {
    private static let row = "record that was read"
    private static let attributed = "record with attributes"
    private static let flawed = "record with a flaw"
    private static let whole = "list that was read to its end"
    private static let broken = "list that is damaged"

    /// The milestones that the seeds must reach.
    public static let milestones = [row, attributed, flawed, whole, broken]

    /// Reads a list, and every record once more by its position.
    public static func check(_ bytes: [UInt8]) throws {
        let number = InputDescriptor.file(holding: bytes)
        let file = OpenFile(try FileDescriptor.duplicate(ofNumber: number))
        var found: [(offset: UInt64, path: [UInt8])] = []
        do {
            let list = try ManifestList(file, on: MigrationOperation())
            try list.forEachRow { record in
                FuzzTarget.require(
                    record.offset > found.last?.offset ?? 0,
                    "records lie one behind another"
                )
                found.append((record.offset, record.path))
                check(record)
            }
            for record in found {
                let again = try list.row(at: record.offset)
                FuzzTarget.require(again.path == record.path, "a record is found again")
            }
            Milestones.reach(whole)
        } catch let error as ArchiveError {
            FuzzTarget.require(error.code == .damaged, "a list is damaged: \(error)")
            Milestones.reach(broken)
        }
    }

    private static func check(_ record: ManifestList.Row) {
        Milestones.reach(row)
        do throws(FlawedRecord) {
            let whole = try record.record()
            FuzzTarget.require(whole.kind.flags == record.flags, "a record has one kind")
            FuzzTarget.require(whole.size == record.size, "a record has one size")
            FuzzTarget.require(whole.path == record.path, "a record has one path")
            if !whole.attributes.isEmpty { Milestones.reach(attributed) }
        } catch {
            Milestones.reach(flawed)
        }
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let magic = ManifestList.magic
        let file = record("Documents/a", mode: 0o100644, attributes: [("name", "value")])
        let directory = record("Documents", mode: 0o040755)
        let link = record("Documents/l", mode: 0o120755, target: "a")
        let flawed = record("Documents/f", mode: 0o020644)
        return [
            magic + directory + file + link, magic + flawed, magic + file.dropLast(3), magic,
            magic + record("k", mode: 0o100600, key: [UInt8](repeating: 1, count: 44)),
            [UInt8]("mbdb".utf8),
        ]
    }

    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func record(
        _ path: String,
        mode: UInt16,
        target: String? = nil,
        key: [UInt8] = [],
        attributes: [(String, String)] = []
    ) -> [UInt8] {
        let none = [0xFF, 0xFF] as [UInt8]
        var bytes = text([UInt8]("AppDomain-com.example.notes".utf8)) + text([UInt8](path.utf8))
        bytes += target.map { text([UInt8]($0.utf8)) } ?? none
        bytes += none + (key.isEmpty ? none : text(key))
        bytes += [UInt8(mode >> 8), UInt8(mode & 0xFF)]
        // The inode, the owner, three times and the size.
        bytes += [UInt8](repeating: 0, count: 8 + 8 + 12) + [0, 0, 0, 0, 0, 0, 0, 5]
        bytes += [3, UInt8(attributes.count)]
        for (name, value) in attributes {
            bytes += text([UInt8](name.utf8)) + text([UInt8](value.utf8))
        }
        return bytes
    }
}
