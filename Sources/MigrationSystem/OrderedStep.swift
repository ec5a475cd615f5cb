/// A step of an operation: processes items on the threads of the operation, and passes the results on in their order.
///
/// Items come from ``submit(_:)`` or from a source that one thread at a time calls. Results go to a
/// sink that one thread at a time calls, or a caller takes them with ``next()``. The step is
/// bounded: a thread that is too far ahead waits, and works meanwhile. The first failure in the
/// order of the items ends all work of the step; a cancellation ends it at once.
///
/// One thread at a time submits, takes, finishes and abandons. Only ``release()`` may be called by any thread.
package final class OrderedStep<Item: Sendable, Output: Sendable>: Sendable {
    /// The work on an item; it may keep state, because one thread at a time uses it.
    package typealias Work = (Item) throws -> Output

    private let operation: MigrationOperation
    private let state: StepState<Item, Output>

    /// Adds a step to `operation`.
    ///
    /// - Parameters:
    ///   - operation: Whose threads do the work.
    ///   - depth: The maximum number of items that wait, are worked on, or have results in use.
    ///   - ahead: The maximum number of items ahead of the result that was passed on last.
    ///   - source: Returns the next item, `nil` after the last; without it they are submitted.
    ///   - sink: Takes each result; without it the caller takes them.
    ///   - makeWork: Makes the work on an item, once for each thread that needs one at the same
    ///     time.
    package init(
        of operation: MigrationOperation,
        depth: Int,
        ahead: Int = .max,
        source: (() throws -> Item?)? = nil,
        sink: ((Output) throws -> Void)? = nil,
        makeWork: @escaping () throws -> Work
    ) {
        self.operation = operation
        state = StepState(
            of: operation,
            depth: depth,
            ahead: ahead,
            source: source,
            sink: sink,
            makeWork: makeWork
        )
        operation.crew.add(state, passesOn: sink != nil)
    }

    deinit { abandon() }

    /// Submits an item; waits while the step is full.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func submit(_ item: Item) throws { try state.submit(item) }

    /// Waits until an item can be submitted at once, so that it isn't made before there is room for it.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func waitForRoom() throws { try state.waitForRoom() }

    /// Waits for the next result; `nil` after the last.
    ///
    /// Its slot in the step is free again when ``release()`` is called.
    ///
    /// - Throws: The failure of the item whose turn it is; `CancellationError`.
    package func next() throws -> Output? { try state.next() }

    /// Frees the slot of a result that was taken with ``next()``.
    package func release() { state.release() }

    /// Waits until the sink has every result, or all work has stopped because of a failure.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func settle() throws { try state.settle() }

    /// Ends the step, and waits for the work in progress.
    package func abandon() {
        state.stop()
        operation.crew.remove(state)
        state.forget()
    }
}

/// The state of a step, which its caller and the threads of the operation share.
///
/// Safe because everything that changes is touched under the crew's lock, except for the source and
/// the sink, which one thread at a time calls. No item or result is destroyed under the lock,
/// because that may release a slot.
private final class StepState<Item: Sendable, Output: Sendable>: PooledStep, @unchecked Sendable {
    private enum Slot {
        case empty
        case waiting(Item)
        case underWay
        case done(Result<Output, any Error>)
    }

    /// The condition that the caller waits for.
    private enum Awaited {
        case nothing, room, result, quiet
    }

    private let crew: Crew
    private let cancellation: CancellationFlag
    private let depth: Int
    private let ahead: Int
    private var source: (() throws -> Item?)?
    private var sink: ((Output) throws -> Void)?
    private var makeWork: (() throws -> (Item) throws -> Output)?
    private let reads: Bool
    private let passesOn: Bool

    /// The work objects that no thread uses at the moment.
    private var works: [(Item) throws -> Output] = []
    /// The items from `passedOn` to `submitted`, each at its number modulo the depth.
    private var slots: [Slot]
    private var submitted = 0
    private var begun = 0
    private var passedOn = 0
    private var released = 0
    private var activeCount = 0
    private var isReading = false
    private var isPassingOn = false
    private var isAtEnd = false
    private var isStopped = false
    private var hasFailed = false
    /// The first failure in the order of the items, once nothing can fail before it.
    private var failure: (any Error)?
    private var awaited = Awaited.nothing
    private let sleeper = Sleeper()

    init(
        of operation: MigrationOperation,
        depth: Int,
        ahead: Int,
        source: (() throws -> Item?)?,
        sink: ((Output) throws -> Void)?,
        makeWork: @escaping () throws -> (Item) throws -> Output
    ) {
        precondition(depth > 0)
        (crew, cancellation) = (operation.crew, operation.cancellation)
        (self.depth, self.ahead) = (depth, ahead)
        (self.source, self.sink, self.makeWork) = (source, sink, makeWork)
        (reads, passesOn) = (source != nil, sink != nil)
        slots = Array(repeating: .empty, count: depth)
    }

    private var isOver: Bool { isStopped || failure != nil || cancellation.isCancelled }

    private var hasRoom: Bool { submitted - released < depth && submitted - passedOn < ahead }
}

// MARK: - The caller's side

extension StepState {
    func submit(_ item: Item) throws {
        try crew.locked {
            // After a failure, nothing new is started, so that the first failure is known soon.
            try wait(for: .room)
            slots[submitted % depth] = .waiting(item)
            submitted += 1
            crew.offerJob()
        }
    }

    func waitForRoom() throws {
        try crew.locked { try wait(for: .room) }
    }

    func next() throws -> Output? {
        try crew.locked {
            try checkIsNotOver()
            try wait(for: .result)
            let slot = passedOn % depth
            guard passedOn < submitted, case .done(let result) = slots[slot] else { return nil }
            slots[slot] = .empty
            passedOn += 1
            offerReading()
            if case .failure(let error) = result { fail(with: error) }
            return try result.get()
        }
    }

    func release() {
        crew.locked {
            released += 1
            offerReading()
            wakeCaller()
        }
    }

    func settle() throws {
        try crew.locked { try wait(for: .quiet) }
    }

    /// Starts nothing more, and waits for the work in progress.
    func stop() {
        crew.locked {
            isStopped = true
            while !isThere(.quiet) { sleep(until: .quiet, takingJobs: false) }
        }
    }

    /// Releases the closures, which may refer to the step's owner, and the waiting items.
    func forget() {
        (source, sink, makeWork, works) = (nil, nil, nil, [])
        slots = Array(repeating: .empty, count: depth)
    }

    /// Works until the condition holds; within a job only for this step, so that no job waits for
    /// itself.
    private func wait(for awaited: Awaited) throws {
        let isInJob = crew.isBusy
        while !isThere(awaited) {
            let isFirst = awaited == .result && begun == passedOn
            if (isInJob || isFirst) && workOnce() || !isInJob && crew.workOnce() { continue }
            sleep(until: awaited, takingJobs: !isInJob)
        }
        try checkIsNotOver()
    }

    private func sleep(until awaited: Awaited, takingJobs: Bool) {
        self.awaited = awaited
        crew.wait(sleeper, takingJobs: takingJobs)
        self.awaited = .nothing
    }

    func wakeCaller() {
        if isThere(awaited) { sleeper.wake() }
    }

    private func checkIsNotOver() throws {
        if let failure { throw failure }
        try cancellation.check()
        if isStopped { throw CancellationError() }
    }

    private func isThere(_ awaited: Awaited) -> Bool {
        switch awaited {
        case .nothing: false
        case .room: isOver || hasRoom && !(hasFailed && passesOn)
        case .result: isOver || isFirstDone || isAtEnd && !isReading && passedOn == submitted
        case .quiet: activeCount == 0 && (isOver || released == submitted)
        }
    }

    private var isFirstDone: Bool {
        guard passedOn < submitted, case .done = slots[passedOn % depth] else { return false }
        return true
    }

    /// Finds a thread to read the next item if there is room: a sleeping caller, if all others are
    /// busy.
    private func offerReading() {
        if canRead, !crew.offerJob(), awaited != .nothing { sleeper.wake() }
    }
}

// MARK: - The threads' side

extension StepState {
    private var canRead: Bool {
        reads && !isReading && !isAtEnd && !isOver && !hasFailed && hasRoom
    }

    func workOnce() -> Bool {
        guard !isOver, !hasFailed, reads ? canRead : begun < submitted else { return false }
        var item: Item?
        if reads {
            isReading = true
            submitted += 1
        } else if case .waiting(let waiting) = slots[begun % depth] {
            item = waiting
        }
        let number = begun
        slots[number % depth] = .underWay
        begun += 1
        activeCount += 1
        var work = works.popLast()
        crew.perform {
            let result = Result { try process(item.take() ?? read(number), by: &work) }
            end(number, with: result, work)
        }
        activeCount -= 1
        wakeCaller()
        return true
    }

    /// Reads the next item, and lets another thread continue reading; `nil` at the end.
    private func read(_ number: Int) throws -> Item? {
        let item = Result { try source?() }
        crew.locked {
            isReading = false
            if case .success(.some) = item { return offerReading() }
            isAtEnd = true
            guard case .success = item else { return }
            (submitted, begun) = (submitted - 1, begun - 1)
            slots[number % depth] = .empty
        }
        return try item.get()
    }

    private func process(
        _ item: Item?,
        by work: inout ((Item) throws -> Output)?
    ) throws -> Output? {
        guard let item else { return nil }
        let body = try work ?? makeWork?()
        work = body
        return try body?(item)
    }

    /// Keeps the result of an item, and passes on those that are due.
    private func end(
        _ number: Int,
        with result: Result<Output?, any Error>,
        _ work: ((Item) throws -> Output)?
    ) {
        crew.locked {
            if let work { works.append(work) }
            switch result {
            case .success(.none): return
            case .success(let output?): slots[number % depth] = .done(.success(output))
            case .failure(let error):
                slots[number % depth] = .done(.failure(error))
                hasFailed = true
            }
        }
        while let result = takeDueResult() { passOn(result) }
    }

    /// Takes the next result for the sink, unless another thread is passing one on.
    private func takeDueResult() -> Result<Output, any Error>? {
        crew.locked {
            guard passesOn, !isPassingOn, !isOver, isFirstDone,
                case .done(let result) = slots[passedOn % depth]
            else { return nil }
            slots[passedOn % depth] = .empty
            isPassingOn = true
            return result
        }
    }

    private func passOn(_ result: Result<Output, any Error>) {
        let passed = Result { try sink?(try result.get()) }
        crew.locked {
            isPassingOn = false
            if case .failure(let error) = passed { return fail(with: error) }
            passedOn += 1
            released += 1
            offerReading()
            wakeCaller()
        }
    }

    /// Ends all work because of the first failure.
    private func fail(with error: any Error) {
        if failure == nil { failure = error }
        wakeCaller()
    }
}
