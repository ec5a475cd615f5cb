import MigrationSystem
import TestSupport
import Testing

struct PipedProcessTests {
    private let cancellation = CancellationFlag()

    private func start(
        _ script: String,
        reading source: OpenFile? = nil,
        files: [OpenFile] = []
    ) throws -> PipedProcess {
        let words = ["sh", "-c", script].map { [UInt8]($0.utf8) }
        return try PipedProcess.start(words, reading: source, files: files)
    }

    @Test func `gives a program its input and its files, and takes its answer`() throws {
        let files = try ["input", "one", "two"].map {
            try OpenFile.inMemory(holding: [UInt8]($0.utf8))
        }
        let process = try start(
            "cat - /dev/fd/3 /dev/fd/4; echo word >&2; exit 3",
            reading: files[0],
            files: Array(files[1...])
        )
        let answer = try process.answer(limit: 100, within: nil, cancellation: cancellation)
        #expect(answer.output == [UInt8]("inputonetwo".utf8))
        #expect(answer.ending == .exited(3))
        #expect(process.printedLines == ["word"])
    }

    @Test func `ends a program that takes too long, says too much or is cancelled`() throws {
        let slow = try start("exec sleep 1000")
        let answer = try slow.answer(limit: 100, within: 0.01, cancellation: cancellation)
        #expect(answer.ending == nil)
        #expect(slow.ending(within: 0) == .signaled(15))
        let long = try start("exec yes")
        #expect(throws: PipedProcess.OutputTooLong.self) {
            try long.answer(limit: 100, within: nil, cancellation: cancellation)
        }
        #expect(long.ending(within: 0) != nil)
        cancellation.cancel()
        let cancelled = try start("exec sleep 1000")
        #expect(throws: CancellationError.self) {
            try cancelled.answer(limit: 100, within: nil, cancellation: cancellation)
        }
        #expect(cancelled.ending(within: 0) == .signaled(15))
    }

    @Test func `says why a program can't be started`() throws {
        let error = #expect(throws: SystemError.self) {
            try PipedProcess.start([[UInt8]("no-such-program".utf8)])
        }
        #expect(error?.isMissing == true)
    }
}
