import Foundation
import MigrationArchive
import MigrationContract
import MigrationCore
import TestSupport
import Testing

/// The activity of a person, on its way to the app on another device.
@Suite(.scratchDirectory)
struct MovedActivityTests {
    private static let type = "com.example.notes.editing"

    private func activity(_ note: String = "7") throws -> ResumeActivity {
        try ResumeActivity(
            activityType: Self.type,
            title: "Editing ✎",
            userInfo: [
                "note": note, "position": 42, "parts": ["a", Data([0, 255])] as [Any],
                "since": Date(timeIntervalSince1970: 1_000),
            ]
        )
    }

    private func exportSource(of places: Places, _ activity: ResumeActivity?) async throws {
        var options = ExportOptions()
        options.activity = activity
        try await places.exportSource(options: options, replacing: true)
    }

    private func take(from places: Places, _ types: Set<String> = [type]) throws -> ResumeActivity?
    {
        try places.destinationContainer.takeResumeActivity(ofTypes: types)
    }

    @Test func `arrives with the data, and is delivered once`() async throws {
        let places = try await Places.withSmallArchive()
        let sent = try activity()
        try await exportSource(of: places, sent)
        try await places.importArchive()
        let before = try places.destinationContainer.importRecordReadDate()
        #expect(before == nil)
        let taken = try #require(try take(from: places))
        #expect(taken == sent)
        #expect(taken.title == "Editing ✎")
        #expect(taken.userInfo["note"] as? String == "7")
        #expect(taken.userInfo["position"] as? Int == 42)
        #expect((taken.userInfo["parts"] as? [Any])?.last as? Data == Data([0, 255]))
        #expect(taken.userInfo["since"] as? Date == Date(timeIntervalSince1970: 1_000))
        #expect(try take(from: places) == nil)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    @Test func `stays for an app that does not declare its type`() async throws {
        let places = try await Places.withSmallArchive()
        try await exportSource(of: places, activity())
        try await places.importArchive()
        #expect(try take(from: places, []) == nil)
        #expect(try take(from: places, ["com.example.notes.reading"]) == nil)
        let (container, sent) = (try places.destinationContainer, try activity())
        MigrationStatus.$given.withValue(container) {
            // The tests' program declares none.
            #expect(MigrationStatus.takeResumeActivity() == nil)
            #expect(MigrationStatus.takeResumeActivity(ofTypes: [Self.type]) == sent)
            #expect(MigrationStatus.takeResumeActivity(ofTypes: [Self.type]) == nil)
        }
    }

    @Test func `survives an import that fails, and is replaced by one that succeeds`() async throws
    {
        let places = try await Places.withSmallArchive()
        try await exportSource(of: places, activity("first"))
        try await places.importArchive()
        try await exportSource(of: places, activity("second"))
        let whole = try places.archive.contents()
        try places.archive.write(whole.prefix(whole.count - 100))
        await #expect(throws: (any Error).self) { try await places.importArchive(replacing: true) }
        let container = try places.destinationContainer
        let record = try #require(try container.importRecord())
        #expect(record.outcome == .success)
        #expect(try container.lastImportAttempt() != nil)
        #expect(record.activity?.userInfo["note"] as? String == "first")
        try places.archive.write(whole)
        try await places.importArchive(replacing: true)
        #expect(try take(from: places)?.userInfo["note"] as? String == "second")
    }

    @Test func `is cleared with the status`() async throws {
        let places = try await Places.withSmallArchive()
        try await exportSource(of: places, activity())
        try await places.importArchive()
        try places.destinationContainer.clearImportRecord()
        #expect(try take(from: places) == nil)
    }

    @Test func `what was read of the status stays known once it is taken`() async throws {
        let places = try await Places.withSmallArchive()
        try await exportSource(of: places, activity())
        try await places.importArchive()
        let container = try places.destinationContainer
        try MigrationStatus.$given.withValue(container) {
            _ = MigrationStatus.importStatus
            let date = try container.importRecordReadDate()
            #expect(date != nil)
            _ = try container.takeResumeActivity(ofTypes: [Self.type])
            #expect(try container.importRecordReadDate() == date)
        }
    }

    @Test func `takes 64 KiB, and no more`() async throws {
        let places = try await Places.withSmallArchive()
        let overhead = try ResumeActivity(activityType: Self.type, userInfo: ["x": ""]).encoded
            .count
        let room = ResumeActivity.sizeLimit - overhead
        let full = try ResumeActivity(
            activityType: Self.type,
            userInfo: ["x": String(repeating: "x", count: room)]
        )
        try await exportSource(of: places, full)
        try await places.importArchive()
        #expect(try take(from: places) == full)
        #expect(throws: MigrationError.self) {
            try ResumeActivity(
                activityType: Self.type,
                userInfo: ["x": String(repeating: "x", count: room + 1)]
            )
        }
    }

    @Test func `carries every type that an activity of a person may hold`() async throws {
        let url = try #require(URL(string: "https://example.com/a%20b?c=d#e"))
        let values: [String: AnyHashable] = [
            "text": "a & <b>\r\n", "number": -7, "large": UInt64.max, "real": 0.1, "yes": true,
            "date": Date(timeIntervalSinceReferenceDate: 7), "data": Data([0, 255]), "url": url,
            "uuid": UUID(), "null": NSNull(), "set": Set<AnyHashable>(["a", 1, url]),
            "array": [url, NSNull(), ["a": 1] as [String: AnyHashable]] as [AnyHashable],
            "tag": ["migration:url": "no URL"], "two": ["migration:a": 1, "migration:b": 2],
            "nested": ["migration:dictionary": [Set<AnyHashable>(["y"])] as [AnyHashable]],
        ]
        let places = try await Places.withSmallArchive()
        let sent = try ResumeActivity(activityType: Self.type, userInfo: values)
        try await exportSource(of: places, sent)
        try await places.importArchive()
        let taken = try #require(try take(from: places)).userInfo
        for (key, value) in values { #expect(taken[key] as? AnyHashable == value, "\(key)") }
        #expect(taken.count == values.count)
        let again = try ResumeActivity(activityType: Self.type, userInfo: taken)
        #expect(again.encoded == sent.encoded)
    }

    @Test(arguments: ["", "text", "<?xml version=\"1.0\"?><plist><array/></plist>"])
    func `an archive with something else in its place is damaged`(_ text: String) async throws {
        let places = try Places()
        let header = ArchiveHeader.sample(activity: Data(text.utf8))
        let writer = try ArchiveWriter(creating: places.archive.url, header: header)
        _ = try writer.finish()
        let source = ArchiveSource.file(path: places.archive)
        let container = try MigrationDataContainer(
            atPath: places.destination,
            bundleIdentifier: "a.b"
        )
        let errors = [
            await #expect(throws: ArchiveError.self) {
                try await MigrationHost().import(source, into: container)
            },
            await #expect(throws: ArchiveError.self) {
                try await MigrationHost().previewImport(of: source, into: container)
            },
            await #expect(throws: ArchiveError.self) { try await source.verify() },
        ]
        #expect(Set(errors.map { $0?.description }).count == 1)
        #expect(!places.destination.exists)
        // The other properties of the archive are visible.
        #expect(try await source.inspect().header == header)
    }
}
