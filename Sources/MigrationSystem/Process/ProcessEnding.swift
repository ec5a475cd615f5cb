internal import Glibc

/// How a program ended.
package enum ProcessEnding: Sendable, Hashable {
    /// It returned or exited with a code.
    case exited(Int32)
    /// A signal ended it.
    case signaled(Int32)

    /// Reads a status as `wait(2)` gives it.
    init(status: CInt) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
    }

    /// The system's name of a signal.
    package static func name(ofSignal number: Int32) -> String {
        unsafe String(cString: strsignal(number))
    }
}
