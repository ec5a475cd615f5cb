internal import Glibc
@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationCore
@testable internal import MigrationSystem

/// Passes bytes through the socket of a session, in pieces, and takes the messages out of it.
enum MessageFeed {
    typealias Message = (kind: UInt8, payload: ArraySlice<UInt8>)

    /// The number of bytes that the socket surely holds while nobody reads.
    private static let largestPiece = 32 << 10

    /// Sends `bytes` in pieces of `size` and calls `body` with each message that comes out.
    static func feed(
        _ bytes: [UInt8],
        inPiecesOf size: Int,
        limit: Int,
        _ body: (Message) throws -> Void
    ) throws {
        let (near, far) = makeSocket()
        let channel = SessionChannel(OpenFile(FileDescriptor(adopting: near)), limit: limit)
        defer { close(far) }
        var expected = bytes[...]
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(min(max(1, size), largestPiece))
            rest = rest.dropFirst(piece.count)
            let sent = piece.withUnsafeBytes { send(far, $0.baseAddress, $0.count, 0) }
            FuzzTarget.require(sent == piece.count, "the socket takes a piece")
            guard try channel.receive() else { fatalError("the stream does not end yet") }
            while let message = try channel.nextMessage() {
                check(message, against: &expected, limit: limit)
                try body(message)
            }
        }
    }

    /// Checks that `message` is the next one in the bytes that were sent.
    private static func check(
        _ message: Message,
        against expected: inout ArraySlice<UInt8>,
        limit: Int
    ) {
        let length = message.payload.count + 1
        FuzzTarget.require(length <= limit, "a message is within the limit")
        let claimed = Int(expected.littleEndian(at: expected.startIndex, as: UInt32.self))
        FuzzTarget.require(claimed == length, "a message is as long as it says")
        let isSame = expected.dropFirst(4).prefix(length).elementsEqual(
            [message.kind] + message.payload
        )
        FuzzTarget.require(isSame, "a message comes out as it went in")
        expected = expected.dropFirst(4 + length)
    }

    private static func makeSocket() -> (near: CInt, far: CInt) {
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            fatalError("there is no socket")
        }
        return (ends[0], ends[1])
    }
}
