internal import Foundation
internal import MigrationContract
package import MigrationSystem

/// One end of the socket between a host and an extension's process.
///
/// A message is its length (four bytes, little-endian, without themselves), a byte for its kind,
/// and its payload.
package final class SessionChannel: Sendable {
    /// The largest message that a host accepts.
    package static let hostLimit = 1 << 20

    /// The largest message that an extension's process accepts; a request contains options.
    package static let extensionLimit = 64 << 20

    /// The number of bytes to collect before sending, if nobody waits for an answer.
    private static let batchSize = 8 << 10

    /// The maximum delay of a message that waits for others, in seconds.
    private static let longestDelay = 0.02

    private struct Inbox {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        /// The start of the first message that was not returned yet.
        var start = 0
        /// The end of the received bytes.
        var end = 0

        /// Makes space at the end.
        mutating func makeRoom() {
            if start > 0 {
                bytes.removeSubrange(..<start)
                bytes.append(contentsOf: repeatElement(0, count: start))
                (start, end) = (0, end - start)
            }
            if end == bytes.count { bytes.append(contentsOf: repeatElement(0, count: end)) }
        }
    }

    private let socket: OpenFile
    private let limit: Int
    private let inbox = Monitor(Inbox())
    private let outbox = Monitor<[UInt8]>([])

    /// Uses `socket`, and accepts messages of at most `limit` bytes.
    package init(_ socket: OpenFile, limit: Int) {
        (self.socket, self.limit) = (socket, limit)
    }

    /// Sends a message, after those of earlier calls.
    package func send(_ message: [UInt8]) throws(SystemError) {
        try outbox.withLock { outbox throws(SystemError) in
            outbox += message
            try send(&outbox)
        }
    }

    /// Sends a message together with later ones, at the latest when ``flushRegularly()`` does.
    package func sendSoon(_ message: [UInt8]) throws(SystemError) {
        try outbox.withLock { outbox throws(SystemError) in
            outbox += message
            if outbox.count >= Self.batchSize { try send(&outbox) }
        }
    }

    /// Sends bytes of a message from `start` without waiting; returns how many were sent.
    package func sendSome(_ message: [UInt8], from start: Int) throws(SystemError) -> Int {
        try socket.descriptor.sendSome(message.span.extracting(droppingFirst: start))
    }

    /// Sends the messages that ``sendSoon(_:)`` collects, after a short delay; never returns.
    package func flushRegularly() {
        while true {
            outbox.wait { $0.isEmpty ? nil : () }
            Thread.sleep(forTimeInterval: Self.longestDelay)
            outbox.withLock { outbox in
                // If the host is gone, the thread that reads from it ends the process.
                if !outbox.isEmpty { try? send(&outbox) }
            }
        }
    }

    private func send(_ outbox: inout [UInt8]) throws(SystemError) {
        defer { outbox.removeAll(keepingCapacity: true) }
        try socket.descriptor.sendAll(outbox.span)
    }

    /// Reads the available bytes, and waits if there are none; returns `false` at the end.
    package func receive() throws(SystemError) -> Bool {
        try receive { socket, bytes, start, count throws(SystemError) in
            try socket.receive(into: &bytes, from: start, count: count)
        }
    }

    /// Reads the available bytes without waiting; returns `false` at the end of the stream.
    package func receiveSome() throws(SystemError) -> Bool {
        try receive { socket, bytes, start, count throws(SystemError) in
            try socket.receiveSome(into: &bytes, from: start, count: count)
        }
    }

    private func receive(
        by read: (borrowing FileDescriptor, inout [UInt8], Int, Int) throws(SystemError) -> Int?
    ) throws(SystemError) -> Bool {
        try inbox.withLock { inbox throws(SystemError) in
            if inbox.start == inbox.end {
                (inbox.start, inbox.end) = (0, 0)
            } else if inbox.end == inbox.bytes.count {
                inbox.makeRoom()
            }
            let room = inbox.bytes.count - inbox.end
            let count = try read(socket.descriptor, &inbox.bytes, inbox.end, room)
            inbox.end += count ?? 0
            return count != 0
        }
    }

    /// Returns the next complete message; `nil` if more bytes must be received first.
    ///
    /// - Throws: ``MigrationError`` of code `sessionFailed` if the message exceeds the limit.
    package func nextMessage() throws -> (kind: UInt8, payload: ArraySlice<UInt8>)? {
        try inbox.withLock { inbox in
            let rest = inbox.bytes[inbox.start..<inbox.end]
            guard rest.count >= 5 else { return nil }
            let length = Int(rest.littleEndian(at: inbox.start, as: UInt32.self))
            guard (1...limit).contains(length) else {
                let message = "a message of \(length) bytes is over the limit, or empty"
                throw MigrationError(.sessionFailed, message)
            }
            guard rest.count >= 4 + length else { return nil }
            inbox.start += 4 + length
            return (rest[rest.startIndex + 4], rest[(rest.startIndex + 5)...].prefix(length - 1))
        }
    }
}

extension [UInt8] {
    /// Appends a message whose payload `body` writes.
    mutating func appendMessage(
        _ kind: UInt8,
        payload body: (inout [UInt8]) throws -> Void
    ) rethrows {
        let start = count
        append(contentsOf: [0, 0, 0, 0, kind])
        try body(&self)
        var length: [UInt8] = []
        length.appendLittleEndian(UInt32(count - start - 4))
        replaceSubrange(start..<start + 4, with: length)
    }
}
