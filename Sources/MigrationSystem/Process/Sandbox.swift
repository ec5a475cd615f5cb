internal import CMigrationShims
internal import Glibc

/// The parts of the machine that a process may reach.
///
/// The process can't open, list, make, rename or remove files outside the rules. It can't make
/// sockets, signal or trace processes outside, change their limits and priorities, use shared memory,
/// semaphores or queues of System V, or make mounts and namespaces. A superuser keeps only the
/// privileges over files.
///
/// It can read the status of files outside, and change their mode, owner, times and extended
/// attributes as far as its user may, unless it has a ``PrivateRoot``.
package struct Sandbox: Sendable {
    /// The allowed access to a file, or to everything beneath a directory.
    package enum Access: Sendable {
        /// Reading files whose names are known, without listing.
        case readByName
        /// Reading and listing.
        case read
        /// Reading, listing and running.
        case readAndExecute
        /// Everything except making device nodes.
        case readAndWrite
    }

    /// Permission for one file, or for one directory and everything beneath it.
    package struct Rule: Sendable, Equatable {
        /// Its path when the process starts.
        package let path: BytePath
        /// The allowed access.
        package let access: Access
        /// Whether a link at the path is followed; if not, the path must be a directory.
        package let followsLink: Bool

        package init(path: BytePath, access: Access, followsLink: Bool = true) {
            (self.path, self.access, self.followsLink) = (path, access, followsLink)
        }
    }

    /// The rules; everything else is denied.
    package let rules: [Rule]

    /// The files and directories that a process with a ``PrivateRoot`` may reach while it asks for
    /// them, and another process always.
    package let grants: [Rule]

    /// The system's confinement features; without one of them, that part isn't confined.
    package let support: Support

    /// Confines to `rules`, without those whose path is missing or not accessible to the host.
    package init(rules: [Rule], grants: [Rule] = [], by support: Support = Sandbox.support) {
        self.rules = rules
        // A resource inside another one must come after it.
        self.grants = grants.sorted { $0.path < $1.path }
        self.support = support
    }
}

// MARK: - Support

extension Sandbox {
    /// The confinement features of a system.
    package struct Support: Sendable, Equatable {
        /// The version of Landlock; 0 if the kernel has none.
        ///
        /// Version 2 allows renaming between directories. Version 3 confines truncating, 4 confines TCP
        /// if system calls are not filtered, and 6 confines signals and abstract sockets.
        package let landlockVersion: Int
        package let filtersSystemCalls: Bool

        package init(landlockVersion: Int, filtersSystemCalls: Bool) {
            (self.landlockVersion, self.filtersSystemCalls) = (landlockVersion, filtersSystemCalls)
        }

        package var confinesFiles: Bool { landlockVersion > 0 }
    }

    /// The features of this system.
    package static var support: Support {
        Support(
            landlockVersion: Int(max(0, migration_landlock_version())),
            filtersSystemCalls: migration_can_filter()
        )
    }
}

// MARK: - Ruleset

extension Sandbox {
    /// Makes the kernel's form of the rules; `nil` if only system calls can be confined.
    ///
    /// - Throws: ``SystemError`` of `landlock_create_ruleset` if not even those can be confined.
    func ruleset() throws(SystemError) -> OpenFile? {
        guard support.confinesFiles else {
            if support.filtersSystemCalls { return nil }
            throw SystemError("landlock_create_ruleset", code: EOPNOTSUPP)
        }
        let version = support.landlockVersion
        let known = LandlockAccess.known(to: version)
        var attributes = migration_ruleset(
            file_access: known.rawValue,
            // Binding and connecting; abstract sockets and signals.
            network_access: version >= 4 ? 0b11 : 0,
            scopes: version >= 6 ? 0b11 : 0
        )
        let number = unsafe migration_make_ruleset(&attributes)
        guard number >= 0 else { throw SystemError("landlock_create_ruleset") }
        let ruleset = OpenFile(FileDescriptor(adopting: number))
        for rule in rules + grants { try rule.add(to: ruleset, known) }
        return ruleset
    }
}

extension Sandbox.Rule {
    fileprivate func add(
        to ruleset: OpenFile,
        _ known: LandlockAccess
    ) throws(SystemError) {
        guard let place = try place() else { return }
        var rights = access.rights.intersection(known)
        if try place.descriptor.status().kind != .directory { rights.formIntersection(.ofFiles) }
        let (ruleset, number) = (ruleset.descriptor.rawValue, place.descriptor.rawValue)
        guard migration_allow(ruleset, number, rights.rawValue) == 0 else {
            throw SystemError("landlock_add_rule")
        }
    }

    /// The file at the path; `nil` if the host can't reach it either.
    private func place() throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            guard followsLink else { return OpenFile(try FileDescriptor.open(path, .directory)) }
            return OpenFile(try FileDescriptor.openPlace(path))
        } catch {
            guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            return nil
        }
    }
}

/// Rights that Landlock grants, as the kernel's bits.
struct LandlockAccess: OptionSet, Sendable {
    let rawValue: UInt64

    static let execute = LandlockAccess(rawValue: 1 << 0)
    static let writeFile = LandlockAccess(rawValue: 1 << 1)
    static let readFile = LandlockAccess(rawValue: 1 << 2)
    static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    static let makeCharacterDevice = LandlockAccess(rawValue: 1 << 6)
    static let makeBlockDevice = LandlockAccess(rawValue: 1 << 11)
    /// Linking and renaming between directories; always denied below version 2.
    static let refer = LandlockAccess(rawValue: 1 << 13)
    /// From version 3.
    static let truncate = LandlockAccess(rawValue: 1 << 14)
    /// Commands to devices, from version 5.
    static let commandDevice = LandlockAccess(rawValue: 1 << 15)

    /// The rights that apply to files other than directories.
    static let ofFiles: LandlockAccess = [
        .execute, .writeFile, .readFile, .truncate, .commandDevice,
    ]

    /// The rights over files that a version of Landlock has.
    static func known(to version: Int) -> LandlockAccess {
        // Version 1 has the first thirteen rights, up to making symbolic links.
        var access = LandlockAccess(rawValue: (1 << 13) - 1)
        if version >= 2 { access.insert(.refer) }
        if version >= 3 { access.insert(.truncate) }
        if version >= 5 { access.insert(.commandDevice) }
        return access
    }
}

extension Sandbox.Access {
    var rights: LandlockAccess {
        switch self {
        case .readByName: [.readFile]
        case .read: [.readFile, .readDirectory]
        case .readAndExecute: [.readFile, .readDirectory, .execute]
        case .readAndWrite:
            .known(to: .max).subtracting([.makeCharacterDevice, .makeBlockDevice])
        }
    }
}

// MARK: - Running a program

extension Sandbox {
    /// The files that every dynamically linked program needs to start.
    private static let common: [Rule] = [
        rule("/usr", access: .readAndExecute),
        rule("/lib", access: .readAndExecute),
        rule("/lib32", access: .readAndExecute),
        rule("/lib64", access: .readAndExecute),
        rule("/libx32", access: .readAndExecute),
        rule("/etc/ld.so.cache", access: .read),
        rule("/etc/localtime", access: .read),
        rule("/etc/timezone", access: .read),
        rule("/dev/null", access: .readAndWrite),
        rule("/dev/zero", access: .read),
        rule("/dev/random", access: .read),
        rule("/dev/urandom", access: .read),
        // Swift reads its arguments there. Dispatch reads the state of each thread by its number,
        // which isn't known beforehand, and crashes if it can't. The files that show more about a
        // process than `ps` does, its environment and memory, are denied outside the sandbox.
        rule("/proc", access: .readByName),
        // Swift's concurrency reads the number of processors.
        rule("/sys/devices/system/cpu/online", access: .read),
        rule("/sys/devices/system/cpu/possible", access: .read),
    ]

    private static func rule(_ path: String, access: Access) -> Rule {
        Rule(path: BytePath(path), access: access)
    }

    /// The rules that `executable` needs to start: the system's programs and libraries, itself, the
    /// libraries that come with it, and the resource bundles beside it.
    ///
    /// The rest of its directory is not allowed, nor are the directories on its search path: they
    /// may hold any files, and the executable chooses them itself.
    ///
    /// - Throws: ``SystemError`` if the executable can't be read.
    package static func rules(forRunning executable: BytePath) throws(SystemError) -> [Rule] {
        let files = try files(forRunning: executable)
        let rules = files.map { Rule(path: $0, access: .readAndExecute) }
        let bundles = try resourceBundles(in: files[0].parent)
        // A link beside the executable must not give it access to other files.
        return common + rules
            + bundles.map { Rule(path: $0, access: .read, followsLink: false) }
    }

    /// The resolved path of `executable`, and those of the libraries that come with it.
    ///
    /// - Throws: ``SystemError`` if the executable can't be read.
    package static func files(
        forRunning executable: BytePath
    ) throws(SystemError) -> [BytePath] {
        let path = try BytePath(resolvingWhole: executable)
        return try [path]
            + LinkedLibraries(of: path).paths.sorted()
    }

    /// The directories of resources that a package's build puts beside an executable.
    private static func resourceBundles(
        in directory: BytePath
    ) throws(SystemError) -> [BytePath] {
        let listing: DirectoryListing
        do throws(SystemError) {
            listing = try DirectoryListing(of: FileDescriptor.open(directory, .directory))
        } catch {
            guard error.isDenied else { throw error }
            return []
        }
        return listing.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }
            .map { directory / $0 }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: String) -> Bool {
        count > suffix.utf8.count && self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
