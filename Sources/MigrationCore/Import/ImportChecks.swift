internal import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

/// The checks of an import before it changes anything.
extension ImportOperation {
    /// Checks that the importer fits the options and the container.
    func checkImporter() throws {
        guard let importer else { return }
        guard options.extraMetadata.isEmpty else {
            let message =
                "an app's extension puts the data in its place itself, so owners, access control lists and "
                + "further attributes can't be restored"
            throw MigrationError(
                .invalidOption,
                message,
                path: path,
                remedy: .restoreNoExtraMetadata
            )
        }
        try importer.check(container)
    }

    /// Refuses input that can be read but can't become a container.
    func checkKind(of reader: ArchiveReader) throws {
        guard reader.isAndroidBackup else { return }
        let message =
            "the input is an Android backup, in a layout that no app on iOS can read"
        throw ArchiveError(.refused, message, remedy: .convertAndroidBackup)
    }

    /// Whether there is no container yet.
    func isContainerMissing() throws(MigrationError) -> Bool {
        do throws(SystemError) {
            return try FileDescriptor.statusIfPresent(atPath: path) == nil
        } catch {
            throw MigrationError(.outputFailed, "the import failed", path: path, cause: error)
        }
    }

    /// Whether the container holds data, which must then be replaceable.
    func holdsReplaceableData(_ root: OpenFile) throws -> Bool {
        let holdsData = try ContainerContents.holdsData(root, at: path)
        if holdsData, !options.takesAnyDirectory {
            try ContainerContents.checkIsContainer(root, at: path)
        }
        guard !holdsData || options.replacesExisting else {
            let message = "the container already holds data"
            throw MigrationError(.containerHoldsData, message, path: path)
        }
        return holdsData
    }

    /// Checks that the archive's header fits the options.
    func checkHeader(_ header: ArchiveHeader?) throws {
        try header?.check()
        try options.checkExtraMetadata(of: header, restoredTo: path)
        try checkNamesImporter(header)
        try checkContainer()
        // The app may have another identifier on the other platform, so its extension decides.
        guard let importer else { return try checkIdentifier(header) }
        try importer.check(header, from: options.source)
    }

    /// Refuses an archive that is not for the importing app; like Android, compares exactly.
    private func checkNamesImporter(_ header: ArchiveHeader?) throws {
        guard let importer = options.importer, header?.importers?.contains(importer) != true
        else { return }
        let name = PrintableText.escaping(importer)
        let known = (header?.importers ?? []).map { PrintableText.escaping($0) }
        let message =
            known.isEmpty
            ? "the archive does not name the apps that may import it, so '\(name)' can't be checked"
            : "the archive is for \(known.joined(separator: ", ")) and not for '\(name)'"
        throw mismatch(message, known.isEmpty ? .giveRulesOrDropImporter : .chooseImporter)
    }

    private func mismatch(_ message: String, _ remedy: Remedy) -> MigrationError {
        MigrationError(.identifierMismatch, message, path: path, remedy: remedy)
    }

    /// Refuses an archive without the expected fingerprint or the required signature.
    func checkProof(_ header: ArchiveHeader?, _ fingerprint: Fingerprint?) throws {
        try options.expectedFingerprint?.check(fingerprint)
        guard let required = options.requiredSignature else { return }
        let statement = try ArchiveStatement(header: header, fingerprint: fingerprint)
        try required.check(statement, on: operation)
    }

    /// Refuses a container that doesn't belong to the app that the options name for the archive.
    private func checkContainer() throws {
        try container.checkIdentity()
        let own = try container.knownIdentifier ?? importer?.identifier(for: container)
        guard let claimed = options.bundleIdentifier, let own, own != claimed else { return }
        let message =
            "the container belongs to \(PrintableText.escaping(own)), not to "
            + PrintableText.escaping(claimed)
        throw mismatch(message, .nameOtherApp)
    }

    /// Refuses an archive that is known to belong to another app.
    private func checkIdentifier(_ header: ArchiveHeader?) throws {
        guard options.bundleIdentifier == nil, let archived = header?.bundleIdentifier,
            let known = container.knownIdentifier, archived != known
        else { return }
        let shown = PrintableText.escaping(known)
        let message =
            "the archive belongs to \(PrintableText.escaping(archived)), the container to "
            + shown
        throw mismatch(message, .takeForApp(shown))
    }

    /// Refuses to replace the data of a known app with that of an archive that names none.
    func checkReplacedApp(by header: ArchiveHeader?) throws(MigrationError) {
        guard importer == nil, options.bundleIdentifier == nil, let header,
            header.bundleIdentifier == nil, let known = container.knownIdentifier
        else { return }
        let shown = PrintableText.escaping(known)
        let message = "the archive names no app, and the container holds data of \(shown)"
        throw mismatch(message, .replaceForApp(shown))
    }

    /// The identity that the container has once the data of `header` is in it.
    ///
    /// An app's extension produces data for the container's own app and platform, whatever the
    /// archive names.
    func identity(importing header: ArchiveHeader?) throws -> ContainerIdentity? {
        let own =
            try options.bundleIdentifier ?? container.knownIdentifier
            ?? importer?.identifier(for: container)
        let archived = importer == nil ? header : nil
        let identity = ContainerIdentity(
            bundleIdentifier: own ?? archived?.bundleIdentifier,
            platform: container.knownPlatform ?? archived.map { MigrationPlatform($0.platform) }
        )
        let isKnown = identity.bundleIdentifier != nil || identity.platform != nil
        return isKnown ? identity : nil
    }

    /// Throws if another process is still using a staging directory of the container.
    func checkStagingIsFree(_ lock: ContainerLock) throws(MigrationError) {
        do throws(SystemError) {
            guard let bookkeeping = try BookkeepingDirectory(in: lock.directory) else { return }
            let parent = OpenFile(try FileDescriptor.open(lock.path.parent, .directory))
            let tokens = StagingToken.all(in: bookkeeping)
            for name in try StagingDirectory.leftovers(of: tokens, beside: lock.path, in: parent) {
                try parent.descriptor.open(name, .directory).lock(.exclusive)
            }
        } catch {
            guard error.isBusy else { return }
            let message = "another migration of the container is still running"
            throw MigrationError(.containerBusy, message, path: path)
        }
    }

    /// Throws if `available` bytes are less than the archive claims to need.
    func checkSpace(for reader: ArchiveReader, available: UInt64) throws(MigrationError) {
        let needed = reader.totals?.dataBytes ?? reader.header?.sizeEstimate ?? 0
        guard needed > available else { return }
        let message = "the container needs \(ByteCount(needed)), \(ByteCount(available)) are free"
        throw MigrationError(.outOfSpace, message, path: path)
    }

    /// Checks what is known once everything was read, before anything is replaced.
    func checkRestored(
        _ extractor: ArchiveExtractor,
        from reader: ArchiveReader,
        replacesData: Bool
    ) throws {
        try checkProof(reader.header, reader.fingerprint)
        try checkLayout(of: reader)
        if replacesData { try checkReplacement(by: extractor, from: reader) }
    }

    /// Refuses a tar file of a bundle, whose files would be in the wrong directories.
    private func checkLayout(of reader: ArchiveReader) throws(ArchiveError) {
        guard reader.holdsAppDataBundle else { return }
        throw ArchiveError(
            .refused,
            "the tar file holds an .xcappdata bundle, whose 'AppData' is the container",
            remedy: .exportBundle
        )
    }

    /// Refuses to replace data with another program's tar file that is empty or may be cut short.
    private func checkReplacement(
        by extractor: ArchiveExtractor,
        from reader: ArchiveReader
    ) throws(ArchiveError) {
        guard reader.header == nil, !options.allowsIncomplete else { return }
        guard extractor.tally.totals.entries > 0 else {
            let message = "the tar file holds nothing to restore"
            throw ArchiveError(.refused, message, remedy: .allowIncomplete)
        }
        guard !reader.lacksEndMark else {
            let reason = "the tar file has no end mark and may have been cut short"
            throw ArchiveError(.truncated, reason, remedy: .allowIncomplete)
        }
    }
}

extension ArchiveHeader {
    /// Checks everything else that an import takes from the header.
    ///
    /// - Throws: `ArchiveError` of code `damaged`.
    package func check() throws(ArchiveError) { _ = try resumeActivity }

    /// What the person was doing when the data was exported; `nil` if the archive doesn't say.
    package var resumeActivity: ResumeActivity? {
        get throws(ArchiveError) {
            guard let activity else { return nil }
            do {
                return try ResumeActivity(encoded: activity)
            } catch {
                throw ArchiveError(.damaged, error.message)
            }
        }
    }
}
