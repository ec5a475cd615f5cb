internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags of an export or import that name files about it.
struct RecordFlags: FlagGroup {
    private var page: BytePath?
    private var sessionLog: BytePath?

    static let topic: FlagTopic? = .running

    static var flags: [Flag<Self>] {
        Flag("report", value: "file", as: .outputPath, to: \.page)
            .help("Write a page like that of 'migrate report' to this file, which is replaced.")
        Flag("session-log", value: "file", as: .outputPath, to: \.sessionLog)
            .help(
                "Write what the extension did and when to this file, as JSON for 'migrate report "
                    + "--session'; it is replaced."
            )
            .needing(ExtensionFlags.executable)
    }

    /// Begins a record in the files that the flags name.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed` if a file can't be made or written to.
    func record() throws -> OperationRecord {
        OperationRecord(
            page: try page.map {
                try PageFile(at: $0, named: "--report", replacesExisting: true)
            },
            sessionLog: try sessionLog.map {
                try PageFile(at: $0, named: "--session-log", replacesExisting: true)
            },
            .ofFlags
        ) { ErrorMessage($0).description }
    }
}
