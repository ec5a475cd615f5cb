/// The libraries that an executable brings along: those that its own search path leads to.
///
/// Where they are is the executable's own choice, which must not decide what else it may read
/// there: only libraries in ELF are found, and only by the names that are asked for.
struct LinkedLibraries {
    /// The paths of what was found.
    private(set) var paths: Set<ByteString> = []

    private var names: Set<ByteString> = []
    private var directories: Set<ByteString> = []
    private var tried: Set<ByteString> = []

    /// Finds the libraries of the program at `path`, which has no link in it, and their libraries.
    ///
    /// - Throws: ``SystemError`` where the program can't be read.
    init(of path: ByteString) throws(SystemError) {
        guard let image = try Self.image(at: path) else { return }
        add(image, at: path)
        var known = 0
        while known < names.count + directories.count {
            known = names.count + directories.count
            for name in names { try find(name) }
        }
    }

    private mutating func find(_ name: ByteString) throws(SystemError) {
        let slash = UInt8(ascii: "/")
        let candidates = name.contains(slash) ? [name] : directories.map { $0 + [slash] + name }
        for path in candidates where path.first == slash && tried.insert(path).inserted {
            do throws(SystemError) {
                guard let image = try Self.image(at: path), image.isLibrary else { continue }
                paths.insert(path)
                add(image, at: path)
            } catch {
                guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            }
        }
    }

    /// Goes on to what `image` names, as far as a program that is meant to be run goes.
    private mutating func add(_ image: LinkedImage, at path: ByteString) {
        let named = image.libraries + [image.interpreter].compactMap(\.self)
        names.formUnion(named.prefix(max(0, 1000 - names.count)))
        let origin = PathName.parent(of: path)
        let places = image.searchPath.map { $0.replacingOrigin(with: origin) }
        directories.formUnion(places.prefix(max(0, 100 - directories.count)))
    }

    private static func image(at path: ByteString) throws(SystemError) -> LinkedImage? {
        // Opening a device can have an effect.
        guard try FileDescriptor.openPlace(path).status().kind == .regular else { return nil }
        return try LinkedImage(FileDescriptor.openFollowingLinks(path, .reading))
    }
}

extension ByteString {
    /// Puts the directory of a file in the place of `$ORIGIN`, as the loader does.
    fileprivate func replacingOrigin(with directory: ByteString) -> ByteString {
        for word in ["$ORIGIN", "${ORIGIN}"] where starts(with: word.utf8) {
            return directory + dropFirst(word.utf8.count)
        }
        return self
    }
}
