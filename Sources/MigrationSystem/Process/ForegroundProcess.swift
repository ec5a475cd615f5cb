internal import Glibc

/// A program that runs in the foreground while this process waits for it.
package struct ForegroundProcess: Sendable {
    /// The signal mask and actions of the program.
    package struct Signals {
        let mask: sigset_t
        let defaults: [Int32]

        /// Blocks no signal and changes no action.
        package init() {
            self.init(mask: sigset_t(), defaults: [])
        }

        /// Blocks `mask`, and restores the default action of the signals in `defaults`, which this
        /// process ignores.
        init(mask: sigset_t, defaults: [Int32]) {
            (self.mask, self.defaults) = (mask, defaults)
        }
    }

    private let process: pid_t

    /// Starts `command`, found by `PATH`, with a variable set.
    ///
    /// - Throws: ``SystemError`` if the program can't be run.
    package static func start(
        _ command: [[UInt8]],
        settingVariable assignment: [UInt8],
        signals: Signals
    ) throws(SystemError) -> ForegroundProcess {
        try ProcessReplacement.setVariable(assignment)
        return ForegroundProcess(process: try spawn(command, signals: signals))
    }

    /// Starts `command`; returns the number of its process.
    private static func spawn(
        _ command: [[UInt8]],
        signals: Signals
    ) throws(SystemError) -> pid_t {
        guard let program = command.first else { throw SystemError("posix_spawnp", code: ENOENT) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (signals.mask, sigset_t())
        unsafe sigemptyset(&defaults)
        for number in signals.defaults { unsafe sigaddset(&defaults, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, flags)
        let arguments = CStringList(command)
        var process: pid_t = 0
        let code = program.withPath { program in
            arguments.withPointer { arguments in
                unsafe posix_spawnp(&process, program, nil, &attributes, arguments, environ)
            }
        }
        guard code == 0 else { throw SystemError("posix_spawnp", code: code) }
        return process
    }

    /// Sends the program a signal.
    package func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Waits until the program has ended.
    package func wait() throws(SystemError) -> ProcessEnding {
        var status: Int32 = 0
        let process = process
        _ = try retryingOnInterrupt("waitpid") { unsafe Int(waitpid(process, &status, 0)) }
        return ProcessEnding(status: status)
    }

    /// Ends this process by the signal that ended the program; returns if the signal can't end it.
    package static func end(by signal: Int32) {
        // The program has already written its core dump, if any.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_DFL
        unsafe sigaction(signal, &action, nil)
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, signal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        raise(signal)
    }

    /// Whether the terminal sends its signals both to this process and to the program.
    package static var isInForeground: Bool {
        tcgetpgrp(STDIN_FILENO) == getpgrp()
    }
}
