internal import MigrationArchive

/// The rows of a container that can be archived, in tree order.
///
/// A container can have a million rows, whose names need more memory than a conversion may use. So
/// only the next part of the names is kept, and each part takes a pass over the manifest.
struct ContainerOrder {
    struct Item {
        let path: EntryPath
        let number: Int64
        let flags: Int64
    }

    private let manifest: Manifest
    private let domain: [UInt8]
    /// The numbers of the rows that are lost or left out, in order.
    private let skipped: [Int64]
    private let first: Part

    /// Makes the order of the rows of `domain`, except those in `skipped`.
    ///
    /// The numbers in `skipped` are in order, and the first part is finished.
    init(of domain: [UInt8], in manifest: Manifest, skipping skipped: [Int64], first: Part) {
        (self.domain, self.manifest, self.skipped, self.first) = (domain, manifest, skipped, first)
    }

    /// Calls `body` with every row.
    ///
    /// - Parameters:
    ///   - lost: Called with paths that can't be used, and the reason.
    ///   - body: Called with the others.
    /// - Throws: The errors of `body`, and those of the manifest.
    func forEach(
        lost: (ContainerReport.Remarks) -> Void = { _ in },
        _ body: (Item) throws -> Void
    ) throws {
        var next: Part? = first
        // The last item that isn't a directory; nothing can be below it.
        var leaf: EntryPath?
        while let part = next {
            lost(part.twice)
            for item in part {
                if let leaf, item.path.isEqual(toOrBelow: leaf) {
                    var below = ContainerReport.Remarks()
                    below.append(item.path, "it lies in what is a file or a link in the backup")
                    lost(below)
                    continue
                }
                if item.flags != FileRecord.Kind.directory.flags { leaf = item.path }
                try body(item)
            }
            let end = part.end
            next = nil
            next = try end.map { try makePart(from: $0) }
        }
    }

    private func makePart(from start: [UInt8]) throws -> Part {
        var part = Part(from: start)
        var skip = skipped.startIndex
        try manifest.forEachRow { row in
            guard row.isOf(domain) else { return }
            let number = row.number
            while skip < skipped.endIndex, skipped[skip] < number { skip += 1 }
            guard skip == skipped.endIndex || skipped[skip] != number else { return }
            part.add(row.path, number: number, flags: row.flags)
        }
        part.finish()
        return part
    }
}

// MARK: - Parts

extension ContainerOrder {
    /// Rows with consecutive names in tree order.
    struct Part: Sequence {
        private struct Row {
            let number: Int64
            let start: UInt32
            let count: UInt16
            let flags: UInt8
        }

        private static let limit = 4 << 20
        /// The limit, and the longest name.
        private static let capacity = limit + Int(UInt16.max)

        /// Where the part begins; `nil` if it begins with the very first name.
        private let start: [UInt8]?
        /// The first name of the next part; `nil` if this one is the last.
        private(set) var end: [UInt8]?
        /// The names that occurred before.
        private(set) var twice = ContainerReport.Remarks()
        private var names: [UInt8] = []
        private var rows: [Row] = []

        init(from start: [UInt8]? = nil) {
            self.start = start
        }

        /// Adds a row, whose number is above all others, if its name is in this part.
        mutating func add(_ name: [UInt8], number: Int64, flags: Int64) {
            if let start, TreeOrder.precedes(name.span, start.span) { return }
            if let end, !TreeOrder.precedes(name.span, end.span) { return }
            let (start, count) = (UInt32(names.count), UInt16(clamping: name.count))
            rows.append(
                Row(number: number, start: start, count: count, flags: UInt8(clamping: flags))
            )
            names += name
            if names.count > Self.limit {
                halve()
            } else if names.count > Self.limit / 2 {
                // A growing array would take twice the memory that it needs.
                names.reserveCapacity(Self.capacity)
            }
        }

        /// Sorts the rows.
        mutating func finish() {
            sort()
            keep(rows.count)
        }

        private mutating func halve() {
            sort()
            var count = rows.count / 2
            while count < rows.count, count > 0, compare(rows[count - 1], rows[count]) == 0 {
                count += 1
            }
            if count < rows.count { end = [UInt8](names[range(of: rows[count])]) }
            keep(count)
        }

        /// Keeps the first rows, and among rows with the same name the earliest.
        private mutating func keep(_ count: Int) {
            var (kept, rest): ([Row], [UInt8]) = ([], [])
            kept.reserveCapacity(count)
            rest.reserveCapacity(rows.prefix(count).reduce(0) { $0 + Int($1.count) })
            var last: Row?
            for row in rows.prefix(count) {
                if let last, compare(last, row) == 0 {
                    twice.append(path(of: row), "its path comes twice in the backup")
                    continue
                }
                last = row
                let start = UInt32(rest.count)
                rest += names[range(of: row)]
                kept.append(
                    Row(number: row.number, start: start, count: row.count, flags: row.flags)
                )
            }
            (rows, names) = (kept, rest)
            if end != nil { names.reserveCapacity(Self.capacity) }
        }

        private mutating func sort() {
            let names = names
            rows.sort { left, right in
                let order = Self.compare(left, right, in: names)
                return order == 0 ? left.number < right.number : order < 0
            }
        }

        private func compare(_ left: Row, _ right: Row) -> Int {
            Self.compare(left, right, in: names)
        }

        private static func compare(_ left: Row, _ right: Row, in names: [UInt8]) -> Int {
            let left = names.span.extracting(range(of: left))
            let right = names.span.extracting(range(of: right))
            if TreeOrder.precedes(left, right) { return -1 }
            return TreeOrder.precedes(right, left) ? 1 : 0
        }

        private static func range(of row: Row) -> Range<Int> {
            Int(row.start)..<Int(row.start) + Int(row.count)
        }

        private func range(of row: Row) -> Range<Int> { Self.range(of: row) }

        private func path(of row: Row) -> EntryPath {
            EntryPath(bytes: [UInt8](names[range(of: row)]))
        }

        func makeIterator() -> some IteratorProtocol<Item> {
            rows.lazy.map { row in
                Item(path: path(of: row), number: row.number, flags: Int64(row.flags))
            }.makeIterator()
        }
    }
}
