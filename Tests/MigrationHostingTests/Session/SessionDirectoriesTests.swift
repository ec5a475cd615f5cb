import Foundation
import MigrationContract
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationHosting

/// The directories of a session, and the bounds on its temporary one.
@Suite(.scratchDirectory)
struct SessionDirectoriesTests {
    private let program = MigrationExtension.executable(at: URL(filePath: "/nonexistent"))

    private func directories(
        _ role: SessionDirectories.Role,
        _ hosted: MigrationExtension
    ) throws -> SessionDirectories {
        let scratch = try BytePath.scratch
        for path in [scratch / "container", scratch / "group"] where !path.exists {
            try path.makeDirectory()
        }
        var hosted = hosted
        hosted.applicationGroups = ["group.b": (scratch / "group").url]
        let container = try MigrationDataContainer(atPath: scratch / "container")
        return try SessionDirectories(role, container: container, for: hosted)
    }

    @Test func `a program has a temporary directory of its own, which ends with it`() throws {
        let own = try directories(.importing, program)
        #expect(own.all.map(\.label) == ["container", "group", "temporary"])
        #expect(own.filled.count == 3 && own.filled.last == own.temporaryDirectory)
        #expect(try directories(.exporting, program).filled.count == 1)
        #expect(own.temporaryDirectory.exists)
        own.remove()
        #expect(!own.temporaryDirectory.exists)
    }

    @Test @MainActor func `an extension in this process shares the temporary directory`() throws {
        let shared = try directories(.importing, .inProcess(IdleExtension()))
        #expect(shared.all.map(\.label) == ["container", "group"])
        #expect(shared.filled.count == 2)
        shared.remove()
        #expect(shared.temporaryDirectory.exists)
    }

    @Test func `a session ends once its temporary directory is too large`() throws {
        var terms = program
        terms.temporarySpace = 1 << 20
        let directories = try directories(.exporting, terms)
        defer { directories.remove() }
        let bounds = try SessionBounds(terms, in: directories)
        try bounds.look("Notes")
        let file = directories.temporaryDirectory / "file"
        try file.write(Data(repeating: 1, count: 1 << 19))
        try bounds.look("Notes")
        try file.write(Data(repeating: 1, count: 1 << 21))
        for _ in 0..<2 {
            let error = #expect(throws: MigrationError.self) { try bounds.look("Notes") }
            #expect(error?.code == .limitExceeded && error?.remedy == .allowMoreTemporarySpace)
            try file.truncate(to: 0)
        }
    }
}
