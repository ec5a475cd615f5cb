internal import CMigrationShims
internal import Glibc

/// What a process may reach of the machine.
///
/// Files outside the rules can't be opened, listed, made, renamed or removed. There is no new
/// socket, no signal to a process outside, no tracing of it, none of its limits and priorities, no
/// shared memory, semaphore or queue of System V, no mount or namespace, and of a superuser's
/// privileges there are only those over files.
///
/// Not confined are looking at the status of a file outside, and changing its mode, owner, times or
/// extended attributes where the user may, unless it has a ``PrivateRoot``.
package struct Sandbox: Sendable {
    /// What may be done with a file, or with all beneath a directory.
    package enum Access: Sendable {
        /// Reading files by their names, without a list of them.
        case readByName
        /// Reading and listing.
        case read
        /// Reading, listing and running.
        case readAndExecute
        /// Everything but making device nodes.
        case readAndWrite
    }

    /// Leave to reach one file, or one directory and all beneath it.
    package struct Rule: Sendable, Equatable {
        /// Where it is, when the process is started.
        package let path: ByteString
        /// What is allowed there.
        package let access: Access
        /// Whether a link at the path is followed; else only a directory is taken.
        package let followsLink: Bool

        package init(path: ByteString, access: Access, followsLink: Bool = true) {
            self.path = path
            self.access = access
            self.followsLink = followsLink
        }
    }

    /// The rules; what none of them allows is denied.
    package let rules: [Rule]

    /// What of the system confines; what it lacks is left open.
    package let support: Support

    /// Confines to `rules`; those whose path is missing or out of the host's reach are left out.
    package init(rules: [Rule], by support: Support = Sandbox.support) {
        self.rules = rules
        self.support = support
    }
}

// MARK: - Support

extension Sandbox {
    /// What a system can confine.
    package struct Support: Sendable, Equatable {
        /// The version of Landlock; 0 where the kernel has none.
        ///
        /// Renaming between directories is possible from 2 and truncating is confined from 3,
        /// TCP from 4 where system calls are not filtered, signals and abstract sockets from 6.
        package let landlockVersion: Int
        /// Whether system calls are filtered.
        package let filtersSystemCalls: Bool

        package init(landlockVersion: Int, filtersSystemCalls: Bool) {
            self.landlockVersion = landlockVersion
            self.filtersSystemCalls = filtersSystemCalls
        }

        /// Whether files are confined.
        package var confinesFiles: Bool { landlockVersion > 0 }
    }

    /// What this system can confine.
    package static var support: Support {
        Support(
            landlockVersion: Int(max(0, migration_landlock_version())),
            filtersSystemCalls: migration_can_filter()
        )
    }
}

// MARK: - Ruleset

extension Sandbox {
    /// Makes the kernel's form of the rules; `nil` where nothing but system calls can be confined.
    ///
    /// - Throws: ``SystemError`` of `landlock_create_ruleset` where not even they can.
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
        for rule in rules { try rule.add(to: ruleset, known) }
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

    /// What is at the path; `nil` where the host can't reach it either.
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
