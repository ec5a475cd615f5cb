import AndroidMigration
import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// A place for backups that Python writes, and for their conversions.
struct BackupStage {
    private let directory: URL

    init() throws {
        directory = try #require(ScratchDirectory.current)
    }

    func url(_ name: String) -> URL { directory.appending(path: name) }

    /// The archive that conversions make.
    var archive: ArchiveSource { .file(url("out")) }

    private static let generator = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Fixtures/make-backup.py")

    /// Writes a backup by `make-backup.py`.
    func make(_ name: String, _ words: [String]) throws {
        _ = try run(["python3", Self.generator.path, url(name).path, "--"].dropLast() + words)
    }

    /// Runs a script in Python, and returns what it prints.
    func python(_ script: String) throws -> Data {
        try run(["python3", "-c", script])
    }

    private func run(_ words: some Collection<String>) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = Array(words)
        let output = url("output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try Data(contentsOf: output)
    }

    func write(_ text: String, to name: String) throws {
        try write([UInt8](text.utf8), to: name)
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try FileManager.default.createDirectory(
            at: url(name).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: url(name))
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url(name)))
    }

    /// Converts a backup into ``archive``.
    @discardableResult
    func convert(
        _ name: String,
        password: String? = nil,
        throughPipe: Bool = false,
        force: Bool = false,
        sizes: SizePolicy = .refuse,
        _ change: (inout BackupConversion.Options) throws -> Void = { _ in }
    ) async throws -> ConversionReport {
        var options = BackupConversion.Options()
        try change(&options)
        var pipe: Process?
        let end = Pipe()
        if throughPipe {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/cat")
            process.arguments = [url(name).path]
            process.standardOutput = end
            try process.run()
            try end.fileHandleForWriting.close()
            pipe = process
        }
        var place = BackupLocation(
            throughPipe
                ? .descriptor(end.fileHandleForReading.fileDescriptor)
                : .path(BytePath(url(name).path))
        )
        place.password = password.map { [UInt8]($0.utf8) }
        place.sizePolicy = sizes
        defer { pipe?.waitUntilExit() }
        return try await BackupOperations.convert(
            place,
            options: options,
            to: .file(url("out"), replacesExisting: force),
            spoolingTo: BytePath(directory.path)
        )
    }

    /// The files in ``archive``, with their content.
    func contents() async throws -> [String: [UInt8]] {
        let reader = try ArchiveReader(url("out"))
        var files: [String: [UInt8]] = [:]
        while let entry = try reader.next() {
            guard case .file(let size) = entry.kind else { continue }
            var content = [UInt8](repeating: 0, count: Int(size))
            try reader.readContent { offset, piece in
                for index in piece.indices { content[Int(offset) + index] = piece[index] }
            }
            files[String(decoding: entry.path.bytes, as: UTF8.self)] = content
        }
        return files
    }

    /// The files in ``archive``, with their sizes.
    func files() async throws -> [String: Int] {
        _ = try await archive.verify()
        let files = Monitor<[String: Int]>([:])
        _ = try await archive.forEachEntry { entry in
            guard case .file(let size) = entry.kind else { return }
            files.withLock { $0[String(decoding: entry.path.bytes, as: UTF8.self)] = Int(size) }
        }
        return files.withLock { $0 }
    }
}
