internal import MigrationArchive
internal import MigrationSystem

/// What an extension's process prints, in lines: the first ones of a session, and how much follows.
final class ProcessOutput {
    private static let lineLimit = 4 << 10
    private static let readsAtOnce = 16
    private static let keptLines = 5

    /// The most that is shown of a session.
    private static let shownBytes = 1 << 20
    private static let shownLines = 1 << 14

    private let process: ChildProcess
    private let handler: (@Sendable (String) -> Void)?
    private var line: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    private var isInStackTrace = false
    private var lines = 0
    private var bytes = 0
    private var unshownBytes: UInt64 = 0
    private var last: [[UInt8]] = []

    /// Whether nobody will print any more.
    private(set) var isAtEnd = false

    /// The last lines, as they may be shown.
    var lastLines: [String] { last.map { PrintableText.escaping($0) } }

    init(of process: ChildProcess, handler: (@Sendable (String) -> Void)?) {
        self.process = process
        self.handler = handler
    }

    /// Reads what has been printed, without waiting for more, and no more than some at a time.
    func drain() {
        for _ in 0..<Self.readsAtOnce {
            guard let count = read() else { break }
            isAtEnd = count == 0
            if isAtEnd { break }
            for byte in buffer[..<count] { take(byte) }
        }
        if !line.isEmpty, process.ending != nil { endLine(ended: false) }
    }

    /// Reads once; `nil` where nothing has come, 0 where nobody will print any more.
    private func read() -> Int? {
        do throws(SystemError) {
            return try process.output.descriptor.read(
                into: &buffer,
                from: 0,
                count: buffer.count
            )
        } catch {
            return nil
        }
    }

    private func take(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") { return endLine(ended: true) }
        if line.count == Self.lineLimit { endLine(ended: false) }
        line.append(byte)
    }

    private func endLine(ended: Bool) {
        defer { line.removeAll(keepingCapacity: true) }
        // What Swift's runtime adds to a fatal error would leave no room for the error.
        isInStackTrace = isInStackTrace || line.starts(with: "Current stack trace:".utf8)
        if !isInStackTrace { last.append(line) }
        if last.count > Self.keptLines { last.removeFirst() }
        show(ended: ended)
    }

    private func show(ended: Bool) {
        guard let handler else { return }
        let text = unshownBytes == 0 ? PrintableText.escaping(line) : ""
        lines += 1
        bytes += text.utf8.count + 1
        guard unshownBytes == 0, lines <= Self.shownLines, bytes <= Self.shownBytes else {
            unshownBytes += UInt64(line.count + (ended ? 1 : 0))
            return
        }
        handler(text)
    }

    /// Says once how much was printed that was not shown.
    func end() {
        drain()
        guard unshownBytes > 0 else { return }
        handler?("(\(unshownBytes) more bytes were printed, which are not shown)")
        unshownBytes = 0
    }
}
