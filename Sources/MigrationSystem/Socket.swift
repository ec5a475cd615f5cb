internal import Glibc

extension FileDescriptor {
    /// Writes all of `bytes` to this socket; a closed peer is an error, not a signal.
    package borrowing func sendAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            rest = rest.extracting(droppingFirst: try sendOnce(rest))
        }
    }

    /// Writes as many of `bytes` as possible without waiting; returns the number, which may be 0.
    package borrowing func sendSome(_ bytes: Span<UInt8>) throws(SystemError) -> Int {
        do {
            return try sendOnce(bytes, flags: noSignal | notWaiting)
        } catch {
            guard error.isBusy else { throw error }
            return 0
        }
    }

    /// Reads at most `count` bytes into `buffer` from `start` without waiting.
    ///
    /// A socket can be ready although there is nothing to read.
    ///
    /// - Returns: The number of bytes, 0 at the end of the stream, `nil` if nothing has arrived.
    package borrowing func receiveSome(
        into buffer: inout [UInt8],
        from start: Int,
        count: Int
    ) throws(SystemError) -> Int? {
        do {
            return try receive(into: &buffer, from: start, count: count, flags: notWaiting)
        } catch {
            guard error.isBusy else { throw error }
            return nil
        }
    }

    /// Reads at most `count` bytes into `buffer` from `start`, and waits if nothing has arrived.
    ///
    /// Unlike a read, the kernel doesn't count it among the bytes that a process reads from files.
    ///
    /// - Returns: The number of bytes, 0 at the end of the stream.
    package borrowing func receive(
        into buffer: inout [UInt8],
        from start: Int,
        count: Int,
        flags: CInt = 0
    ) throws(SystemError) -> Int {
        precondition(start >= 0 && count >= 0 && start + count <= buffer.count)
        let rawValue = rawValue
        return try retryingOnInterrupt("recv") {
            unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(rawValue, $0.baseAddress?.advanced(by: start), count, flags)
            }
        }
    }

    private borrowing func sendOnce(
        _ bytes: Span<UInt8>,
        flags: CInt = noSignal
    ) throws(SystemError) -> Int {
        let rawValue = rawValue
        return try retryingOnInterrupt("send") {
            unsafe bytes.withUnsafeBytes {
                unsafe send(rawValue, $0.baseAddress, $0.count, flags)
            }
        }
    }
}

private let noSignal = CInt(MSG_NOSIGNAL)
private let notWaiting = CInt(MSG_DONTWAIT)
