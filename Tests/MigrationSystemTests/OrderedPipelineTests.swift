import Foundation
import MigrationSystem
import Testing

struct OrderedPipelineTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    /// Takes a time that differs from item to item, so that threads overtake each other.
    private static func dawdle(_ number: Int) {
        if number % 7 == 0 { usleep(UInt32(number % 5) * 100) }
    }

    /// A pipeline whose owner takes what a source counts up to `count`.
    private static func counting(
        to count: Int,
        threadCount: Int,
        depth: Int,
        cancellation: CancellationFlag = CancellationFlag(),
        work: @escaping (Int) throws -> Int = { $0 }
    ) throws -> OrderedPipeline<Int, Int> {
        var next = 0
        return try OrderedPipeline(
            named: "test",
            threadCount: threadCount,
            depth: depth,
            cancellation: cancellation,
            source: {
                guard next < count else { return nil }
                defer { next += 1 }
                return next
            },
            makeWork: { work }
        )
    }

    private static func sinking(
        threadCount: Int,
        depth: Int,
        cancellation: CancellationFlag = CancellationFlag(),
        into results: Monitor<[Int]>,
        work: @escaping (Int) throws -> Int = { $0 }
    ) throws -> OrderedPipeline<Int, Int> {
        try OrderedPipeline(
            named: "test",
            threadCount: threadCount,
            depth: depth,
            cancellation: cancellation,
            sink: { result in results.withLock { $0.append(result) } },
            makeWork: { work }
        )
    }

    // MARK: - Order

    @Test(arguments: [1, 2, 3, 8], [1, 2, 9])
    func `passes results to the sink in the order of the items`(
        threadCount: Int,
        depth: Int
    ) throws {
        let results = Monitor<[Int]>([])
        let pipeline = try Self.sinking(threadCount: threadCount, depth: depth, into: results) {
            Self.dawdle($0)
            return $0 * 2
        }
        for number in 0..<500 { try pipeline.submit(number) }
        try pipeline.finish()
        #expect(results.withLock { $0 } == (0..<500).map { $0 * 2 })
    }

    @Test(arguments: [1, 2, 3, 8], [1, 2, 9])
    func `hands out what a source gives in its order`(threadCount: Int, depth: Int) throws {
        let pipeline = try Self.counting(to: 500, threadCount: threadCount, depth: depth) {
            Self.dawdle($0)
            return $0 * 2
        }
        var results: [Int] = []
        while let result = try pipeline.next() {
            results.append(result)
            pipeline.release()
        }
        #expect(results == (0..<500).map { $0 * 2 })
        #expect(try pipeline.next() == nil)
    }

    @Test(arguments: [0, 1, 3])
    func `hands out what was submitted, done by the owner where nobody else is`(
        threadCount: Int
    ) throws {
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test",
            threadCount: threadCount,
            depth: 4,
            cancellation: CancellationFlag()
        ) { { $0 * 2 } }
        var results: [Int] = []
        for number in 0..<200 {
            try pipeline.submit(number)
            guard number >= 3 else { continue }
            results.append(try #require(try pipeline.next()))
            pipeline.release()
        }
        #expect(results == (0..<197).map { $0 * 2 })
    }

    @Test func `gives each thread work of its own`() throws {
        let made = Monitor(0)
        let results = Monitor<[Int]>([])
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test",
            threadCount: 3,
            depth: 3,
            cancellation: CancellationFlag(),
            sink: { count in results.withLock { $0.append(count) } }
        ) {
            made.withLock { $0 += 1 }
            var count = 0
            return { _ in
                count += 1
                return count
            }
        }
        for number in 0..<300 { try pipeline.submit(number) }
        try pipeline.finish()
        #expect(made.withLock { $0 } == 3)
        // Each count is reached at most once by each thread.
        let counts = results.withLock { Dictionary(grouping: $0) { $0 } }
        #expect(counts.values.allSatisfy { $0.count <= 3 })
    }

    // MARK: - Bounds

    @Test(arguments: [1, 4])
    func `holds no more items than its depth`(threadCount: Int) throws {
        let held = Monitor((now: 0, most: 0))
        let results = Monitor<[Int]>([])
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test",
            threadCount: threadCount,
            depth: 3,
            cancellation: CancellationFlag(),
            sink: { result in
                held.withLock { $0.now -= 1 }
                results.withLock { $0.append(result) }
            }
        ) {
            { number in
                Self.dawdle(number)
                return number
            }
        }
        for number in 0..<300 {
            try pipeline.submit(number)
            held.withLock { held in
                held.now += 1
                held.most = max(held.most, held.now)
            }
        }
        try pipeline.finish()
        // One was passed on and not yet counted here.
        #expect(held.withLock { $0.most } <= 3)
        #expect(results.withLock { $0.count } == 300)
    }

    @Test func `reads no further than results are released`() throws {
        let read = Monitor(0)
        let pipeline = try Self.counting(to: 100, threadCount: 2, depth: 5) { number in
            read.withLock { $0 += 1 }
            return number
        }
        for _ in 0..<5 { _ = try pipeline.next() }
        // The sixth needs a place, which nobody has given back.
        let hasReadMore = read.wait(atMost: 0.1) { $0 > 5 }
        #expect(!hasReadMore)
        pipeline.release()
        #expect(try pipeline.next() == 5)
        pipeline.abandon()
    }

    // MARK: - Failures

    @Test(arguments: 0..<20)
    func `reports the first failure in the order of the items`(round: Int) throws {
        let results = Monitor<[Int]>([])
        let pipeline = try Self.sinking(threadCount: 4, depth: 8, into: results) { number in
            if number == 20 + round { usleep(2000) }
            if number >= 20 + round { throw Failure(number: number) }
            return number
        }
        let error = #expect(throws: Failure.self) {
            for number in 0..<1000 { try pipeline.submit(number) }
            try pipeline.finish()
        }
        #expect(error?.number == 20 + round)
        #expect(results.withLock { $0 } == Array(0..<20 + round))
        #expect(throws: Failure(number: 20 + round)) { try pipeline.submit(0) }
        #expect(throws: Failure(number: 20 + round)) { try pipeline.settle() }
        pipeline.abandon()
        #expect(results.withLock { $0.count } == 20 + round)
    }

    @Test(arguments: [1, 4])
    func `hands out what comes before a failure`(threadCount: Int) throws {
        let pipeline = try Self.counting(to: 100, threadCount: threadCount, depth: 8) { number in
            if number == 30 { usleep(2000) }
            if number >= 30 { throw Failure(number: number) }
            return number
        }
        for number in 0..<30 {
            #expect(try pipeline.next() == number)
            pipeline.release()
        }
        for _ in 0..<2 { #expect(throws: Failure(number: 30)) { try pipeline.next() } }
    }

    @Test(arguments: [1, 4])
    func `passes on a failure of the source in its turn`(threadCount: Int) throws {
        var next = 0
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test",
            threadCount: threadCount,
            depth: 4,
            cancellation: CancellationFlag(),
            source: {
                if next == 10 { throw Failure(number: 10) }
                defer { next += 1 }
                return next
            }
        ) { { $0 } }
        for number in 0..<10 {
            #expect(try pipeline.next() == number)
            pipeline.release()
        }
        #expect(throws: Failure(number: 10)) { try pipeline.next() }
    }

    @Test func `ends when the sink fails`() throws {
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test",
            threadCount: 3,
            depth: 3,
            cancellation: CancellationFlag(),
            sink: { if $0 == 5 { throw Failure(number: 5) } }
        ) { { $0 } }
        #expect(throws: Failure(number: 5)) {
            for number in 0..<1000 { try pipeline.submit(number) }
            try pipeline.finish()
        }
    }

    @Test func `throws what making the work throws`() {
        #expect(throws: Failure(number: 1)) {
            _ = try OrderedPipeline<Int, Int>(
                named: "test",
                threadCount: 2,
                depth: 2,
                cancellation: CancellationFlag()
            ) { throw Failure(number: 1) }
        }
    }

    // MARK: - Cancellation

    @Test(arguments: [false, true])
    func `a cancellation wakes an owner who waits for room`(isParents: Bool) throws {
        let parent = CancellationFlag()
        let cancellation = CancellationFlag(following: parent)
        let gate = Monitor(false)
        let pipeline = try Self.sinking(
            threadCount: 1,
            depth: 1,
            cancellation: cancellation,
            into: Monitor([])
        ) { number in
            gate.wait { $0 ? () : nil }
            return number
        }
        try pipeline.submit(0)
        try SystemThread.start(named: "canceller") {
            usleep(20_000)
            (isParents ? parent : cancellation).cancel()
        }
        #expect(throws: CancellationError.self) { try pipeline.submit(1) }
        gate.withLock { $0 = true }
        pipeline.abandon()
    }

    @Test func `a cancellation wakes an owner who waits for a result`() throws {
        let cancellation = CancellationFlag()
        let gate = Monitor(false)
        let pipeline = try Self.counting(
            to: 10,
            threadCount: 2,
            depth: 4,
            cancellation: cancellation
        ) { number in
            gate.wait { $0 ? () : nil }
            return number
        }
        try SystemThread.start(named: "canceller") {
            usleep(20_000)
            cancellation.cancel()
        }
        #expect(throws: CancellationError.self) { try pipeline.next() }
        gate.withLock { $0 = true }
        pipeline.abandon()
    }

    @Test func `does nothing once it is cancelled`() throws {
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let results = Monitor<[Int]>([])
        let pipeline = try Self.sinking(
            threadCount: 2,
            depth: 2,
            cancellation: cancellation,
            into: results
        )
        #expect(throws: CancellationError.self) { try pipeline.submit(0) }
        #expect(throws: CancellationError.self) { try pipeline.finish() }
        #expect(results.withLock { $0.isEmpty })
    }

    // MARK: - Its end

    @Test func `waits until everything is done that was submitted`() throws {
        let results = Monitor<[Int]>([])
        let pipeline = try Self.sinking(threadCount: 3, depth: 6, into: results) { number in
            Self.dawdle(number)
            return number
        }
        for number in 0..<60 {
            try pipeline.submit(number)
            guard number % 6 == 5 else { continue }
            try pipeline.settle()
            #expect(results.withLock { $0.count } == number + 1)
        }
        pipeline.abandon()
    }

    @Test(arguments: [1, 4])
    func `being abandoned ends what is under way and begins nothing`(threadCount: Int) throws {
        let begun = Monitor(0)
        let ended = Monitor(0)
        let pipeline = try Self.sinking(threadCount: threadCount, depth: 50, into: Monitor([])) {
            number in
            begun.withLock { $0 += 1 }
            usleep(5000)
            ended.withLock { $0 += 1 }
            return number
        }
        for number in 0..<50 { try pipeline.submit(number) }
        begun.wait { $0 > 0 ? () : nil }
        pipeline.abandon()
        let count = ended.withLock { $0 }
        #expect(begun.withLock { $0 } == count)
        #expect(count < 50)
        #expect(throws: CancellationError.self) { try pipeline.submit(0) }
    }

    @Test func `lets go of all that it was made with when it is released`() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        do {
            let kept = Witness()
            witness = kept
            let pipeline = try Self.counting(to: 1000, threadCount: 2, depth: 4) { number in
                withExtendedLifetime(kept) { number }
            }
            #expect(try pipeline.next() == 0)
        }
        #expect(witness == nil)
    }

    @Test func `no thread wakes up while there is nothing to do`() throws {
        let pipeline = try OrderedPipeline<Int, Int>(
            named: "test idle",
            threadCount: 2,
            depth: 2,
            cancellation: CancellationFlag(),
            sink: { _ in }
        ) { { $0 } }
        try pipeline.submit(0)
        try pipeline.settle()
        // Until the threads wait for more.
        var before = -1
        while before != Self.switches(ofThreadsNamed: "test idle") {
            before = Self.switches(ofThreadsNamed: "test idle")
            usleep(50_000)
        }
        usleep(500_000)
        #expect(Self.switches(ofThreadsNamed: "test idle") == before)
        pipeline.abandon()
    }

    /// How often the threads of a name have gone to sleep.
    private static func switches(ofThreadsNamed name: String) -> Int {
        let tasks = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.reduce(0) { sum, thread in
            let path = "\(tasks)/\(thread)/status"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            guard text.hasPrefix("Name:\t\(name)\n") else { return sum }
            let lines = text.split(separator: "\n")
            let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line.flatMap { Int($0.split(separator: "\t")[1]) } ?? 0)
        }
    }
}
