import Foundation
import MigrationContract
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationConversation

/// The appends of an extension's process, without a process.
@Suite(.scratchDirectory)
struct RemoteAppendsTests {
    private let container: BytePath
    private let pair: ChannelPair

    init() throws {
        container = try BytePath.scratch / "container"
        try container.makeDirectory()
        try (container / "Documents").makeDirectory()
        try (container / "Documents/a").write("a")
        try (container / ".migration").makeDirectory()
        try (container / ".migration/x").write("not archived")
        pair = try ChannelPair()
    }

    private func appends(_ policy: AppendPolicy) throws -> RemoteAppends {
        try RemoteAppends(sendingThrough: pair.process, container: container, policy: policy)
    }

    private func append(_ path: String, _ appends: RemoteAppends) async throws {
        try await appends.append(itemAt: container / BytePath(path), as: [UInt8](path.utf8))
    }

    /// Waits for an append that asks for an answer, and returns its number.
    private func number() async throws -> UInt32 {
        guard case .append(let number?, _, _) = try await pair.host.answer() else {
            throw MigrationError(.sessionFailed, "no append that waits")
        }
        return number
    }

    @Test func `waits for the answer of its own number`() async throws {
        let appends = try appends(.answered)
        let first = Task { try await append("Documents/a", appends) }
        let number = try await number()
        appends.resolve(number &+ 1, with: .success(()))
        appends.resolve(number, with: .failure(MigrationError(.outsideContainer, "no")))
        await #expect(throws: MigrationError.self) { try await first.value }
        let second = Task { try await append("Documents/a", appends) }
        appends.resolve(try await self.number(), with: .success(()))
        try await second.value
        #expect(!appends.wasCancelled)
    }

    /// A file in the container is certain to be archived, once; all other appends wait.
    @Test func `asks for no answer only where it is certain`() async throws {
        let appends = try appends(.ahead)
        Thread.detachNewThread { [process = pair.process] in process.flushRegularly() }
        try await append("Documents/a", appends)
        guard case .append(nil, _, _) = try await pair.host.answer() else {
            Issue.record("it asks for an answer")
            return
        }
        for path in ["Documents/a", "Documents", "Documents/missing", ".migration/x", "../a"] {
            let waiting = Task { try await append(path, appends) }
            let message = try await pair.host.answer()
            guard case .append(let number?, _, let name) = message else {
                Issue.record("\(message)")
                return
            }
            #expect(name == [UInt8](path.utf8))
            appends.resolve(number, with: .failure(MigrationError(.outsideContainer, "no")))
            await #expect(throws: MigrationError.self, "\(path)") { try await waiting.value }
        }
    }

    @Test func `asks for every file in a directory that was appended whole`() async throws {
        let appends = try appends(.ahead)
        let directory = Task { try await append("Documents", appends) }
        appends.resolve(try await number(), with: .success(()))
        try await directory.value
        let file = Task { try await append("Documents/a", appends) }
        appends.resolve(try await number(), with: .failure(MigrationError(.outsideContainer, "no")))
        await #expect(throws: MigrationError.self) { try await file.value }
    }

    @Test func `ends those that wait, and all later ones, when it is cancelled`() async throws {
        let appends = try appends(.answered)
        let waiting = Task { try await append("Documents/a", appends) }
        _ = try await number()
        appends.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: CancellationError.self) { try await append("Documents/a", appends) }
        #expect(appends.wasCancelled)
    }
}
