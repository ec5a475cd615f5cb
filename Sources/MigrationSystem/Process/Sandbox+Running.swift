extension Sandbox {
    /// What every program needs to start that is linked with libraries.
    private static let common: [Rule] = [
        rule("/usr", .readAndExecute),
        rule("/lib", .readAndExecute),
        rule("/lib32", .readAndExecute),
        rule("/lib64", .readAndExecute),
        rule("/libx32", .readAndExecute),
        rule("/etc/ld.so.cache", .read),
        rule("/etc/localtime", .read),
        rule("/etc/timezone", .read),
        rule("/dev/null", .readAndWrite),
        rule("/dev/zero", .read),
        rule("/dev/random", .read),
        rule("/dev/urandom", .read),
        // Swift reads its arguments there, and Dispatch the state of each thread by its number: it
        // ends the program where it can't. Nobody knows these numbers before. What tells more of a
        // process than `ps` does, its environment and memory, is denied outside the sandbox.
        rule("/proc", .readByName),
        // The number of processors, which concurrency asks for.
        rule("/sys/devices/system/cpu/online", .read),
        rule("/sys/devices/system/cpu/possible", .read),
    ]

    private static func rule(_ path: String, _ access: Access) -> Rule {
        Rule(path: ByteString(utf8: path), access: access)
    }

    /// The rules that `executable` needs to start: the system's programs and libraries, itself, the
    /// libraries that it brings along, and the resource bundles beside it.
    ///
    /// The rest of its directory is no part of them, nor are the directories on its search path:
    /// they may hold anything, and the executable itself names them.
    ///
    /// - Throws: ``SystemError`` where the executable can't be read.
    package static func rules(forRunning executable: ByteString) throws(SystemError) -> [Rule] {
        let files = try files(forRunning: executable)
        let rules = files.map { Rule(path: $0, access: .readAndExecute) }
        let bundles = try resourceBundles(in: PathName.parent(of: files[0]))
        // Whoever lays a link beside the executable must not decide what else it may read.
        return common + rules
            + bundles.map { Rule(path: $0, access: .read, followsLink: false) }
    }

    /// The path of `executable`, with no link in it, and those of the libraries that it brings along.
    ///
    /// - Throws: ``SystemError`` where the executable can't be read.
    package static func files(
        forRunning executable: ByteString
    ) throws(SystemError) -> [ByteString] {
        let path = try PathName.realPath(executable)
        return try [path]
            + LinkedLibraries(of: path).paths.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The directories that a package's build puts beside an executable that has resources.
    private static func resourceBundles(
        in directory: ByteString
    ) throws(SystemError) -> [ByteString] {
        let listing: DirectoryListing
        do throws(SystemError) {
            listing = try DirectoryListing(of: FileDescriptor.open(directory, .directory))
        } catch {
            guard error.isDenied else { throw error }
            return []
        }
        return (0..<listing.count).map { listing[$0] }
            .filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }
            .map { PathName(parent: directory, name: $0).path }
    }
}

extension ByteString {
    fileprivate func hasSuffix(_ suffix: String) -> Bool {
        count > suffix.utf8.count && self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
