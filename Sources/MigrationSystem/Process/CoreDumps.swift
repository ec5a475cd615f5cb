internal import CMigrationShims

/// Whether this process may leave its memory in a core dump, or be looked into by a debugger.
///
/// A process that is forked meanwhile is treated alike until it becomes another program.
package enum CoreDumps {
    private struct State {
        var holders = 0
        var former: CInt = 1
    }

    private static let state = Monitor(State())

    /// Lets nothing be dumped until ``allow()`` was called as often as this.
    package static func prevent() {
        state.withLock { state in
            state.holders += 1
            guard state.holders == 1 else { return }
            state.former = migration_dumpable()
            _ = migration_set_dumpable(0)
        }
    }

    /// Takes one ``prevent()`` back.
    package static func allow() {
        state.withLock { state in
            state.holders -= 1
            // A value of 2, which only the system sets, can't be set again.
            guard state.holders == 0, state.former == 1 else { return }
            _ = migration_set_dumpable(1)
        }
    }

    /// Whether the process may be dumped now.
    package static var areAllowed: Bool { migration_dumpable() != 0 }
}
