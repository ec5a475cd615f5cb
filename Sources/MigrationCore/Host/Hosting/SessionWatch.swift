internal import MigrationSystem

/// Decides while a host waits for an extension whether it may go on waiting.
struct SessionWatch {
    private let limits: SessionLimits
    private let observer: SessionObserver
    private let name: String
    private var cancelledAt: SuspendingClock.Instant?

    init(_ limits: SessionLimits, _ observer: SessionObserver, name: String) {
        self.limits = limits
        self.observer = observer
        self.name = name
    }

    /// Whether the extension was told to stop, or is about to be.
    var isCancelled: Bool { cancelledAt != nil || limits.cancellation.isCancelled }

    /// Looks at the limits; returns `true` once, when the extension is to be told to stop.
    ///
    /// - Throws: ``MigrationError`` of code `extensionHung` or `cancellationIgnored`, upon which the
    ///   extension is to be ended.
    mutating func check() throws(MigrationError) -> Bool {
        if let cancelledAt {
            guard SuspendingClock.now - cancelledAt > limits.gracePeriod else { return false }
            throw SessionFailure.ignoredCancellation(name, limits.gracePeriod)
        }
        if limits.cancellation.isCancelled {
            cancelledAt = .now
            return true
        }
        guard observer.idleTime > limits.hangTimeout else { return false }
        throw SessionFailure.hang(name, limits.hangTimeout)
    }

    /// What an error that the extension threw means for the session.
    func failure(of error: any Error) -> any Error {
        if isCancelled { return CancellationError() }
        return SessionFailure.thrown(name, error)
    }
}
