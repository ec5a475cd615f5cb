import Foundation
import MigrationContract
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// The activity of a person that an extension names.
@Suite(.scratchDirectory)
struct ExtensionActivityTests {
    @Test func `an extension says what the person was doing, unless the export does`() async throws
    {
        let scratch = try BytePath.scratch
        let source = scratch / "com.example.notes"
        try source.makeDirectory()
        try (source / "Documents").makeDirectory()
        let container = try MigrationDataContainer(atPath: source)
        for asked in [nil, try ResumeActivity(activityType: "a", userInfo: ["note": "asked"])] {
            var options = ExportOptions()
            options.activity = asked
            let report = try await MigrationHost().export(
                container,
                to: .file(path: scratch / "archive", replacesExisting: true),
                using: .inProcess(EditorExporter()),
                options: options
            )
            let encoded = try #require(report.header.activity)
            let note = try ResumeActivity(encoded: encoded).userInfo["note"] as? String
            #expect(note == (asked == nil ? "of the extension" : "asked"))
        }
    }
}

/// Exports with an activity of the person.
private struct EditorExporter: SampleExporting, ResourcesExporting, ResumeActivityExporting {
    var resumeActivity: ResumeActivity? {
        try? ResumeActivity(activityType: "editing", userInfo: ["note": "of the extension"])
    }
}
