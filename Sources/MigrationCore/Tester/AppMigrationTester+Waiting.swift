internal import Synchronization

// Additions to Apple's interface.

extension AppMigrationTester {
    private static let limit = Mutex(Duration.zero)

    /// How long testers wait for a container that another process uses; by default not at all.
    ///
    /// For operations of their own process they wait as long as those take. An addition to Apple's
    /// interface.
    public static var waitLimit: Duration {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }
}

extension MigrationHost {
    /// A host that waits as testers do.
    static var forTests: MigrationHost {
        var host = MigrationHost()
        host.waitLimit = AppMigrationTester.waitLimit
        // What an extension in this process calls must not wait for the operation that called it.
        host.queues = ExtensionContext.current?.temporaryDirectory == nil
        return host
    }
}
