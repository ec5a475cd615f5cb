internal import MigrationArchive
internal import MigrationSystem

/// Reads what the other end of a conversation writes, in parts of known size.
struct PeerReader {
    /// The other end stopped early.
    struct CutShort: Error {}

    private let stream: OpenFile
    private let event: CancellationEvent
    private var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    private var rest: Range<Int> = 0..<0

    init(of stream: OpenFile, _ operation: MigrationOperation) throws(SystemError) {
        self.stream = stream
        event = try CancellationEvent(of: operation.cancellation)
    }

    /// Reads `count` bytes.
    mutating func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard try fill() else { throw CutShort() }
            let part = rest.prefix(count - bytes.count)
            bytes += buffer[part]
            rest.removeFirst(part.count)
        }
        return bytes
    }

    /// Copies the rest to `output`.
    mutating func copyRest(to output: ArchiveOutput) throws {
        while try fill() {
            try output.write(buffer.span.extracting(rest))
            rest = 0..<0
        }
    }

    /// Makes sure that some bytes are available; returns `false` at the end.
    private mutating func fill() throws -> Bool {
        guard rest.isEmpty else { return true }
        let size = buffer.count
        rest = 0..<(try stream.descriptor.read(into: &buffer, count: size, unless: event))
        return !rest.isEmpty
    }
}
