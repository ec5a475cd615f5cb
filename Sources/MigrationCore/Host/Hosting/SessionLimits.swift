internal import MigrationSystem

/// How long an extension may take, and whether it must stop.
struct SessionLimits {
    let hangTimeout: Duration
    let gracePeriod: Duration
    let cancellation: CancellationFlag

    /// How often limits are looked at.
    static let interval = Duration.milliseconds(50)
}
