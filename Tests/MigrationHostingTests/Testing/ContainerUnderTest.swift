import AppMigrationTesting
import Foundation
import MigrationHosting
import Testing

/// Short forms of operations on the container of the running test.
struct ContainerUnderTest {
    let container: MigrationDataContainer

    init() throws {
        container = try #require(MigrationTestContext.current).container
    }

    /// A document of the app.
    func document(_ name: String) -> URL {
        container.documentsDirectory.appending(path: name)
    }

    func write(_ text: String, as name: String) throws {
        try Data(text.utf8).write(to: document(name))
    }

    /// The text of a document; `nil` if there is none.
    func text(of name: String) -> String? {
        Self.text(at: document(name))
    }

    /// Fills the container with two documents, of 15,000 and 5 bytes.
    func fill() throws {
        try write(String(repeating: "profile ", count: 1_875), as: "profile.txt")
        try FileManager.default.createDirectory(
            at: document("Notes"),
            withIntermediateDirectories: false
        )
        try write("Notes", as: "Notes/first.txt")
    }

    /// The source that the sample extension was given.
    var source: String? {
        Self.text(at: container.applicationSupportDirectory.appending(path: "source.txt"))
    }

    /// The text of a file; `nil` if there is none.
    static func text(at url: URL) -> String? {
        (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
    }
}
