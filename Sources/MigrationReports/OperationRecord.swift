package import MigrationArchive
internal import MigrationCore
package import MigrationHosting
internal import MigrationSystem

/// The files that an export or import writes about itself: a page, and the log of its session.
package final class OperationRecord: Sendable {
    private let page: PageFile?
    private let sessionLog: PageFile?
    private let tree = Monitor(ReportTree())
    private let timeline = Monitor<SessionTimeline?>(nil)

    private let wording: Wording
    private let message: @Sendable (any Error) -> String

    /// Begins a record in files that already exist.
    ///
    /// - Parameters:
    ///   - page: The page; `nil` for none.
    ///   - sessionLog: The log of an extension's session; `nil` for none.
    ///   - wording: How the program words remedies.
    ///   - message: The message about an error.
    package init(
        page: PageFile?,
        sessionLog: PageFile?,
        _ wording: Wording,
        message: @escaping @Sendable (any Error) -> String
    ) {
        (self.page, self.sessionLog) = (page, sessionLog)
        (self.wording, self.message) = (wording, message)
    }

    /// A handler of entries that counts them for the page, besides `other`.
    package func entryHandler(
        besides other: (@Sendable (ArchiveEntry) -> Void)?
    ) -> (@Sendable (ArchiveEntry) -> Void)? {
        guard page != nil else { return other }
        return { [self] entry in
            tree.withLock { $0.add(entry) }
            other?(entry)
        }
    }

    /// Records the sessions of an extension.
    package func watch(_ hosted: inout MigrationExtension) {
        hosted.timelineHandler = { [self] timeline in self.timeline.withLock { $0 = timeline } }
    }

    /// Writes the files about an operation that succeeded.
    package func finish(_ page: (ReportTree, SessionLog?) throws -> ReportPage) throws {
        let log = timeline.withLock { $0 }.map { SessionLog(timeline: $0, error: nil) }
        try write(log)
        guard let file = self.page else { return }
        var shown = try page(tree.withLock { $0 }, log)
        shown.advice = wording.advice
        try file.write(try shown.html())
    }

    /// Performs `operation`, and writes the log of its session if it fails; calls `warn` if that
    /// fails too.
    package func watching<Result>(
        warning warn: (any Error) -> Void,
        _ operation: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await operation()
        } catch {
            let log = timeline.withLock { $0 }
            do {
                try write(log.map { SessionLog(timeline: $0, error: message(error)) })
            } catch {
                warn(error)
            }
            throw error
        }
    }

    private func write(_ log: SessionLog?) throws {
        guard let sessionLog, let log else { return }
        try sessionLog.write(try JSONText.document(log))
    }
}
