import Foundation

/// Runs `body` with an empty directory of its own, which is removed afterwards.
func withScratchDirectory<Result>(
    _ body: (URL) async throws -> Result
) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory
        .appending(path: "notes-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

extension URL {
    /// The content of each file below the directory, by path, without files of the system.
    var files: [String: Data] {
        get throws {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: path)
                .filter { !$0.hasPrefix(".migration") }
            return try paths.reduce(into: [:]) { files, path in
                let file = appending(path: path)
                var isDirectory: ObjCBool = false
                if FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory),
                    !isDirectory.boolValue
                {
                    files[path] = try Data(contentsOf: file)
                }
            }
        }
    }

    /// Copies every file beneath the directory, also those of other users.
    func copyFiles(to directory: URL) throws {
        for (path, data) in try files {
            let copy = directory.appending(path: path)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: copy)
        }
    }

    /// The number that identifies the file on its file system, whatever its name.
    var fileNumber: Int? {
        get throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[.systemFileNumber] as? NSNumber)?.intValue
        }
    }
}
