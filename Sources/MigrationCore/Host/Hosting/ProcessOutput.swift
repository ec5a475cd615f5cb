internal import MigrationArchive
internal import MigrationSystem

/// What an extension's process prints, in lines.
final class ProcessOutput {
    private static let lineLimit = 4 << 10
    private static let readsAtOnce = 16
    private static let keptLines = 5

    private let process: ChildProcess
    private let handler: (@Sendable (String) -> Void)?
    private var line: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    private var isInStackTrace = false

    /// Whether nobody will print any more.
    private(set) var isAtEnd = false

    /// The last lines, as they may be shown.
    private(set) var lastLines: [String] = []

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
        if !line.isEmpty, process.ending != nil { endLine() }
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
        if byte == UInt8(ascii: "\n") || line.count == Self.lineLimit { endLine() }
        if byte != UInt8(ascii: "\n") { line.append(byte) }
    }

    private func endLine() {
        let text = PrintableText.escaping(line)
        line.removeAll(keepingCapacity: true)
        // What Swift's runtime adds to a fatal error would leave no room for the error.
        isInStackTrace = isInStackTrace || text.hasPrefix("Current stack trace:")
        if !isInStackTrace { lastLines.append(text) }
        if lastLines.count > Self.keptLines { lastLines.removeFirst() }
        handler?(text)
    }
}
