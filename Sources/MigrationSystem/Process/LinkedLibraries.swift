internal import Glibc

/// The libraries that come with an executable: those on its own search path.
///
/// The executable chooses its search path, but it must not gain access to other files there: only
/// ELF libraries are found, and only those that the executable names.
struct LinkedLibraries {
    /// The paths of the libraries.
    private(set) var paths: Set<BytePath> = []

    private var names: Set<BytePath> = []
    private var directories: Set<BytePath> = []
    private var tried: Set<BytePath> = []

    /// Finds the libraries of the program at `path`, which contains no links, and their libraries.
    ///
    /// - Throws: ``SystemError`` if the program can't be read.
    init(of path: BytePath) throws(SystemError) {
        guard let image = try Self.image(at: path) else { return }
        add(image, at: path)
        var known = 0
        while known < names.count + directories.count {
            known = names.count + directories.count
            for name in names { try find(name) }
        }
    }

    private mutating func find(_ name: BytePath) throws(SystemError) {
        let isPath = name.bytes.contains(UInt8(ascii: "/"))
        let candidates = isPath ? [name] : directories.map { $0 / name }
        for path in candidates where path.isAbsolute && tried.insert(path).inserted {
            do throws(SystemError) {
                guard let image = try Self.image(at: path), image.isLibrary else { continue }
                paths.insert(path)
                add(image, at: path)
            } catch {
                guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            }
        }
    }

    /// Adds the libraries that `image` names, up to a number that real programs don't exceed.
    private mutating func add(_ image: LinkedImage, at path: BytePath) {
        let named = image.libraries + [image.interpreter].compactMap(\.self)
        names.formUnion(named.prefix(max(0, 1000 - names.count)))
        let origin = path.parent
        let places = image.searchPath.map { $0.replacingOrigin(with: origin) }
        directories.formUnion(places.prefix(max(0, 100 - directories.count)))
    }

    private static func image(at path: BytePath) throws(SystemError) -> LinkedImage? {
        // Opening a device can have side effects.
        guard try FileDescriptor.openPlace(path).status().kind == .regular else { return nil }
        return try LinkedImage(FileDescriptor.openFollowingLinks(path, .reading))
    }
}

extension BytePath {
    /// Replaces `$ORIGIN` with the directory of the file, as the loader does.
    fileprivate func replacingOrigin(with directory: BytePath) -> BytePath {
        for word in ["$ORIGIN", "${ORIGIN}"] where bytes.starts(with: word.utf8) {
            return BytePath(directory.bytes + bytes.dropFirst(word.utf8.count))
        }
        return self
    }
}

/// The names of the libraries that an ELF executable or library is linked with.
///
/// The file is not trusted: reading always ends, and a damaged file has no libraries.
struct LinkedImage {
    /// Whether it can be loaded at any address, unlike other programs and core dumps.
    let isLibrary: Bool
    /// The program that loads the libraries.
    private(set) var interpreter: BytePath?
    /// The names or paths of the libraries.
    private(set) var libraries: [BytePath] = []
    /// The directories to look for them, as written.
    private(set) var searchPath: [BytePath] = []

    /// Reads `file`; `nil` if it isn't a 64-bit ELF file of this byte order.
    init?(_ file: borrowing FileDescriptor) throws(SystemError) {
        guard let header = try file.bytes(at: 0, count: 64),
            header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        else { return nil }
        isLibrary = header.littleEndian(at: 16, as: UInt16.self) == 3
        let size = Int(header.littleEndian(at: 54, as: UInt16.self))
        let count = Int(header.littleEndian(at: 56, as: UInt16.self))
        guard size == 56 else { return nil }
        let table = header.littleEndian(at: 32, as: UInt64.self)
        guard let bytes = try file.bytes(at: table, count: size * count) else { return nil }
        let segments = (0..<count).map { Segment(bytes, at: $0 * size) }
        if let segment = segments.first(where: { $0.type == 3 }) {
            interpreter = try file.string(at: segment.offset)
        }
        if let segment = segments.first(where: { $0.type == 2 }) {
            try readDynamic(segment, among: segments, of: file)
        }
    }

    private mutating func readDynamic(
        _ dynamic: Segment,
        among segments: [Segment],
        of file: borrowing FileDescriptor
    ) throws(SystemError) {
        // Each entry has 16 bytes; a program has some dozens of them.
        let size = Int(min(dynamic.size, 1 << 20))
        guard let bytes = try file.bytes(at: dynamic.offset, count: size) else { return }
        let entries = stride(from: 0, to: size - 15, by: 16).lazy
            .map {
                (
                    bytes.littleEndian(at: $0, as: UInt64.self),
                    bytes.littleEndian(at: $0 + 8, as: UInt64.self)
                )
            }
            .prefix { $0.0 != 0 }
        guard let address = entries.first(where: { $0.0 == 5 })?.1,
            let strings = segments.lazy.compactMap({ $0.offset(of: address) }).first
        else { return }
        for (tag, value) in entries where tag == 1 || tag == 15 || tag == 29 {
            guard let string = try file.string(at: strings &+ value) else { continue }
            if tag == 1 {
                libraries.append(string)
            } else {
                searchPath += string.bytes.split(separator: UInt8(ascii: ":")).map(BytePath.init)
            }
        }
    }
}

/// A part of the file, and the address to which it is mapped.
private struct Segment {
    let type: UInt32
    let offset: UInt64
    let address: UInt64
    let size: UInt64

    init(_ table: [UInt8], at start: Int) {
        type = table.littleEndian(at: start, as: UInt32.self)
        offset = table.littleEndian(at: start + 8, as: UInt64.self)
        address = table.littleEndian(at: start + 16, as: UInt64.self)
        size = table.littleEndian(at: start + 32, as: UInt64.self)
    }

    /// The position in the file of the byte that is mapped to `address`.
    func offset(of address: UInt64) -> UInt64? {
        guard type == 1, address >= self.address, address - self.address < size else { return nil }
        return offset &+ (address - self.address)
    }
}

extension FileDescriptor {
    /// Reads `count` bytes at `offset`; `nil` if the file has fewer.
    fileprivate borrowing func bytes(
        at offset: UInt64,
        count: Int
    ) throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return try readPart(at: offset, into: &bytes) == count ? bytes : nil
    }

    /// Reads the bytes before the next zero byte, at most as many as a path may have.
    fileprivate borrowing func string(at offset: UInt64) throws(SystemError) -> BytePath? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try readPart(at: offset, into: &bytes)
        return bytes[..<count].firstIndex(of: 0).map { BytePath(bytes[..<$0]) }
    }

    private borrowing func readPart(
        at offset: UInt64,
        into bytes: inout [UInt8]
    ) throws(SystemError) -> Int {
        guard offset <= UInt64(Int64.max) - UInt64(bytes.count) else { return 0 }
        return try read(at: offset, into: &bytes, count: bytes.count)
    }
}
