import Foundation
import Glibc
import MigrationSystem
import Testing

@testable import MigrationConversation

/// The two ends of a session, in one process.
struct ChannelPair {
    let host: SessionChannel
    let process: SessionChannel

    init(hostLimit: Int = SessionChannel.hostLimit) throws {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        host = SessionChannel(OpenFile(FileDescriptor(adopting: ends[0])), limit: hostLimit)
        process = SessionChannel(
            OpenFile(FileDescriptor(adopting: ends[1])),
            limit: SessionChannel.extensionLimit
        )
    }
}

extension SessionChannel {
    /// Waits for the next message; `nil` at the end.
    func message() throws -> (kind: UInt8, payload: ArraySlice<UInt8>)? {
        while true {
            if let message = try nextMessage() { return message }
            guard try receive() else { return nil }
        }
    }

    /// Waits for the next message of an extension's process, on a thread that no task needs.
    func answer() async throws -> ExtensionMessage {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(
                    with: Result {
                        let message = try #require(try message())
                        return try ExtensionMessage(kind: message.kind, payload: message.payload)
                    }
                )
            }
        }
    }
}
