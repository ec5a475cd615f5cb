import MigrationSystem
import Testing

/// Commands that never see a truncated stream.
///
/// Each test is a process of its own, because a command's orphans become children of the process that started it.
struct GuardedCommandTests {
    private static func start(
        _ command: String,
        _ direction: GuardedCommand.Direction
    ) throws -> GuardedCommand {
        try GuardedCommand.start([UInt8](command.utf8), direction: direction)
    }

    @Test func `takes the whole stream, and ends by itself`() async {
        await #expect(processExitsWith: .success) {
            let command = try GuardedCommandTests.start("cat >&2; exit 3", .taking)
            var stream: OpenFile? = OpenFile(try command.openStream())
            try stream?.descriptor.writeAll([UInt8]("one\ntwo\n".utf8).span)
            #expect(command.ending == nil)
            let ending = command.complete(closing: { stream = nil }, unless: CancellationFlag())
            #expect(ending == .ended(.exited(3)))
            #expect(command.printedLines == ["one", "two"])
        }
    }

    @Test func `gives its stream, and says how it ended`() async {
        await #expect(processExitsWith: .success) {
            let command = try GuardedCommandTests.start("printf content; exit 4", .giving)
            let stream = OpenFile(try command.openStream())
            var content: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 100)
            while case let count = try stream.descriptor.read(into: &buffer, from: 0, count: 100),
                count > 0
            { content += buffer[..<count] }
            #expect(content == [UInt8]("content".utf8))
            #expect(command.wait(unless: CancellationFlag()) == .ended(.exited(4)))
        }
    }

    @Test func `is killed when it is cancelled, and sees no end`() async {
        await #expect(processExitsWith: .success) {
            let command = try GuardedCommandTests.start("cat; echo end >&2", .taking)
            #expect(command.cancel() == .cancelled)
            #expect(command.ending == .cancelled && command.printedLines == [])
            let flag = CancellationFlag()
            flag.cancel()
            let other = try GuardedCommandTests.start("exec sleep 1000", .giving)
            #expect(other.wait(unless: flag) == .cancelled)
        }
    }
}
