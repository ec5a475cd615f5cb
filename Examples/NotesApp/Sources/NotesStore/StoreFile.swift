public import Foundation

/// A file of a store, as it is moved to another device.
public struct StoreFile: Sendable {
    /// The file.
    public let url: URL

    /// Its path among the files of the store.
    public let path: String

    /// Its size in bytes.
    public let size: Int

    init(at url: URL, path: String) throws {
        self.url = url
        self.path = path
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        size = (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    /// The files in `directory`, by name; none if it is missing.
    static func all(in directory: URL, under path: String) throws -> [StoreFile] {
        try directory.contents()
            .filter { !$0.isDirectory }
            .map { try StoreFile(at: $0, path: "\(path)/\($0.lastPathComponent)") }
    }
}
