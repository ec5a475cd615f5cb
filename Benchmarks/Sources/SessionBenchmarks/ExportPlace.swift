import AppendingExtension
import Foundation
import MigrationHosting

/// A container on the RAM disk, and the extension in both of its forms.
struct ExportPlace {
    private let root: URL

    let inProcess = MigrationExtension.inProcess(AppendingExtension())
    let ownProcess: MigrationExtension

    var container: URL { root.appending(path: "com.example.app") }

    init() throws {
        root = URL(filePath: "/dev/shm/session-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
        let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        var ownProcess = MigrationExtension.executable(
            at: products.appending(path: "appending-extension")
        )
        let entitlements = root.appending(path: "entitlements")
        try Data(Self.entitlements.utf8).write(to: entitlements)
        ownProcess.entitlements = entitlements
        self.ownProcess = ownProcess
    }

    /// Makes the container hold `count` files of 100 bytes.
    func fill(_ count: Int) throws {
        try? FileManager.default.removeItem(at: container)
        let documents = container.appending(path: "Documents")
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
        for number in 0..<count {
            let text = String(repeating: "\(number) ", count: 100).prefix(100)
            try Data(text.utf8).write(to: documents.appending(path: "\(number)"))
        }
        try Data("\(count)".utf8).write(to: container.appending(path: "count"))
    }

    /// Exports the container by `appExtension`.
    func export(
        _ container: MigrationDataContainer,
        _ appExtension: MigrationExtension
    ) async throws {
        let archive = root.appending(path: "archive.tar.zst")
        _ = try await MigrationHost().export(
            container,
            to: .file(archive, replacesExisting: true),
            using: appExtension
        )
    }

    func remove() {
        try? FileManager.default.removeItem(at: root)
    }

    private static let entitlements = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>com.apple.developer.app-migration.data-container-access</key>
        <array><string>com.example.app</string></array>
        </dict></plist>
        """
}
