import Testing

@testable import MigrationHosting

/// The decision whether a silent extension still works, by a test's own clock.
struct SignsOfLifeTests {
    /// An extension that is observed by a clock that only the test moves.
    private final class Subject {
        var look = SignsOfLife.Look()
        var now = SuspendingClock.now
        /// How long a look takes.
        var cost = Duration.zero
        private(set) var looks = 0

        /// How many seconds of silence pass until it hangs, at most 1,000, and how.
        func hang(
            after limit: Duration = .seconds(10),
            _ step: (Subject, _ second: Int) -> Void
        ) -> (seconds: Int, SignsOfLife.Hang?) {
            let begin = now
            var signs = SignsOfLife(limit, by: { self.now }) {
                self.looks += 1
                self.now += self.cost
                return self.look
            }
            for second in 1...1000 {
                now += .seconds(1)
                step(self, second)
                if let hang = signs.check(after: begin) { return (second, hang) }
            }
            return (1000, nil)
        }
    }

    private func subject(_ look: SignsOfLife.Look = .init(written: 0...0, read: 0, room: 0))
        -> Subject
    {
        let subject = Subject()
        subject.look = look
        return subject
    }

    @Test func `silence is a hang after the limit`() {
        let (seconds, hang) = subject().hang { _, _ in }
        #expect(hang == .idle)
        #expect((10...12).contains(seconds))
    }

    @Test func `room that grows is work without end`() {
        let (_, hang) = subject().hang { subject, second in subject.look.room = UInt64(second) }
        #expect(hang == nil)
    }

    @Test func `room that grows where nothing else is known is work`() {
        let (_, hang) = subject(.init()).hang { subject, second in
            subject.look.room = UInt64(second)
        }
        #expect(hang == nil)
    }

    @Test func `room that is filled and emptied again is none`() {
        let (seconds, hang) = subject().hang { subject, second in
            subject.look.room = UInt64(second % 7)
        }
        #expect(hang == .idle)
        #expect(seconds < 40)
    }

    @Test(arguments: ["written", "read", "device"])
    func `what may be a loop counts for ten limits`(_ sign: String) {
        let (seconds, hang) = subject().hang { subject, second in
            let count = UInt64(second)
            switch sign {
            case "written": subject.look.written = count...count
            case "read": subject.look.read = count
            default: subject.look.waitsForDevice = true
            }
        }
        #expect(hang == .fruitless)
        #expect((100...104).contains(seconds))
    }

    @Test func `a process that only prints does nothing`() {
        let (seconds, hang) = subject().hang { subject, second in
            // The count lags behind the data that arrived, and catches up.
            let behind = UInt64(second % 3)
            subject.look.written = (10 - behind)...10
        }
        #expect(hang == .idle)
        #expect(seconds < 14)
    }

    @Test func `a look that takes long is taken seldom`() {
        let subject = subject()
        subject.cost = .seconds(2)
        let begin = subject.now
        let (_, hang) = subject.hang(after: .seconds(10)) { subject, second in
            subject.look.room = UInt64(second)
        }
        #expect(hang == nil)
        let time = (subject.now - begin) / .seconds(1)
        #expect(Double(subject.looks) < time / 20)
    }
}
