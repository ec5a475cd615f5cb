internal import Foundation
internal import MigrationContract
package import MigrationSystem

/// The directory in which an import prepares a container, on the container's own file system.
///
/// It is beside the container or its bundle if the two can be exchanged, otherwise in the
/// container's bookkeeping. It holds the staged container or bundle and a file whose name is the
/// import's token. The journal and the record name the token, so the next command can recognize the
/// directory of a dead import. Its own name proves nothing.
package struct StagingDirectory {
    package enum Position {
        case beside
        case inside
    }

    static let nameInside = [UInt8](utf8: "staged")
    package static let containerName = [UInt8](utf8: "container")
    private static let suffix = [UInt8](utf8: ".migration-staging")

    /// The path of the directory that holds the staged container.
    package let holderPath: BytePath
    private let holder: OpenFile
    private let holderParent: OpenFile
    private let token: [UInt8]
    /// The name beside the container that includes the token.
    private let lastName: [UInt8]?

    /// The staged directory that is exchanged: the container, or the bundle around it.
    package let placed: OpenFile

    /// The staged container.
    package var directory: OpenFile
    package let position: Position

    private let isBundle: Bool

    /// The directory that holds the exchanged one.
    package var parent: OpenFile { holder }

    /// The staged container's path.
    package var path: BytePath {
        ContainerPlace(holderPath / Self.containerName, isBundle: isBundle).containerPath
    }

    /// The name in ``parent`` of the directory that is exchanged.
    var name: [UInt8] { Self.containerName }

    /// Makes a directory with an empty container in it, after removing leftovers of earlier
    /// imports.
    ///
    /// The directory is made in the bookkeeping and then moved out. If that works, data can also be
    /// moved back in; between two mounts of one file system it can't.
    package static func make(
        for live: ContainerLock,
        token: StagingToken
    ) throws(SystemError) -> StagingDirectory {
        let (place, path) = (live.place, live.path)
        let inside = try BookkeepingDirectory.make(in: live.directory).openDirectory
        try removeLeftover(nameInside, in: inside)
        try inside.descriptor.makeDirectory(nameInside, permissions: 0o700)
        let holder = OpenFile(try inside.descriptor.open(nameInside, .directory))
        try holder.descriptor.lock(.exclusive)
        let access = FileDescriptor.Access.creating(permissions: 0o600)
        try holder.descriptor.open(token.name, access).close()
        try holder.descriptor.makeDirectory(containerName, permissions: 0o700)
        let placed = OpenFile(try holder.descriptor.open(containerName, .directory))
        try placed.descriptor.lock(.exclusive)
        // If that fails, the two directories differ, which the commit checks.
        try? removeInherited(placed, unlike: live.directory)
        try place.makeContainer(in: placed)
        let directory = try place.openContainer(in: placed)
        // The commit checks these two as well.
        if place.isBundle { try? removeInherited(directory, unlike: live.root) }
        let (holderPath, parent, position) = try moveOut(of: inside, beside: path, token: token)
        return StagingDirectory(
            holderPath: holderPath,
            holder: holder,
            holderParent: parent,
            token: token.name,
            lastName: position == .beside ? nameBeside(path, token: token) : nil,
            placed: placed,
            directory: directory,
            position: position,
            isBundle: place.isBundle
        )
    }

    /// Moves the directory beside the container at `path`; it stays in the bookkeeping if data couldn't be
    /// moved back in.
    private static func moveOut(
        of inside: OpenFile,
        beside path: BytePath,
        token: StagingToken
    ) throws(SystemError) -> (holder: BytePath, parent: OpenFile, Position) {
        do {
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            let name = try moveBeside(path, from: inside, to: parent, token: token)
            return (path.parent / name, parent, .beside)
        } catch {
            guard error.isExchangeImpossible else { throw error }
            return (path / ContainerLayout.bookkeepingName / nameInside, inside, .inside)
        }
    }

    /// Gives `directory` the default access control list of `root` instead of its parent's, so that
    /// new files inherit the same as in the container itself.
    ///
    /// If that fails, the two directories differ, which the commit checks.
    private static func removeInherited(
        _ directory: OpenFile,
        unlike root: OpenFile
    ) throws(SystemError) {
        let attributes = try root.descriptor.extendedAttributes()
        for name in try directory.descriptor.knownExtendedAttributeNames()
        where !attributes.contains(where: { $0.name == name }) {
            // Attributes of security modules can't be removed.
            try? directory.descriptor.removeExtendedAttribute(name)
        }
        let inherited = [UInt8](utf8: "system.posix_acl_default")
        try directory.descriptor.setExtendedAttributes(attributes.filter { $0.name == inherited })
    }

    /// Removes everything except the staged container from the directory.
    package func removeRest() throws(SystemError) {
        // The extension may have closed it.
        try holder.descriptor.setPermissions(0o700)
        for name in try DirectoryListing(of: holder.descriptor)
        where name != Self.containerName && name != token {
            try holder.descriptor.removeTree(name)
        }
        guard isBundle else { return }
        for name in try DirectoryListing(of: placed.descriptor)
        where name != ContainerLayout.dataName { try placed.descriptor.removeTree(name) }
    }

    /// Allows or forbids other users to reach the staged container.
    package func setPassable(_ isPassable: Bool) throws(SystemError) {
        let permissions: UInt16 = isPassable ? 0o711 : 0o700
        try holder.descriptor.setPermissions(permissions)
        if isBundle { try placed.descriptor.setPermissions(permissions) }
    }

    /// Whether the staged container still has its name.
    package func isContainerInPlace() throws(SystemError) -> Bool {
        let named = try holder.descriptor.statusIfPresent(of: Self.containerName)
        guard try named?.identity == placed.descriptor.status().identity else { return false }
        guard isBundle else { return true }
        let inBundle = try placed.descriptor.statusIfPresent(of: ContainerLayout.dataName)
        return try inBundle?.identity == directory.descriptor.status().identity
    }

    /// Releases the locks on the staged container, which may be the live one by now, and on its
    /// directory.
    package func release() {
        placed.descriptor.unlock()
        holder.descriptor.unlock()
    }

    /// Removes the directory with everything in it, its token last.
    package func remove() throws(SystemError) {
        do {
            try holderParent.descriptor.removeTree(
                holderPath.lastComponent,
                endingWith: token,
                under: lastName
            )
        } catch {
            guard error.isMissing else { throw error }
        }
    }
}

// MARK: - Beside the container

extension StagingDirectory {
    /// The name of the staging directory beside the container at `path`, which no other container
    /// has.
    ///
    /// - Parameters:
    ///   - path: The container's path.
    ///   - token: A token that makes the name unique, in case something else has the plain name.
    /// - Returns: The name.
    package static func nameBeside(_ path: BytePath, token: StagingToken? = nil) -> [UInt8] {
        let dot = [UInt8(ascii: ".")]
        let suffix = suffix + (token.map { [UInt8(ascii: "-")] + $0.name } ?? [])
        let room = 255 - dot.count - suffix.count
        let name = path.lastComponent
        guard name.count >= room else { return dot + name + suffix }
        // FNV-1a: the token proves whose directory it is, so colliding names are harmless.
        let hash = name.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let mark = [UInt8](utf8: "-" + String(hash, radix: 16))
        return dot + [UInt8](name.prefix(room - mark.count)) + mark + suffix
    }

    /// Moves the directory out of the bookkeeping to a free name, and returns the name.
    private static func moveBeside(
        _ path: BytePath,
        from inside: OpenFile,
        to parent: OpenFile,
        token: StagingToken
    ) throws(SystemError) -> [UInt8] {
        for name in try leftovers(of: [token], beside: path, in: parent) {
            try removeLeftover(name, beside: path, in: parent, token: token)
        }
        let name = nameBeside(path)
        do {
            try inside.descriptor.renameExclusively(nameInside, to: name, in: parent.descriptor)
            return name
        } catch {
            guard error.isExisting else { throw error }
        }
        let other = nameBeside(path, token: token)
        try inside.descriptor.renameExclusively(nameInside, to: other, in: parent.descriptor)
        return other
    }

    /// Finds the staging directories of imports with these tokens beside the container at `path`.
    package static func leftovers(
        of tokens: [StagingToken],
        beside path: BytePath,
        in parent: OpenFile
    ) throws(SystemError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for token in tokens {
            for name in [nameBeside(path), nameBeside(path, token: token)]
            where try open(name, in: parent, markedBy: token) != nil && !names.contains(name) {
                names.append(name)
            }
            // An interrupted removal left it; the token is in its name.
            let last = nameBeside(path, token: token)
            if !names.contains(last), try isEmptyDirectory(last, in: parent) { names.append(last) }
        }
        return names
    }

    private static func isEmptyDirectory(
        _ name: [UInt8],
        in parent: OpenFile
    ) throws(SystemError) -> Bool {
        do {
            return try DirectoryListing(of: parent.descriptor.open(name, .directory)).count == 0
        } catch {
            guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            return false
        }
    }

    /// Finds the token whose leftovers are beside the locked container.
    package static func tokenOfLeftovers(of lock: ContainerLock) throws(SystemError)
        -> StagingToken?
    {
        // An import leaves nothing in a parent that can't be opened.
        guard let bookkeeping = try BookkeepingDirectory(in: lock.directory),
            let parent = try? OpenFile(FileDescriptor.open(lock.path.parent, .directory))
        else { return nil }
        for token in StagingToken.all(in: bookkeeping)
        where try !leftovers(of: [token], beside: lock.path, in: parent).isEmpty {
            return token
        }
        return nil
    }

    /// Opens the directory `name` if it holds the token.
    private static func open(
        _ name: [UInt8],
        in parent: OpenFile,
        markedBy token: StagingToken
    ) throws(SystemError) -> OpenFile? {
        do {
            let holder = OpenFile(try parent.descriptor.open(name, .directory))
            let mark = try holder.descriptor.status(of: token.name)
            return mark.kind == .regular ? holder : nil
        } catch {
            // An unreadable directory is not known to be an import's.
            guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            return nil
        }
    }

    /// Opens the container that the import with this token staged; `nil` if there is none.
    static func openContainer(
        of token: StagingToken,
        for place: ContainerPlace,
        inside bookkeeping: OpenFile
    ) throws(SystemError) -> OpenFile? {
        var holder = try open(nameInside, in: bookkeeping, markedBy: token)
        if holder == nil { holder = try openHolder(of: token, beside: place.path) }
        guard let holder else { return nil }
        let placed = OpenFile(try holder.descriptor.open(containerName, .directory))
        return try place.openContainer(in: placed)
    }

    /// Opens the staging directory of the import with this token beside the container; `nil` if there is
    /// none.
    static func openHolder(
        of token: StagingToken,
        beside path: BytePath
    ) throws(SystemError) -> OpenFile? {
        let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
        for name in [nameBeside(path), nameBeside(path, token: token)] {
            if let holder = try open(name, in: parent, markedBy: token) { return holder }
        }
        return nil
    }

    /// Removes the directory `name`, unless someone is using it.
    package static func removeLeftover(_ name: [UInt8], in parent: OpenFile) throws(SystemError) {
        guard try isThere(name, in: parent) else { return }
        try parent.descriptor.removeTree(name)
    }

    /// Removes the staging directory `name` beside the container at `path`, its token last, unless
    /// someone is using it.
    package static func removeLeftover(
        _ name: [UInt8],
        beside path: BytePath,
        in parent: OpenFile,
        token: StagingToken
    ) throws(SystemError) {
        guard try isThere(name, in: parent) else { return }
        let lastName = nameBeside(path, token: token)
        try parent.descriptor.removeTree(name, endingWith: token.name, under: lastName)
    }

    /// Whether something has the name and nobody is using it.
    private static func isThere(
        _ name: [UInt8],
        in parent: OpenFile
    ) throws(SystemError) -> Bool {
        do {
            let left = OpenFile(try parent.descriptor.open(name, .directory))
            try left.descriptor.lock(.exclusive)
        } catch {
            if error.isMissing { return false }
            guard error.isDenied || error.isNotDirectory else { throw error }
        }
        return true
    }
}

/// An unguessable name that identifies the staging directory of one import.
package struct StagingToken: Hashable {
    package let text: String

    /// Makes a new token.
    package init() {
        text = UUID().uuidString
    }

    /// Reads a token from the bookkeeping; `nil` if no import wrote it.
    package init?(_ text: String?) {
        guard let text, UUID(uuidString: text)?.uuidString == text else { return nil }
        self.text = text
    }

    /// The name of the file that marks the staging directory.
    package var name: [UInt8] { [UInt8](utf8: text) }

    /// The tokens of the imports that the container's bookkeeping names.
    package static func all(in bookkeeping: BookkeepingDirectory) -> [StagingToken] {
        // Unreadable files name no tokens; other code reports the error.
        let journal = try? ImportJournal.read(from: bookkeeping)
        let recorded = ImportRecordFile(in: bookkeeping).stagingTokens
        return ([journal?.staging] + recorded).compactMap { StagingToken($0) }
    }
}
