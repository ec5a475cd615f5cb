internal import Glibc

extension FileDescriptor {
    /// Writes all of `bytes` to this socket; a peer that is gone is an error, not a signal.
    package borrowing func sendAll(_ bytes: Span<UInt8>) throws(SystemError) {
        let rawValue = rawValue
        var rest = bytes
        while !rest.isEmpty {
            let count = try retryingOnInterrupt("send") {
                unsafe rest.withUnsafeBytes {
                    unsafe send(rawValue, $0.baseAddress, $0.count, noSignal)
                }
            }
            rest = rest.extracting(droppingFirst: count)
        }
    }
}

private let noSignal = CInt(MSG_NOSIGNAL)
