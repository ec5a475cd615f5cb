import Foundation
import Glibc
import MigrationContainers
import MigrationContract
import TestSupport
import Testing

/// Each test runs in its own process, because its settings belong to the whole process.
@Suite struct MigrationStatusTests {
    /// Makes a container in a directory of its own that holds `record`; the caller removes it.
    private static func makeContainer(_ record: String?) throws -> BytePath {
        var template = [CChar]("/tmp/migration-status-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw CallFailure("mkdtemp") }
        let root = BytePath([UInt8](String(cString: made).utf8))
        guard let record else { return root }
        try (root / ".migration").makeDirectory()
        try (root / ".migration/import-status.json").write(record)
        return root
    }

    private static func remove(_ root: BytePath) throws {
        try FileManager.default.removeItem(at: root.url)
    }

    private static let success =
        "{\"version\":1,\"outcome\":\"success\",\"date\":\"2026-03-04T05:06:07Z\"}"
    private static let failure =
        "{\"version\":1,\"outcome\":\"failure\",\"date\":\"2026-03-04T05:06:07Z\","
        + "\"error\":{\"domain\":\"Notes\",\"code\":7,\"description\":\"too old\"}}"
    private static let interrupted =
        "{\"version\":1,\"outcome\":\"interrupted\",\"date\":\"2026-03-04T05:06:07Z\"}"

    @Test func `is nil where nobody said which container it is`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("MIGRATION_CONTAINER")
            #expect(MigrationStatus.importStatus == nil)
            MigrationStatus.clearImportStatus()
        }
    }

    @Test func `finds the container that was set in code`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("MIGRATION_CONTAINER")
            let root = try MigrationStatusTests.makeContainer(MigrationStatusTests.success)
            defer { try? MigrationStatusTests.remove(root) }
            MigrationStatus.containerDirectory = root.url
            guard case .success? = MigrationStatus.importStatus else {
                Issue.record("no success")
                return
            }
            MigrationStatus.clearImportStatus()
            #expect(MigrationStatus.importStatus == nil)
            #expect(try (root / ".migration").names() == [])
        }
    }

    @Test func `finds the container of the environment first`() async {
        await #expect(processExitsWith: .success) {
            let root = try MigrationStatusTests.makeContainer(MigrationStatusTests.failure)
            let other = try MigrationStatusTests.makeContainer(MigrationStatusTests.success)
            defer {
                try? MigrationStatusTests.remove(root)
                try? MigrationStatusTests.remove(other)
            }
            MigrationStatus.containerDirectory = other.url
            _ = root.withPointer { setenv("MIGRATION_CONTAINER", $0, 1) }
            guard case .failure(let error)? = MigrationStatus.importStatus else {
                Issue.record("no failure")
                return
            }
            let bridged = error as NSError
            #expect(bridged.domain == "Notes")
            #expect(bridged.code == 7)
            #expect(bridged.localizedDescription == "too old")
            MigrationStatus.clearImportStatus()
            #expect(MigrationStatus.importStatus == nil)
            #expect(try (other / ".migration").names() == ["import-status.json"])
        }
    }

    @Test func `finds a container whose path is no UTF-8`() async {
        await #expect(processExitsWith: .success) {
            let parent = try MigrationStatusTests.makeContainer(nil)
            defer { try? MigrationStatusTests.remove(parent) }
            let root = parent / BytePath([0x61, 0xFF, 0x80])
            try root.makeDirectory()
            try (root / ".migration").makeDirectory()
            let record = root / ".migration/import-status.json"
            try record.write(MigrationStatusTests.success)
            _ = root.withPointer { setenv("MIGRATION_CONTAINER", $0, 1) }
            if case .success? = MigrationStatus.importStatus {} else { Issue.record("no success") }
            try record.removeFile()
            try? (root / ".migration/import-status-read.json").removeFile()
            guard removeDirectory(root / ".migration"), removeDirectory(root) else {
                throw CallFailure("rmdir")
            }
        }
    }

    @Test func `keeps when an app first asked, until the status is cleared or another`() async {
        await #expect(processExitsWith: .success) {
            let root = try MigrationStatusTests.makeContainer(MigrationStatusTests.success)
            defer { try? MigrationStatusTests.remove(root) }
            _ = root.withPointer { setenv("MIGRATION_CONTAINER", $0, 1) }
            let container = try MigrationDataContainer(atPath: root)
            #expect(try container.importRecordReadDate() == nil)
            // The reader of the record isn't an app.
            _ = try container.importRecord()
            #expect(try container.importRecordReadDate() == nil)
            let start = Date(timeIntervalSinceNow: -1)
            _ = MigrationStatus.importStatus
            let first = try #require(try container.importRecordReadDate())
            #expect(first >= start && first <= Date())
            let file = root / ".migration/import-status-read.json"
            let kept = try file.contents()
            _ = MigrationStatus.importStatus
            #expect(try file.contents() == kept)
            try (root / ".migration/import-status.json").write(MigrationStatusTests.failure)
            #expect(try container.importRecordReadDate() == nil)
            _ = MigrationStatus.importStatus
            #expect(try container.importRecordReadDate() != nil)
            try file.write("{")
            #expect(try container.importRecordReadDate() == nil)
            MigrationStatus.clearImportStatus()
            #expect(try container.importRecordReadDate() == nil)
            #expect(try (root / ".migration").names() == [])
        }
    }

    @Test func `says that an import was interrupted`() async {
        await #expect(processExitsWith: .success) {
            let root = try MigrationStatusTests.makeContainer(MigrationStatusTests.interrupted)
            defer { try? MigrationStatusTests.remove(root) }
            _ = root.withPointer { setenv("MIGRATION_CONTAINER", $0, 1) }
            guard case .failure(let error as MigrationError)? = MigrationStatus.importStatus else {
                Issue.record("no failure")
                return
            }
            #expect(error.code == .interrupted)
        }
    }

    @Test func `says that the status can't be read, and keeps it`() async {
        await #expect(processExitsWith: .success) {
            let root = try MigrationStatusTests.makeContainer("{\"version\":9}")
            defer { try? MigrationStatusTests.remove(root) }
            _ = root.withPointer { setenv("MIGRATION_CONTAINER", $0, 1) }
            guard case .failure(let error as MigrationError)? = MigrationStatus.importStatus else {
                Issue.record("no failure")
                return
            }
            #expect(error.code == .statusUnreadable)
            let kept = try (root / ".migration/import-status.json").contents()
            #expect(kept == Data("{\"version\":9}".utf8))
        }
    }
}

private func removeDirectory(_ path: BytePath) -> Bool { path.withPointer { rmdir($0) } == 0 }
