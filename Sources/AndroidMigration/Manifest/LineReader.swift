/// The lines of a manifest in a backup; each ends with a line feed.
struct ManifestLines {
    private var rest: ArraySlice<UInt8>
    private let name: String

    init(_ bytes: [UInt8], of name: String) {
        rest = bytes[...]
        self.name = name
    }

    /// Reads the next line, which contains `content`.
    mutating func next(_ content: String) throws(AndroidMigrationError) -> String {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            throw AndroidMigrationError(.notAManifest, "\(name) ends before \(content)")
        }
        guard let line = String(validating: rest[..<end], as: UTF8.self) else {
            throw AndroidMigrationError(.notAManifest, "\(name): \(content) is no UTF-8 text")
        }
        rest = rest[(end + 1)...]
        return line
    }

    /// Reads the next line, a non-negative number.
    mutating func nextNumber(_ content: String) throws(AndroidMigrationError) -> Int {
        let line = try next(content)
        guard let number = Int(line), number >= 0 else {
            throw AndroidMigrationError(.notAManifest, "\(name): \(content) is no number")
        }
        return number
    }
}
