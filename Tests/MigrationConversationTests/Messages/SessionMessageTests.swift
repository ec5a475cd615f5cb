import Foundation
import MigrationContract
import MigrationSystem
import Testing

@testable import MigrationConversation

/// The bytes of messages, and bytes that aren't messages.
struct SessionMessageTests {
    private let name: [UInt8] = [0x61, 0x2F, 0xFF, 0x0A]
    private let source = BytePath([0x2F, 0xFE, 0x62])

    private func kindAndPayload(_ bytes: [UInt8]) -> (UInt8, ArraySlice<UInt8>) {
        (bytes[4], bytes[5...])
    }

    @Test(arguments: [nil, 0, 7, UInt32.max] as [UInt32?])
    func `carries an append to the byte`(_ answer: UInt32?) throws {
        let sent = ExtensionMessage.append(answer: answer, source: source, name: name)
        let (kind, payload) = kindAndPayload(try sent.encoded())
        let read = try ExtensionMessage(kind: kind, payload: payload)
        guard case .append(answer, source, name) = read else {
            Issue.record("\(read)")
            return
        }
    }

    /// A process isn't trusted: each cut of an append, and each wrong length in it, is refused.
    @Test func `refuses an append that is cut or lies about its length`() throws {
        let whole = try ExtensionMessage.append(answer: 7, source: source, name: []).encoded()
        let (kind, payload) = kindAndPayload(whole)
        for count in 0..<payload.count {
            #expect(throws: MigrationError.self, "\(count)") {
                _ = try ExtensionMessage(kind: kind, payload: payload.prefix(count))
            }
        }
        for (offset, value) in [(4, 2), (5, 4), (8, 0x80)] as [(Int, UInt8)] {
            var bytes = payload
            bytes[bytes.startIndex + offset] = value
            #expect(throws: MigrationError.self, "\(offset)") {
                _ = try ExtensionMessage(kind: kind, payload: bytes)
            }
        }
    }

    @Test(arguments: [0, 6, 32, 38, 255] as [UInt8])
    func `refuses a kind of the other side or of no side`(_ kind: UInt8) {
        let error = #expect(throws: MigrationError.self) {
            _ = try ExtensionMessage(kind: kind, payload: [])
        }
        #expect(error?.code == .sessionFailed)
        guard kind != 6 else { return }
        #expect(throws: MigrationError.self) { _ = try HostMessage(kind: kind, payload: []) }
    }

    @Test(arguments: ["", "{", "[]", "{\"version\":\"x\"}", "{\"code\":1}"])
    func `refuses JSON that isn't the value`(_ json: String) {
        for kind in [33, 35, 36, 37] as [UInt8] {
            let error = #expect(throws: MigrationError.self, "\(kind)") {
                _ = try ExtensionMessage(kind: kind, payload: Array(json.utf8)[...])
            }
            #expect(error?.code == .sessionFailed)
        }
    }

    @Test func `carries the host's answers`() throws {
        var (kind, payload) = kindAndPayload(try HostMessage.accepted(513).encoded())
        guard case .accepted(513) = try HostMessage(kind: kind, payload: payload) else {
            Issue.record("no acceptance")
            return
        }
        let error = MigrationError(.outsideContainer, "lies outside", path: source)
        (kind, payload) = kindAndPayload(try HostMessage.rejected(9, CarriedError(error)).encoded())
        guard case .rejected(9, let carried) = try HostMessage(kind: kind, payload: payload) else {
            Issue.record("no rejection")
            return
        }
        #expect("\(carried.carried)" == "\(error)")
        #expect(throws: MigrationError.self) {
            _ = try HostMessage(kind: 4, payload: [1, 2, 3])
        }
    }

    @Test func `shows a fraction where a child's progress is between two units`() throws {
        let parent = Progress(totalUnitCount: 4)
        let child = Progress(totalUnitCount: 2, parent: parent, pendingUnitCount: 2)
        child.completedUnitCount = 1
        let progress = ImportProgress(of: parent)
        #expect(progress.units == (ImportProgress.scale / 4, ImportProgress.scale))
        child.completedUnitCount = 2
        let later = ImportProgress(of: parent)
        #expect(later.hasMoved(since: progress) && !later.hasMoved(since: later))
        #expect(later.units == (2, 4))
    }
}
