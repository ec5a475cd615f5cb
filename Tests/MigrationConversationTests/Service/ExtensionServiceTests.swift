import Foundation
import Glibc
import MigrationContract
import MigrationSystem
import Testing

@testable import MigrationConversation

/// A process of an extension, as its host sees it.
struct ExtensionServiceTests {
    private let program = Bundle.main.bundleURL.appending(path: "scripted-extension")

    /// Sends `messages` to a process of an extension and closes the session; returns how the process ends.
    private func exitCode(after messages: [[UInt8]]) throws -> Int32 {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let process = Process()
        process.executableURL = program
        process.environment = ProcessInfo.processInfo.environment
            .merging([ExtensionService.sessionVariable: "0"]) { $1 }
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let host = SessionChannel(OpenFile(FileDescriptor(adopting: ends[0])), limit: 1 << 20)
        for message in messages { try host.send(message) }
        shutdown(ends[0], CInt(SHUT_WR))
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return process.terminationStatus
    }

    private func start(version: Int = sessionVersion) throws -> [UInt8] {
        var start = SessionStart(
            container: Data("/".utf8),
            bundleIdentifier: "a.b",
            temporaryDirectory: Data("/tmp".utf8),
            groups: [:],
            appendPolicy: .answered,
            grants: []
        )
        start.version = version
        return try HostMessage.begin(start).encoded()
    }

    @Test func `ends when its host is gone`() throws {
        #expect(try exitCode(after: []) == 0)
        #expect(try exitCode(after: [start()]) == 0)
    }

    @Test func `refuses a host of another version, and what isn't a message`() throws {
        for version in [sessionVersion - 1, sessionVersion + 1] {
            #expect(try exitCode(after: [start(version: version)]) == 76)
        }
        #expect(try exitCode(after: [[1, 0, 0, 0, 99]]) == 76)
    }
}
