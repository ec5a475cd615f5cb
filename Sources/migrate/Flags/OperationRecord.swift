internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// The flags of an export or import that name files about it.
struct RecordFlags: FlagGroup {
    fileprivate var page: BytePath?
    fileprivate var sessionLog: BytePath?

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
}

/// The files that an export or import writes about itself: a page, and the log of its session.
final class OperationRecord: Sendable {
    private let page: PageFile?
    private let sessionLog: PageFile?
    private let tree = Monitor(ReportTree())
    private let timeline = Monitor<SessionTimeline?>(nil)

    /// Begins a record.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed` if a file can't be made or written to.
    init(_ flags: RecordFlags) throws {
        page = try flags.page.map {
            try PageFile(at: $0, named: "--report", replacesExisting: true)
        }
        sessionLog = try flags.sessionLog.map {
            try PageFile(at: $0, named: "--session-log", replacesExisting: true)
        }
    }

    /// A handler of entries that counts them for the page, besides `other`.
    func entryHandler(
        besides other: (@Sendable (ArchiveEntry) -> Void)?
    ) -> (@Sendable (ArchiveEntry) -> Void)? {
        guard page != nil else { return other }
        return { [self] entry in
            tree.withLock { $0.add(entry) }
            other?(entry)
        }
    }

    /// Records the sessions of an extension.
    func watch(_ hosted: inout MigrationExtension) {
        hosted.timelineHandler = { [self] timeline in self.timeline.withLock { $0 = timeline } }
    }

    /// Writes the files about an operation that succeeded.
    func finish(_ page: (ReportTree, SessionLog?) throws -> ReportPage) throws {
        let log = timeline.withLock { $0 }.map { SessionLog(timeline: $0, error: nil) }
        try write(log)
        guard let file = self.page else { return }
        var shown = try page(tree.withLock { $0 }, log)
        shown.advice = ErrorMessage.Hint.advice
        try file.write(try shown.html())
    }

    /// Performs `operation`, and writes the log of its session if it fails.
    func watching<Result>(
        _ console: Console,
        _ operation: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await operation()
        } catch {
            finish(after: error, on: console)
            throw error
        }
    }

    /// Writes the log of a session that `error` ended; a warning on `console` says if that fails.
    private func finish(after error: any Error, on console: Console) {
        let message = ErrorMessage(error).description
        let log = timeline.withLock { $0 }.map { SessionLog(timeline: $0, error: message) }
        do {
            try write(log)
        } catch {
            console.log("migrate: warning: \(ErrorMessage(error))")
        }
    }

    private func write(_ log: SessionLog?) throws {
        guard let sessionLog, let log else { return }
        try sessionLog.write(try JSONText.document(log))
    }
}
