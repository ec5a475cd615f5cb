import Foundation
import MigrationContract
import MigrationSystem
import Testing

@testable import MigrationConversation

/// Messages between the two ends of a socket.
struct SessionChannelTests {
    private func message(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendMessage(kind) { $0 += payload }
        return bytes
    }

    @Test func `writes the length in front, little-endian, without itself`() {
        #expect(message(7, [1, 2]) == [3, 0, 0, 0, 7, 1, 2])
        #expect(message(7, []) == [1, 0, 0, 0, 7])
    }

    @Test(arguments: [0, 1, 65_530, 65_531, 65_532, 200_000])
    func `gives a message when all of it has come`(_ size: Int) throws {
        let pair = try ChannelPair()
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = message(7, payload) + message(8, [])
        for start in stride(from: 0, to: bytes.count, by: 4093) {
            try pair.process.send(Array(bytes[start...].prefix(4093)))
            #expect(try pair.host.receive())
            if start + 4093 < bytes.count - 5 { #expect(try pair.host.nextMessage() == nil) }
        }
        let first = try #require(try pair.host.message())
        #expect(first.kind == 7 && first.payload.elementsEqual(payload))
        let second = try #require(try pair.host.message())
        #expect(second.kind == 8 && second.payload.isEmpty)
        #expect(try pair.host.nextMessage() == nil)
    }

    @Test(arguments: [[0, 0, 0, 0, 7], [101, 0, 0, 0, 7], [255, 255, 255, 255, 7]] as [[UInt8]])
    func `refuses a message that is empty or over the limit before it has come`(
        _ bytes: [UInt8]
    ) throws {
        let pair = try ChannelPair(hostLimit: 100)
        try pair.process.send(bytes)
        #expect(try pair.host.receive())
        let error = #expect(throws: MigrationError.self) { try pair.host.nextMessage() }
        #expect(error?.code == .sessionFailed)
    }

    @Test func `takes a message of exactly the limit`() throws {
        let pair = try ChannelPair(hostLimit: 100)
        try pair.process.send(message(7, [UInt8](repeating: 1, count: 99)))
        #expect(try pair.host.message()?.payload.count == 99)
    }

    @Test func `says nothing where nothing has come, and the end at the end`() throws {
        var pair: ChannelPair? = try ChannelPair()
        let host = try #require(pair?.host)
        #expect(try host.receiveSome())
        #expect(try host.nextMessage() == nil)
        pair = nil
        #expect(try !host.receiveSome())
        #expect(try !host.receive())
    }

    @Test func `keeps the order of messages that wait and of those that don't`() throws {
        let pair = try ChannelPair()
        for kind in UInt8(1)...9 { try pair.process.sendSoon(message(kind, [])) }
        #expect(try pair.host.receiveSome())
        #expect(try pair.host.nextMessage() == nil)
        try pair.process.send(message(10, []))
        let kinds = try (1...10).map { _ in try pair.host.message()?.kind }
        #expect(kinds == Array(1...10))
    }

    @Test func `sends what waits once there is much of it`() throws {
        let pair = try ChannelPair()
        for _ in 0..<9 { try pair.process.sendSoon(message(1, [UInt8](repeating: 0, count: 1000))) }
        #expect(try pair.host.message()?.kind == 1)
    }
}
