internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// The flags of an export or import that name files about it.
struct RecordFlags: FlagGroup {
    fileprivate var page: BytePath?
    fileprivate var sessionLog: BytePath?

    static let topic: FlagTopic? = .running

    static var flags: [Flag<Self>] {
        Flag("report", value: "file", as: .path, to: \.page)
            .help("Write a page like that of 'migrate report' to this file, which is replaced.")
        Flag("session-log", value: "file", as: .path, to: \.sessionLog)
            .help(
                "Write what the extension did and when to this file, as JSON for 'migrate report "
                    + "--session'; it is replaced."
            )
            .needing(ExtensionFlags.executable)
    }
}

/// The files that an export or import writes about itself: a page, and the log of its session.
final class OperationRecord: Sendable {
    private let flags: RecordFlags
    private let tree = Monitor(ReportTree())
    private let timeline = Monitor<SessionTimeline?>(nil)

    /// Begins a record.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed` if the directory of a file can't be opened.
    init(_ flags: RecordFlags) throws {
        self.flags = flags
        if let path = flags.page { try PageFile.checkDirectory(of: path, named: "--report") }
        if let path = flags.sessionLog {
            try PageFile.checkDirectory(of: path, named: "--session-log")
        }
    }

    /// A handler of entries that counts them for the page, besides `other`.
    func entryHandler(
        besides other: (@Sendable (ArchiveEntry) -> Void)?
    ) -> (@Sendable (ArchiveEntry) -> Void)? {
        guard flags.page != nil else { return other }
        return { [self] entry in
            tree.withLock { $0.add(entry) }
            other?(entry)
        }
    }

    /// The extension, whose sessions are recorded.
    func recording(_ hosted: MigrationExtension?) -> MigrationExtension? {
        guard var hosted else { return nil }
        hosted.timelineHandler = { [self] timeline in self.timeline.withLock { $0 = timeline } }
        return hosted
    }

    /// Writes the files about an operation that succeeded.
    func finish(_ page: (ReportTree, SessionLog?) throws -> ReportPage) throws {
        let log = timeline.withLock { $0 }.map { SessionLog(timeline: $0, error: nil) }
        try write(log)
        guard let path = flags.page else { return }
        let html = try page(tree.withLock { $0 }, log).html()
        try PageFile.write(html, at: path, replacesExisting: true)
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
        guard let path = flags.sessionLog, let log else { return }
        try PageFile.write(try JSONText.document(log), at: path, replacesExisting: true)
    }
}

/// A file that a command writes besides its answer.
enum PageFile {
    /// Writes `text` as the file at `path`.
    static func write(
        _ text: String,
        at path: BytePath,
        replacesExisting: Bool
    ) throws(MigrationError) {
        do throws(SystemError) {
            try PendingFile.write(
                [UInt8](text.utf8),
                at: BytePath(resolving: path),
                replacesExisting: replacesExisting
            )
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Throws if the directory of a file can't be opened.
    fileprivate static func checkDirectory(
        of path: BytePath,
        named flag: String
    ) throws(MigrationError) {
        do throws(SystemError) {
            _ = try FileDescriptor.open(BytePath(resolving: path).parent, .directory)
        } catch {
            let message = "the directory of \(flag) can't be used"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }

    private static func failure(_ error: SystemError, at path: BytePath) -> MigrationError {
        MigrationError(
            error.isExisting ? .outputExists : .outputFailed,
            error.isExisting ? "the file exists already" : "the file can't be written",
            path: path,
            cause: error.isExisting ? nil : error
        )
    }
}
