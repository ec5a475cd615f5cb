import Foundation

extension URL {
    /// The directory's items by name; empty if the directory is missing.
    func contents() throws -> [URL] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default
            .contentsOfDirectory(at: self, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    /// The directories in the directory, by name.
    func directories() throws -> [URL] {
        try contents().filter(\.isDirectory)
    }

    var isDirectory: Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }

    /// Makes the directory that the file belongs in.
    func makeParent() throws {
        try FileManager.default.createDirectory(
            at: deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
    }
}
