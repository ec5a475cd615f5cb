internal import Foundation
package import MigrationContract
package import MigrationSystem

/// The directory to which an import moves the replaced data, as a separate container.
///
/// The journal names it from before the commit until the data is there, so that the next command
/// finishes an interrupted move, and the data is never removed.
package struct KeptContainer {
    /// The path, whose parent contains no links.
    package let path: BytePath

    /// Checks that the data of the container in `place` can be moved to `path`.
    ///
    /// - Throws: ``MigrationError`` of code `outputExists` if the path exists, and of code
    ///   `invalidOption` if the data can't be moved there.
    package init(_ path: BytePath, for place: ContainerPlace) throws(MigrationError) {
        do {
            self.path = try BytePath(resolving: path.trimmed)
        } catch {
            throw Self.refusal("its parent can't be reached", path, cause: error)
        }
        guard !self.path.lastComponent.isEmpty, !self.path.isEqual(toOrBelow: place.path) else {
            throw Self.refusal("it lies in the container", path)
        }
        try check(for: place)
    }

    /// The directory that a journal names.
    private init(named path: Data) {
        self.path = BytePath([UInt8](path))
    }

    /// Repeats before the commit the checks whose result can change meanwhile.
    package func check(for place: ContainerPlace) throws(MigrationError) {
        do {
            let parent = try FileDescriptor.open(path.parent, .directory)
            guard try parent.statusIfPresent(of: path.lastComponent) == nil else {
                let message = "the directory for the replaced data exists already"
                throw MigrationError(.outputExists, message, path: path)
            }
            let isThere = try FileDescriptor.statusIfPresent(atPath: place.path) != nil
            let directory = try FileDescriptor.open(
                isThere ? place.path : place.path.parent,
                .directory
            )
            if isThere { try checkIsMovable(directory, of: place) }
            guard try directory.isOfOneMount(with: parent) else {
                let reason = "it isn't on the container's file system, reached by the same mount"
                throw Self.refusal(reason, path)
            }
            try parent.checkIsWritable()
        } catch let error as MigrationError {
            throw error
        } catch {
            throw Self.refusal("no directory can be made there", path, cause: error)
        }
    }

    /// Refuses a mount point, and a path at which a bundle couldn't be recognized.
    private func checkIsMovable(
        _ directory: borrowing FileDescriptor,
        of place: ContainerPlace
    ) throws {
        // If the parent can't be opened, a mount point is only noticed when it is moved.
        if let outside = try? OpenFile(FileDescriptor.open(place.path.parent, .directory)),
            try !directory.isOfOneMount(with: outside.descriptor)
        {
            throw Self.refusal("the container is a mount point, which can't be moved", path)
        }
        guard place.isBundle, !ContainerLayout.isNamedAsBundle(path.lastComponent),
            try directory.statusIfPresent(of: ContainerLayout.infoName) == nil
        else { return }
        let reason =
            "the container is a bundle without 'AppDataInfo.plist', so give '.xcappdata' to the name"
        throw Self.refusal(reason, path)
    }

    private static func refusal(
        _ reason: String,
        _ path: BytePath,
        cause: (any Error)? = nil
    ) -> MigrationError {
        let message = "the replaced data can't be kept there: \(reason)"
        return MigrationError(.invalidOption, message, path: path, cause: cause)
    }
}

// MARK: - Moving the data

extension KeptContainer {
    /// Moves the old container `old`, which was exchanged, out of the staging directory `holder`; the
    /// journal of the new one, `live`, names this directory.
    package func take(_ old: OpenFile, from holder: OpenFile, replacedBy live: OpenFile) throws {
        try Self.forgetImport(in: old)
        try take(StagingDirectory.containerName, from: holder)
        try BookkeepingDirectory(in: live)?.remove(BookkeepingDirectory.journalName)
    }

    /// Moves the old data of a journaled commit out of the bookkeeping of the container `live`.
    func takeReplaced(of live: ContainerLock, _ bookkeeping: BookkeepingDirectory) throws {
        let directory = bookkeeping.openDirectory
        if try bookkeeping.has(Leftovers.replaced) {
            let replaced = OpenFile(
                try directory.descriptor.open(Leftovers.replacedName, .directory)
            )
            let metadata = ContainerLayout.metadataName
            let aside = try live.place.openContainer(in: replaced)
            try Self.makeAlike(aside, to: live.root, sharing: metadata)
            if live.place.isBundle {
                let info = ContainerLayout.infoName
                try Self.makeAlike(replaced, to: live.directory, sharing: info)
            }
            try replaced.descriptor.synchronizeFileSystem()
            try take(Leftovers.replacedName, from: directory)
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }

    private func take(_ name: [UInt8], from directory: OpenFile) throws(SystemError) {
        let parent = try FileDescriptor.open(path.parent, .directory)
        try directory.descriptor.renameExclusively(name, to: path.lastComponent, in: parent)
        try parent.synchronize()
        try directory.descriptor.synchronize()
    }

    /// Removes the signs of the import from the container that it replaced.
    private static func forgetImport(in old: OpenFile) throws(SystemError) {
        guard let bookkeeping = try BookkeepingDirectory(in: old) else { return }
        try RecordReserve.remove(from: bookkeeping)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        try bookkeeping.removeIfEmpty(from: old)
    }

    /// Copies the container's attributes to the directory of the old data, as far as this user may
    /// set them.
    private static func makeAlike(
        _ replaced: OpenFile,
        to live: OpenFile,
        sharing name: [UInt8]
    ) throws {
        let status = try live.descriptor.status()
        do throws(SystemError) {
            try replaced.descriptor.adoptOwner(of: status)
        } catch {
            guard error.isDenied || error.isUnsupported else { throw error }
        }
        if try replaced.descriptor.statusIfPresent(of: name) == nil {
            try ContainerCommit.copy(name, of: live, to: replaced)
        }
        try replaced.descriptor.setPermissions(status.permissions)
    }
}

// MARK: - Finishing a move that was cut off

extension KeptContainer {
    /// Moves the old data to the path in `journal`, of a finished commit; `live` is the new container.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid`, which names both directories.
    package static func finish(
        _ journal: ImportJournal,
        of live: ContainerLock,
        bookkeeping: BookkeepingDirectory
    ) throws(MigrationError) {
        guard let named = journal.kept else { return }
        let kept = KeptContainer(named: named)
        do {
            guard journal.phase == .exchanged else {
                return try kept.takeReplaced(of: live, bookkeeping)
            }
            guard let token = StagingToken(journal.staging),
                let holder = try StagingDirectory.openHolder(of: token, beside: live.path)
            else { throw SystemError.missing("open") }
            let name = StagingDirectory.containerName
            guard try holder.descriptor.statusIfPresent(of: name) != nil else {
                // It was already moved.
                return try bookkeeping.remove(BookkeepingDirectory.journalName)
            }
            let old = OpenFile(try holder.descriptor.open(name, .directory))
            try kept.take(old, from: holder, replacedBy: live.directory)
        } catch {
            throw kept.failure(of: journal, at: live.path, cause: error)
        }
    }

    private func failure(
        of journal: ImportJournal,
        at container: BytePath,
        cause: any Error
    ) -> MigrationError {
        let place =
            journal.phase == .replaced
            ? BookkeepingDirectory.path(of: Leftovers.replaced, in: container)
            : container.parent / StagingDirectory.nameBeside(container)
        return MigrationError(
            .containerInvalid,
            "the data that an import replaced can't be moved from \(PrintableText.escaping(place))",
            path: path,
            cause: cause,
            remedy: .discardImport
        )
    }
}
