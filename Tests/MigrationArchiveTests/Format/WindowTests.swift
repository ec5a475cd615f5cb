import TestSupport
import Testing

@testable import MigrationArchive

/// The order of entries in an archive, on random trees, compared with plain descriptions of it.
struct WindowTests {
    private struct Entry: Equatable {
        let path: EntryPath
        let kind: ArchiveEntry.Kind

        var size: WindowCutter.Size { WindowCutter.Size(kind, at: path) }
        var key: WindowKey { WindowKey(kind, at: path) }

        static func < (left: Entry, right: Entry) -> Bool {
            left.key.precedes(right.key, left.path, right.path)
        }

        /// The key, as the format describes it.
        var description: [[UInt8]] {
            let name = [UInt8](path.lastComponent)
            let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? 0
            let depth = UInt8(255 - path.components.count)
            let group: [UInt8] =
                switch kind {
                case .symbolicLink: [0]
                case .file: [1]
                case .hardLink: [2]
                case .directory: [3, depth]
                }
            return [group, dot > 0 ? [UInt8](name[(dot + 1)...]) : [], name, path.bytes]
        }
    }

    /// A tree of random names and kinds.
    private struct Tree {
        var random: Random
        /// As a walk leaves them.
        private(set) var entries: [Entry] = []
        private let letters = [UInt8]("ab.. -~0\u{E9}".utf8)
        private let largest: UInt64
        private let longest: Int

        init(seed: UInt64) {
            random = Random(state: seed)
            largest = [10, 100_000, 240 << 20, 800 << 20][Int(seed % 4)]
            longest = seed % 7 == 0 ? 250 : 12
            addEntries(in: [], depth: 0)
        }

        private mutating func addEntries(in directory: [UInt8], depth: Int) {
            var names: Set<[UInt8]> = []
            for _ in 0..<Int.random(in: 0...(depth < 3 ? 9 : 3), using: &random) {
                names.insert(name())
            }
            for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let path = directory.isEmpty ? name : directory + [UInt8(ascii: "/")] + name
                addEntry(at: path, depth: depth)
            }
        }

        private mutating func addEntry(at path: [UInt8], depth: Int) {
            let kind: ArchiveEntry.Kind
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2 where depth < 5:
                addEntries(in: path, depth: depth + 1)
                kind = .directory
            case 3: kind = .symbolicLink(target: name())
            case 4:
                let files = entries.filter { if case .file = $0.kind { true } else { false } }
                guard let file = files.randomElement(using: &random) else { fallthrough }
                kind = .hardLink(target: file.path)
            default: kind = .file(size: UInt64.random(in: 0...largest, using: &random))
            }
            entries.append(Entry(path: EntryPath(bytes: path), kind: kind))
        }

        private mutating func name() -> [UInt8] {
            let count = Int.random(in: 1...longest, using: &random)
            let bytes = (0..<count).map { _ in letters.randomElement(using: &random) ?? 0x61 }
            return bytes.allSatisfy { $0 == UInt8(ascii: ".") } ? [0x61] : bytes
        }
    }

    private func windows(of entries: [Entry]) -> [[Entry]] {
        var cutter = WindowCutter()
        var windows: [[Entry]] = []
        for entry in entries {
            if cutter.take(entry.size) { windows.append([]) }
            windows[windows.count - 1].append(entry)
        }
        return windows.map { $0.sorted(by: <) }
    }

    /// Whether windows may hold the entries in this order; and whether they are in tree order.
    private func isInTreeOrder(_ windows: [[Entry]]) -> Bool? {
        var order = WindowOrder()
        for window in windows {
            for (index, entry) in window.enumerated() {
                let fits = order.take(
                    entry.kind,
                    at: entry.path,
                    place: index == 0 ? .first : .further
                )
                if !fits { return nil }
            }
        }
        return order.isInTreeOrder
    }

    @Test func `a walk leaves a directory after what is in it`() {
        for seed in Thoroughness.seeds(1000) {
            let entries = Tree(seed: seed).entries
            let paths = entries.map(\.path)
            let pairs = zip(paths, paths.dropFirst())
            #expect(pairs.allSatisfy { $0.isLeft(before: $1) && !$1.isLeft(before: $0) })
            let shuffled = entries.shuffled().sorted { $0.path.isLeft(before: $1.path) }
            #expect(shuffled == entries)
        }
    }

    @Test func `keys compare by kind, extension, name and path`() {
        for seed in Thoroughness.seeds(1000) {
            var tree = Tree(seed: seed)
            let entries = tree.entries.shuffled(using: &tree.random).prefix(20)
            let described = entries.map { ($0, $0.description) }
            var differing = 0
            for (entry, description) in described {
                for (other, described) in described {
                    let place = zip(description, described).first { $0 != $1 }
                    let expected = place.map { $0.lexicographicallyPrecedes($1) } ?? false
                    if (entry < other) != expected { differing += 1 }
                }
            }
            #expect(differing == 0, "\(seed)")
        }
    }

    @Test func `windows are as full as they may be and in an order that can be restored`() {
        var largest = 0
        for seed in Thoroughness.seeds(2000) {
            let entries = Tree(seed: seed).entries
            let windows = windows(of: entries)
            largest = max(largest, windows.count)
            #expect(windows.flatMap { $0 }.count == entries.count)
            #expect(isInTreeOrder(windows) == true)
            for (window, next) in zip(windows, windows.dropFirst()) {
                let content = window.reduce(0) { $0 + size($1) }
                #expect(window.count == 1 || content <= 512 << 20)
                let first = next.min { $0.path.isLeft(before: $1.path) }
                #expect(content + (first.map(size) ?? 0) > 512 << 20)
            }
            expectLinksAndDirectoriesLast(windows.flatMap { $0 })
        }
        #expect(largest > 10)
    }

    private func size(_ entry: Entry) -> UInt64 {
        if case .file(let size) = entry.kind { size } else { 0 }
    }

    /// Checks that every hard link comes after its target and every directory after its entries.
    private func expectLinksAndDirectoriesLast(_ entries: [Entry]) {
        var seen: Set<EntryPath> = []
        var closed: Set<EntryPath> = []
        var misplaced: [EntryPath] = []
        for entry in entries {
            if case .hardLink(let target) = entry.kind, !seen.contains(target) {
                misplaced.append(entry.path)
            }
            if case .directory = entry.kind { closed.insert(entry.path) }
            if let parent = entry.path.parent, closed.contains(parent) {
                misplaced.append(entry.path)
            }
            seen.insert(entry.path)
        }
        #expect(misplaced == [])
    }

    @Test func `a window ends after 8,192 entries, 512 MiB of content or 1 MiB of paths`() {
        func cut(_ kinds: [ArchiveEntry.Kind], path: Int = 1) -> [Int] {
            let path = EntryPath(bytes: [UInt8](repeating: 0x61, count: path))
            var cutter = WindowCutter()
            var counts: [Int] = []
            for kind in kinds {
                if cutter.take(WindowCutter.Size(kind, at: path)) { counts.append(0) }
                counts[counts.count - 1] += 1
            }
            return counts
        }
        let mebibyte: UInt64 = 1 << 20
        #expect(cut(Array(repeating: .directory, count: 20_000)) == [8192, 8192, 3616])
        #expect(cut(Array(repeating: .file(size: 8 * mebibyte), count: 130)) == [64, 64, 2])
        #expect(cut([.directory, .file(size: 512 * mebibyte), .directory]) == [3])
        #expect(cut([.directory, .file(size: 512 * mebibyte + 1), .directory]) == [1, 1, 1])
        #expect(cut(Array(repeating: .directory, count: 1025), path: 1024) == [1024, 1])
        let link = ArchiveEntry.Kind.symbolicLink(target: [UInt8](repeating: 0x61, count: 1000))
        #expect(cut(Array(repeating: link, count: 1025), path: 24) == [1024, 1])
        let target = EntryPath(bytes: [UInt8](repeating: 0x61, count: 1000))
        let hardLinks = Array(repeating: ArchiveEntry.Kind.hardLink(target: target), count: 1025)
        #expect(cut(hardLinks, path: 24) == [1024, 1])
    }

    @Test func `an entry in another place is refused or shows`() {
        var refusals = 0
        var others = 0
        let seeds = Thoroughness.seeds(2000)
        for seed in seeds {
            var tree = Tree(seed: seed)
            let windows = windows(of: tree.entries)
            for _ in 0..<3 {
                guard let changed = changed(windows, &tree.random) else { continue }
                let outcome = isInTreeOrder(changed)
                let singles = changed.allSatisfy { $0.count == 1 }
                #expect(outcome != true || singles, "\(windows) \(changed)")
                if outcome == nil { refusals += 1 } else { others += 1 }
            }
        }
        #expect(refusals > seeds.count / 4)
        #expect(others > seeds.count / 4)
    }

    /// Windows with one entry moved, repeated or left out of its window, or one more cut or one less.
    private func changed(_ windows: [[Entry]], _ random: inout Random) -> [[Entry]]? {
        guard let place = windows.indices.randomElement(using: &random) else { return nil }
        var changed = windows
        let index = windows[place].indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let other = windows[place].indices.randomElement(using: &random) ?? 0
            guard other != index else { return nil }
            changed[place].swapAt(index, other)
        case 1:
            guard let other = windows.indices.randomElement(using: &random) else { return nil }
            let entry = windows[place][index]
            changed[other].insert(entry, at: windows[other].indices.randomElement() ?? 0)
        case 2:
            guard index > 0 else { return nil }
            changed[place].removeLast(windows[place].count - index)
            changed.insert([Entry](windows[place][index...]), at: place + 1)
        default:
            guard place > 0 else { return nil }
            changed[place - 1] += changed.remove(at: place)
        }
        return changed
    }

    @Test func `a client's entries are in tree order one by one`() {
        for seed in 0..<100 as Range<UInt64> {
            let entries = Tree(seed: seed).entries
            #expect(isInTreeOrder(entries.map { [$0] }) == true)
            guard entries.count > 1 else { continue }
            #expect(isInTreeOrder(entries.reversed().map { [$0] }) == false)
        }
    }

    @Test func `no entry comes before a window begins`() {
        var order = WindowOrder()
        let isHeld = order.take(.directory, at: EntryPath("a"), place: .further)
        #expect(!isHeld)
    }
}

/// Numbers that look random and are the same each time.
private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
