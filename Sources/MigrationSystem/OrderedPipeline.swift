/// Processes items on several threads and passes the results on in the order of the items.
///
/// Items come from ``submit(_:)`` or from a source that one thread at a time calls. Results go to a
/// sink that one thread at a time calls, or the owner takes them with ``next()``. The pipeline is
/// bounded: a thread that is too far ahead waits. The first failure in the order of the items ends
/// all work; a cancellation ends it at once.
///
/// One thread owns a pipeline: it submits, takes, finishes and abandons. Only ``release()`` may be
/// called by any thread. Without further threads the owner does the work itself.
package final class OrderedPipeline<Item: Sendable, Output: Sendable>: Sendable {
    /// The work of one thread on an item; it may keep state that no other thread uses.
    package typealias Work = (Item) throws -> Output

    private let stages: PipelineStages<Item, Output>
    private let workers: WorkerThreads?
    private let observation: CancellationFlag.Observation

    /// Starts the threads, or as many as the system allows.
    ///
    /// - Parameters:
    ///   - name: The name of the threads.
    ///   - threadCount: The number of threads; without any, results are to be taken with ``next()``.
    ///   - depth: The most items that wait, are worked on, or have results in use.
    ///   - ahead: The most items ahead of the result that was passed on last.
    ///   - cancellation: Ends all work and all waiting.
    ///   - source: Returns the next item, `nil` after the last; without it they are submitted.
    ///   - sink: Takes each result; without it the owner takes them.
    ///   - makeWork: Makes what a thread does with an item; called once for each thread.
    /// - Throws: ``SystemError`` if no thread can be started; errors of `makeWork`.
    package init(
        named name: String,
        threadCount: Int,
        depth: Int,
        ahead: Int = .max,
        cancellation: CancellationFlag,
        source: (() throws -> Item?)? = nil,
        sink: ((Output) throws -> Void)? = nil,
        makeWork: () throws -> Work
    ) throws {
        precondition(depth > 0 && (threadCount > 0 || source == nil && sink == nil))
        let works = try (0..<threadCount).map { _ in try makeWork() }
        let stages = PipelineStages(
            depth: depth,
            ahead: ahead,
            cancellation: cancellation,
            source: source,
            sink: sink,
            // If the owner would wait for an item that no thread has started, it does the item itself.
            ownersWork: source == nil && sink == nil ? try makeWork() : nil
        )
        self.stages = stages
        observation = cancellation.observe { stages.wakeAll() }
        stages.waitingWorks = works
        workers =
            works.isEmpty
            ? nil
            : try WorkerThreads(count: threadCount, named: name) { stages.work() }
    }

    /// Starts `threadCount` threads, or as many as the system allows, or none: the owner then does all the work.
    ///
    /// - Throws: Errors of `makeWork`.
    package convenience init(
        named name: String,
        upTo threadCount: Int,
        depth: Int,
        cancellation: CancellationFlag,
        makeWork: () throws -> Work
    ) throws {
        do {
            try self.init(
                named: name,
                threadCount: threadCount,
                depth: depth,
                cancellation: cancellation,
                makeWork: makeWork
            )
        } catch is SystemError {
            try self.init(
                named: name,
                threadCount: 0,
                depth: depth,
                cancellation: cancellation,
                makeWork: makeWork
            )
        }
    }

    deinit { abandon() }

    /// Submits an item; waits while the pipeline is full.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func submit(_ item: Item) throws { try stages.submit(item) }

    /// Waits for the next result; `nil` after the last.
    ///
    /// Its place in the pipeline is free again when ``release()`` is called.
    ///
    /// - Throws: The failure of the item whose turn it is; `CancellationError`.
    package func next() throws -> Output? { try stages.next() }

    /// Frees the place of a result that was taken with ``next()``.
    package func release() { stages.release() }

    /// Waits until the sink has every result, or all threads have stopped because of a failure.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func settle() throws { try stages.settle() }

    /// Waits until the sink has every result, and ends the threads.
    ///
    /// - Throws: The first failure in the order of the items; `CancellationError`.
    package func finish() throws {
        stages.close()
        workers?.join()
        try stages.settle()
    }

    /// Stops the threads and waits for them to finish their current items.
    package func abandon() {
        stages.stop()
        workers?.join()
        stages.forget()
    }
}

/// The state of a pipeline, which its owner and its threads share.
///
/// Safe because everything that changes is touched under `lock`, except for `source`, `sink` and
/// `ownersWork`: one thread at a time calls the source and the sink, and the owner does its work.
private final class PipelineStages<Item: Sendable, Output: Sendable>: @unchecked Sendable {
    private enum Place {
        case empty
        case waiting(Item)
        case underWay
        case done(Result<Output, any Error>)
    }

    private enum Job {
        case read(number: Int)
        case item(Item, number: Int)
    }

    /// The condition that the owner waits for.
    private enum Awaited {
        case nothing, room, result, quiet
    }

    private let depth: Int
    private let ahead: Int
    private let cancellation: CancellationFlag
    private var source: (() throws -> Item?)?
    private var sink: ((Output) throws -> Void)?
    private var ownersWork: ((Item) throws -> Output)?
    private let passesOn: Bool
    private let reads: Bool

    private let lock = SystemLock()
    /// Threads with nothing to do wait on it.
    private let arrival = SystemCondition()
    /// The owner waits on it.
    private let progress = SystemCondition()

    /// The work of the threads that have not started yet.
    var waitingWorks: [(Item) throws -> Output] = []

    /// The items from `passedOn` to `submitted`, each at its number modulo the depth.
    private var places: [Place]
    private var submitted = 0
    private var begun = 0
    private var passedOn = 0
    private var released = 0
    private var activeCount = 0
    private var idleCount = 0
    private var isReading = false
    private var isPassingOn = false
    private var isClosed = false
    private var isStopped = false
    private var hasFailed = false
    /// The first failure in the order of the items, once nothing can fail before it.
    private var failure: (any Error)?
    private var awaited = Awaited.nothing

    init(
        depth: Int,
        ahead: Int,
        cancellation: CancellationFlag,
        source: (() throws -> Item?)?,
        sink: ((Output) throws -> Void)?,
        ownersWork: ((Item) throws -> Output)?
    ) {
        self.depth = depth
        self.ahead = ahead
        self.cancellation = cancellation
        self.source = source
        self.sink = sink
        self.ownersWork = ownersWork
        passesOn = sink != nil
        reads = source != nil
        places = Array(repeating: .empty, count: depth)
    }

    private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    private var isOver: Bool { isStopped || failure != nil || cancellation.isCancelled }

    private var hasRoom: Bool { submitted - released < depth && submitted - passedOn < ahead }
}

// MARK: - The owner's side

extension PipelineStages {
    func submit(_ item: Item) throws {
        try locked {
            // After a failure, threads start nothing new, so that the first failure is soon known.
            try wait(for: .room)
            places[submitted % depth] = .waiting(item)
            submitted += 1
            if idleCount > 0 { arrival.signal() }
        }
    }

    func next() throws -> Output? {
        lock.lock()
        defer { lock.unlock() }
        try checkIsNotOver()
        helpWithFirst()
        try wait(for: .result)
        guard passedOn < submitted else { return nil }
        let place = passedOn % depth
        guard case .done(let result) = places[place] else { return nil }
        places[place] = .empty
        passedOn += 1
        wakeReader()
        if case .failure(let error) = result { fail(with: error) }
        return try result.get()
    }

    func release() {
        locked {
            released += 1
            wakeReader()
            wakeOwner()
        }
    }

    func settle() throws {
        try locked { try wait(for: .quiet) }
    }

    func close() {
        locked {
            isClosed = true
            arrival.broadcast()
        }
    }

    func stop() {
        locked {
            isStopped = true
            arrival.broadcast()
        }
    }

    /// Releases the closures, which may refer to the pipeline's owner.
    func forget() {
        (source, sink, ownersWork, waitingWorks) = (nil, nil, nil, [])
        places = Array(repeating: .empty, count: depth)
    }

    func wakeAll() {
        locked {
            arrival.broadcast()
            progress.broadcast()
        }
    }

    /// Does the first item on the owner's thread if no other thread has started it.
    private func helpWithFirst() {
        guard let ownersWork, begun == passedOn, begun < submitted,
            case .waiting(let item) = places[begun % depth]
        else { return }
        let number = begun
        places[number % depth] = .underWay
        begun += 1
        lock.unlock()
        let result = Result { try ownersWork(item) }
        lock.lock()
        places[number % depth] = .done(result)
    }

    private func wait(for awaited: Awaited) throws {
        self.awaited = awaited
        defer { self.awaited = .nothing }
        while !isThere(awaited) { progress.wait(lock) }
        try checkIsNotOver()
    }

    private func checkIsNotOver() throws {
        if let failure { throw failure }
        try cancellation.check()
        if isStopped { throw CancellationError() }
    }

    /// Wakes a thread to read if there is room; the lock is held.
    private func wakeReader() {
        if reads, !isReading, idleCount > 0, hasRoom { arrival.signal() }
    }

    private func wakeOwner() {
        if isThere(awaited) { progress.signal() }
    }

    private func isThere(_ awaited: Awaited) -> Bool {
        switch awaited {
        case .nothing: false
        case .room: isOver || hasRoom && !(hasFailed && passesOn)
        case .result: isOver || isFirstDone || isClosed && !isReading && passedOn == submitted
        case .quiet: activeCount == 0 && (isOver || released == submitted)
        }
    }

    private var isFirstDone: Bool {
        guard passedOn < submitted, case .done = places[passedOn % depth] else { return false }
        return true
    }
}

// MARK: - The threads' side

extension PipelineStages {
    /// Does one item after another, as one of the threads.
    func work() {
        guard let body = locked({ waitingWorks.popLast() }) else { return }
        lock.lock()
        while let job = nextJob() {
            activeCount += 1
            lock.unlock()
            perform(job, body)
            lock.lock()
            passOnResults()
            activeCount -= 1
            wakeOwner()
        }
        lock.unlock()
    }

    /// Waits for something to do; `nil` if there is nothing left.
    private func nextJob() -> Job? {
        while !isOver && !hasFailed {
            if begun < submitted, !reads, case .waiting(let item) = places[begun % depth] {
                places[begun % depth] = .underWay
                begun += 1
                return .item(item, number: begun - 1)
            }
            if isClosed { return nil }
            if reads, !isReading, hasRoom {
                isReading = true
                places[submitted % depth] = .underWay
                submitted += 1
                begun += 1
                return .read(number: submitted - 1)
            }
            idleCount += 1
            arrival.wait(lock)
            idleCount -= 1
        }
        return nil
    }

    private func perform(_ job: Job, _ body: (Item) throws -> Output) {
        switch job {
        case .item(let item, let number):
            end(number, with: Result { try body(item) })
        case .read(let number):
            let read = Result { try source?() }
            guard endReading(number, read), case .success(let item?) = read else { return }
            end(number, with: Result { try body(item) })
        }
    }

    /// Wakes another thread to read; returns `false` if no item was read.
    private func endReading(_ number: Int, _ read: Result<Item?, any Error>) -> Bool {
        locked {
            isReading = false
            switch read {
            case .success(.some):
                wakeReader()
                return true
            case .success(.none):
                submitted -= 1
                begun -= 1
                places[number % depth] = .empty
            case .failure(let error):
                places[number % depth] = .done(.failure(error))
                hasFailed = true
            }
            isClosed = true
            arrival.broadcast()
            return false
        }
    }

    private func end(_ number: Int, with result: Result<Output, any Error>) {
        locked {
            places[number % depth] = .done(result)
            guard case .failure = result else { return }
            hasFailed = true
            arrival.broadcast()
        }
    }

    /// Passes on the results that are due, unless another thread is doing so; the lock is held.
    private func passOnResults() {
        guard passesOn, !isPassingOn else { return }
        isPassingOn = true
        defer { isPassingOn = false }
        while !isOver, passedOn < submitted, case .done(let result) = places[passedOn % depth] {
            places[passedOn % depth] = .empty
            lock.unlock()
            let passed = Result { try sink?(try result.get()) }
            lock.lock()
            if case .failure(let error) = passed { return fail(with: error) }
            passedOn += 1
            released += 1
            wakeReader()
            wakeOwner()
        }
    }

    /// Ends all work because of the first failure; the lock is held.
    private func fail(with error: any Error) {
        if failure == nil { failure = error }
        arrival.broadcast()
        wakeOwner()
    }
}
