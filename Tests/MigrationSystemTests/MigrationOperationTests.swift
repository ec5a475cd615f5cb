import Foundation
import MigrationSystem
import Testing

struct MigrationOperationTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    private static func operation(
        _ threadCount: Int,
        _ cancellation: CancellationFlag = CancellationFlag()
    ) -> MigrationOperation {
        MigrationOperation(threadCount: threadCount, cancellation: cancellation)
    }

    /// Takes a different time for each item, so that threads overtake each other.
    private static func dawdle(_ number: Int) {
        if number % 7 == 0 { usleep(UInt32(number % 5) * 100) }
    }

    /// A step whose results the test takes, from a source that counts up to `count`.
    private static func counting(
        to count: Int,
        on operation: MigrationOperation,
        depth: Int,
        work: @escaping (Int) throws -> Int = { $0 }
    ) -> OrderedStep<Int, Int> {
        var next = 0
        return OrderedStep(
            of: operation,
            depth: depth,
            source: {
                guard next < count else { return nil }
                defer { next += 1 }
                return next
            },
            makeWork: { work }
        )
    }

    private static func sinking(
        on operation: MigrationOperation,
        depth: Int,
        into results: Monitor<[Int]>,
        work: @escaping (Int) throws -> Int = { $0 }
    ) -> OrderedStep<Int, Int> {
        OrderedStep(
            of: operation,
            depth: depth,
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
        let step = Self.sinking(on: Self.operation(threadCount), depth: depth, into: results) {
            Self.dawdle($0)
            return $0 * 2
        }
        for number in 0..<500 { try step.submit(number) }
        try step.settle()
        #expect(results.withLock { $0 } == (0..<500).map { $0 * 2 })
    }

    @Test(arguments: [1, 2, 3], [1, 3])
    func `no item is made before there is room for it`(threadCount: Int, depth: Int) throws {
        let results = Monitor<[Int]>([])
        let step = Self.sinking(on: Self.operation(threadCount), depth: depth, into: results) {
            Self.dawdle($0)
            return $0
        }
        for number in 0..<100 {
            try step.waitForRoom()
            #expect(number - results.withLock { $0.count } < depth)
            try step.submit(number)
        }
        try step.settle()
        #expect(results.withLock { $0 } == [Int](0..<100))
    }

    @Test(arguments: [1, 2, 3, 8], [1, 2, 9])
    func `hands out what a source gives in its order`(threadCount: Int, depth: Int) throws {
        let step = Self.counting(to: 500, on: Self.operation(threadCount), depth: depth) {
            Self.dawdle($0)
            return $0 * 2
        }
        var results: [Int] = []
        while let result = try step.next() {
            results.append(result)
            step.release()
        }
        #expect(results == (0..<500).map { $0 * 2 })
        #expect(try step.next() == nil)
    }

    @Test(arguments: [1, 2, 4])
    func `hands out what was submitted`(threadCount: Int) throws {
        let step = OrderedStep<Int, Int>(of: Self.operation(threadCount), depth: 4) { { $0 * 2 } }
        var results: [Int] = []
        for number in 0..<200 {
            try step.submit(number)
            guard number >= 3 else { continue }
            results.append(try #require(try step.next()))
            step.release()
        }
        #expect(results == (0..<197).map { $0 * 2 })
    }

    @Test func `no work is used by two threads at once`() throws {
        let made = Monitor(0)
        let results = Monitor<[Int]>([])
        let step = OrderedStep<Int, Int>(
            of: Self.operation(3),
            depth: 3,
            sink: { count in results.withLock { $0.append(count) } }
        ) {
            made.withLock { $0 += 1 }
            var count = 0
            return { _ in
                count += 1
                return count
            }
        }
        for number in 0..<300 { try step.submit(number) }
        try step.settle()
        let makers = made.withLock { $0 }
        #expect((1...3).contains(makers))
        // Each of them counted on its own.
        let counts = results.withLock { Dictionary(grouping: $0) { $0 } }
        #expect(counts.values.allSatisfy { $0.count <= makers })
    }

    // MARK: - Threads

    /// The directory in which the system describes this thread.
    private static func task() -> String {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        return "/proc/\(link ?? "")"
    }

    /// How often the threads went to sleep.
    private static func switches(of tasks: Set<String>) -> [String] {
        tasks.sorted().map { task in
            let text = (try? String(contentsOfFile: "\(task)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("voluntary_ctxt_switches:")
            }
            return String(line ?? "")
        }
    }

    @Test func `no thread wakes up while there is nothing to do, and none is left at the end`()
        throws
    {
        let tasks = Monitor<Set<String>>([])
        do {
            let own = Self.task()
            let step = OrderedStep<Int, Int>(of: Self.operation(3), depth: 3, sink: { _ in }) {
                { number in
                    tasks.withLock { _ = $0.insert(Self.task()) }
                    usleep(10_000)
                    return number
                }
            }
            for number in 0..<30 { try step.submit(number) }
            try step.settle()
            tasks.withLock { _ = $0.remove(own) }
            let others = tasks.withLock { $0 }
            #expect(!others.isEmpty)
            // Until the threads wait for more.
            var before: [String] = []
            while before != Self.switches(of: others) {
                before = Self.switches(of: others)
                usleep(50_000)
            }
            usleep(300_000)
            #expect(Self.switches(of: others) == before)
        }
        let wait = Monitor(())
        let others = tasks.withLock { $0 }
        for _ in 0..<600 where others.contains(where: FileManager.default.fileExists) {
            _ = wait.wait(atMost: 0.1) { _ in false }
        }
        #expect(!others.contains(where: FileManager.default.fileExists))
    }

    @Test(arguments: [1, 2, 5])
    func `the caller works too, with as many others as are left`(threadCount: Int) throws {
        let threads = Monitor<Set<pthread_t>>([])
        let operation = Self.operation(threadCount)
        let first = Self.counting(to: 200, on: operation, depth: 4) { number in
            threads.withLock { _ = $0.insert(pthread_self()) }
            usleep(200)
            return number
        }
        let last = Self.sinking(on: operation, depth: 4, into: Monitor([])) { number in
            threads.withLock { _ = $0.insert(pthread_self()) }
            usleep(200)
            return number
        }
        while let number = try first.next() {
            try last.submit(number)
            first.release()
        }
        try last.settle()
        let seen = threads.withLock { $0 }
        #expect(seen.count <= threadCount)
        if threadCount == 1 { #expect(seen == [pthread_self()]) }
    }

    @Test(arguments: [1, 2, 3, 8], [1, 4])
    func `a job waits for another step without a deadlock`(
        threadCount: Int,
        depth: Int
    ) throws {
        let operation = Self.operation(threadCount)
        let results = Monitor<[Int]>([])
        let written = Self.sinking(on: operation, depth: 1, into: results) {
            Self.dawdle($0)
            return $0
        }
        let sealed = OrderedStep<Int, Int>(
            of: operation,
            depth: depth,
            sink: { number in
                for part in 0..<3 { try written.submit(number * 3 + part) }
                if number % 5 == 0 { try written.settle() }
            }
        ) {
            { number in
                Self.dawdle(number)
                return number
            }
        }
        let found = Self.counting(to: 900, on: operation, depth: 3)
        let opened = OrderedStep<[Int], [Int]>(
            of: operation,
            depth: depth + 1,
            source: {
                var parts: [Int] = []
                while parts.count < 3, let part = try found.next() {
                    found.release()
                    parts.append(part)
                }
                return parts.isEmpty ? nil : parts
            }
        ) { { $0.reversed() } }
        while let parts = try opened.next() {
            opened.release()
            for part in parts.reversed() { try sealed.submit(part) }
        }
        try sealed.settle()
        try written.settle()
        #expect(results.withLock { $0 } == Array(0..<2700))
    }

    @Test func `an item may give back a place of another step when it ends`() throws {
        final class Lease: Sendable {
            let step: OrderedStep<Int, Int>
            init(_ step: OrderedStep<Int, Int>) { self.step = step }
            deinit { step.release() }
        }
        let operation = Self.operation(3)
        let read = Self.counting(to: 2000, on: operation, depth: 3)
        let made = Monitor(0)
        let write = OrderedStep<Lease, Void>(of: operation, depth: 2, sink: { _ in }) {
            { _ in made.withLock { $0 += 1 } }
        }
        while try read.next() != nil { try write.submit(Lease(read)) }
        try write.settle()
        #expect(made.withLock { $0 } == 2000)
    }

    // MARK: - Bounds

    @Test(arguments: [1, 4])
    func `holds no more items than its depth`(threadCount: Int) throws {
        let held = Monitor((now: 0, most: 0))
        let results = Monitor<[Int]>([])
        let step = OrderedStep<Int, Int>(
            of: Self.operation(threadCount),
            depth: 3,
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
            try step.submit(number)
            held.withLock { held in
                held.now += 1
                held.most = max(held.most, held.now)
            }
        }
        try step.settle()
        // One was passed on but not yet counted here.
        #expect(held.withLock { $0.most } <= 3)
        #expect(results.withLock { $0.count } == 300)
    }

    @Test func `reads no further than results are released`() throws {
        let read = Monitor(0)
        let step = Self.counting(to: 100, on: Self.operation(2), depth: 5) { number in
            read.withLock { $0 += 1 }
            return number
        }
        for _ in 0..<5 { _ = try step.next() }
        // The sixth needs a place, and none has been freed.
        let hasReadMore = read.wait(atMost: 0.1) { $0 > 5 }
        #expect(!hasReadMore)
        step.release()
        #expect(try step.next() == 5)
        step.abandon()
    }

    // MARK: - Failures

    @Test(arguments: 0..<20)
    func `reports the first failure in the order of the items`(round: Int) throws {
        let results = Monitor<[Int]>([])
        let step = Self.sinking(on: Self.operation(4), depth: 8, into: results) { number in
            if number == 20 + round { usleep(2000) }
            if number >= 20 + round { throw Failure(number: number) }
            return number
        }
        let error = #expect(throws: Failure.self) {
            for number in 0..<1000 { try step.submit(number) }
            try step.settle()
        }
        #expect(error?.number == 20 + round)
        #expect(results.withLock { $0 } == Array(0..<20 + round))
        #expect(throws: Failure(number: 20 + round)) { try step.submit(0) }
        #expect(throws: Failure(number: 20 + round)) { try step.settle() }
        step.abandon()
        #expect(results.withLock { $0.count } == 20 + round)
    }

    @Test(arguments: [1, 4])
    func `hands out what comes before a failure`(threadCount: Int) throws {
        let step = Self.counting(to: 100, on: Self.operation(threadCount), depth: 8) { number in
            if number == 30 { usleep(2000) }
            if number >= 30 { throw Failure(number: number) }
            return number
        }
        for number in 0..<30 {
            #expect(try step.next() == number)
            step.release()
        }
        for _ in 0..<2 { #expect(throws: Failure(number: 30)) { try step.next() } }
    }

    @Test(arguments: [1, 4])
    func `passes on a failure of the source in its turn`(threadCount: Int) throws {
        var next = 0
        let step = OrderedStep<Int, Int>(
            of: Self.operation(threadCount),
            depth: 4,
            source: {
                if next == 10 { throw Failure(number: 10) }
                defer { next += 1 }
                return next
            }
        ) { { $0 } }
        for number in 0..<10 {
            #expect(try step.next() == number)
            step.release()
        }
        #expect(throws: Failure(number: 10)) { try step.next() }
    }

    @Test(arguments: [1, 3])
    func `ends when the sink fails, or making the work`(threadCount: Int) throws {
        let operation = Self.operation(threadCount)
        let failing = OrderedStep<Int, Int>(
            of: operation,
            depth: 3,
            sink: { if $0 == 5 { throw Failure(number: 5) } }
        ) { { $0 } }
        #expect(throws: Failure(number: 5)) {
            for number in 0..<1000 { try failing.submit(number) }
            try failing.settle()
        }
        let unmade = OrderedStep<Int, Int>(of: operation, depth: 2) { throw Failure(number: 1) }
        try unmade.submit(0)
        #expect(throws: Failure(number: 1)) { try unmade.next() }
    }

    @Test(arguments: [1, 2, 4])
    func `the failure of a step reaches the one that waits for it`(threadCount: Int) throws {
        let operation = Self.operation(threadCount)
        let output = OrderedStep<Int, Int>(
            of: operation,
            depth: 2,
            sink: { if $0 == 40 { throw Failure(number: 40) } }
        ) { { $0 } }
        let input = OrderedStep<Int, Int>(of: operation, depth: 4, sink: output.submit) { { $0 } }
        #expect(throws: Failure(number: 40)) {
            for number in 0..<1000 { try input.submit(number) }
            try input.settle()
            try output.settle()
        }
    }

    // MARK: - Cancellation

    @Test(arguments: [false, true])
    func `a cancellation wakes a caller who waits for room`(isParents: Bool) throws {
        let parent = CancellationFlag()
        let cancellation = CancellationFlag(following: parent)
        let (gate, hasBegun) = (Monitor(false), Monitor(false))
        let step = Self.sinking(on: Self.operation(2, cancellation), depth: 1, into: Monitor([])) {
            number in
            hasBegun.withLock { $0 = true }
            gate.wait { $0 ? () : nil }
            return number
        }
        try step.submit(0)
        hasBegun.wait { $0 ? () : nil }
        try SystemThread.start(named: "canceller") {
            usleep(20_000)
            (isParents ? parent : cancellation).cancel()
        }
        #expect(throws: CancellationError.self) { try step.submit(1) }
        gate.withLock { $0 = true }
        step.abandon()
    }

    @Test func `a cancellation wakes a caller who waits for a result`() throws {
        let cancellation = CancellationFlag()
        let gate = Monitor(false)
        let begun = Monitor(0)
        let step = OrderedStep<Int, Int>(of: Self.operation(2, cancellation), depth: 4) {
            { number in
                begun.withLock { $0 += 1 }
                gate.wait { $0 ? () : nil }
                return number
            }
        }
        try step.submit(0)
        begun.wait { $0 == 1 ? () : nil }
        try SystemThread.start(named: "canceller") {
            usleep(20_000)
            cancellation.cancel()
        }
        #expect(throws: CancellationError.self) { try step.next() }
        gate.withLock { $0 = true }
        step.abandon()
    }

    @Test func `does nothing once it is cancelled`() throws {
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let results = Monitor<[Int]>([])
        let step = Self.sinking(on: Self.operation(2, cancellation), depth: 2, into: results)
        #expect(throws: CancellationError.self) { try step.submit(0) }
        #expect(throws: CancellationError.self) { try step.settle() }
        #expect(results.withLock { $0.isEmpty })
    }

    // MARK: - The end

    @Test func `waits until everything is done that was submitted`() throws {
        let results = Monitor<[Int]>([])
        let step = Self.sinking(on: Self.operation(3), depth: 6, into: results) { number in
            Self.dawdle(number)
            return number
        }
        for number in 0..<60 {
            try step.submit(number)
            guard number % 6 == 5 else { continue }
            try step.settle()
            #expect(results.withLock { $0.count } == number + 1)
        }
        step.abandon()
    }

    @Test(arguments: [1, 2, 5])
    func `being abandoned ends what is under way and begins nothing`(threadCount: Int) throws {
        let begun = Monitor(0)
        let ended = Monitor(0)
        let step = Self.sinking(on: Self.operation(threadCount), depth: 50, into: Monitor([])) {
            number in
            begun.withLock { $0 += 1 }
            usleep(5000)
            ended.withLock { $0 += 1 }
            return number
        }
        for number in 0..<50 { try step.submit(number) }
        if threadCount > 1 { begun.wait { $0 > 0 ? () : nil } }
        step.abandon()
        let count = ended.withLock { $0 }
        #expect(begun.withLock { $0 } == count)
        #expect(count < 50)
        #expect(throws: CancellationError.self) { try step.submit(0) }
    }

    @Test func `lets go of all that it was made with when it is released`() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        do {
            let kept = Witness()
            witness = kept
            let step = Self.counting(to: 1000, on: Self.operation(2), depth: 4) { number in
                withExtendedLifetime(kept) { number }
            }
            #expect(try step.next() == 0)
        }
        #expect(witness == nil)
    }

    // MARK: - Everything at once

    /// The failure of a round.
    private enum Trouble: CaseIterable {
        case none, failingWork, failingSink, failingSource, cancellation, abandonment
    }

    @Test(arguments: [1, 2, 3, 8])
    func `a chain of steps ends well or with its first failure, whatever happens`(
        threadCount: Int
    ) throws {
        for round in 0..<120 {
            let trouble = Trouble.allCases[round % Trouble.allCases.count]
            let moment = 5 + round * 37 % 300
            let cancellation = CancellationFlag()
            let operation = Self.operation(threadCount, cancellation)
            let results = Monitor<[Int]>([])
            var count = 0
            let source = OrderedStep<Int, Int>(
                of: operation,
                depth: 1 + round % 4,
                source: {
                    if trouble == .failingSource, count == moment {
                        throw Failure(number: moment)
                    }
                    defer { count += 1 }
                    return count < 400 ? count : nil
                }
            ) { { $0 } }
            let output = Self.sinking(on: operation, depth: 1 + round % 3, into: results) {
                number in
                if trouble == .cancellation, number == moment { cancellation.cancel() }
                return number
            }
            let middle = OrderedStep<Int, Int>(
                of: operation,
                depth: 1 + round % 5,
                sink: { number in
                    if trouble == .failingSink, number == moment { throw Failure(number: number) }
                    try output.submit(number)
                    if number % 11 == 0 { try output.settle() }
                }
            ) {
                { number in
                    if trouble == .failingWork, number >= moment { throw Failure(number: number) }
                    return number
                }
            }
            let result = Result {
                while let number = try source.next() {
                    if trouble == .abandonment, number == moment { return }
                    try middle.submit(number)
                    source.release()
                }
                try middle.settle()
                try output.settle()
            }
            // First the step that passes on, as a writer does, and then the step that it passes on
            // to.
            for step in [source, middle, output] { step.abandon() }
            let written = results.withLock { $0 }
            #expect(written == Array(0..<written.count))
            switch trouble {
            case .none:
                try result.get()
                #expect(written.count == 400)
            case .failingWork, .failingSink, .failingSource:
                #expect(throws: Failure(number: moment)) { try result.get() }
                #expect(written.count <= moment)
            case .cancellation: #expect(throws: CancellationError.self) { try result.get() }
            case .abandonment: #expect(written.count <= moment)
            }
        }
    }
}
