internal import MigrationArchive
internal import MigrationSystem

/// The directories of packages at the top of a plain tar file, as `tar -C /data/data com.example` makes
/// them.
///
/// They are recognized by the directories that Android makes in them. A file with such a directory
/// at its top has the app's own directory as its root.
package struct PackageDirectories: Sendable {
    /// The maximum number of remembered names at the top level.
    private static let limit = 10_000

    private(set) var names: Set<[UInt8]> = []

    /// Whether `name` is a package's directory at the top.
    func contains(_ name: [UInt8]) -> Bool { names.contains(name) }

    package init() {}

    /// Reads the names in a stream.
    ///
    /// - Throws: ``AndroidMigrationError`` of code `notABackup` if an app's storage is one level
    ///   down in a directory that isn't named like a package.
    init(
        _ stream: BackupStream,
        cancellation: @escaping BackupReader.CancellationCheck
    ) throws {
        let reader = try BackupReader(stream, cancellation: cancellation)
        guard !reader.isAndroid else { return }
        while let item = try reader.next() {
            guard case .entry(let entry) = item else { continue }
            let path = BackupItem.names(in: entry.path)
            guard let first = path.first, DevicePath(path) == nil else { continue }
            if Self.isInside(first) {
                names = []
                return
            }
            guard path.count > 1, Self.isInside(path[1]), !first.starts(with: "app_".utf8),
                names.count < Self.limit
            else { continue }
            names.insert(first)
        }
        if let name = names.first(where: { !Self.isPackage($0) }) {
            let shown = PrintableText.escaping(name)
            throw AndroidMigrationError(
                .notABackup,
                "the app's storage lies one level down, in '\(shown)/': give a tar file of what is in "
                    + "it, as 'tar -C \(shown) -c .' makes one, or its directory unpacked"
            )
        }
    }

    private static func isInside(_ name: [UInt8]) -> Bool {
        RawTree.namesInside.contains { $0.utf8.elementsEqual(name) }
    }

    /// Whether a name has the form of a package's: at least two words of letters, digits and `_`
    /// (Android, "Set the application ID").
    static func isPackage(_ name: [UInt8]) -> Bool {
        let words = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return words.count > 1
            && words.allSatisfy { word in
                word.first.map { Character(UnicodeScalar($0)).isLetter && $0 < 0x80 } ?? false
                    && word.allSatisfy {
                        let character = Character(UnicodeScalar($0))
                        return $0 < 0x80
                            && (character.isLetter || character.isNumber || character == "_")
                    }
            }
    }
}
