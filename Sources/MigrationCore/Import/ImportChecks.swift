internal import MigrationArchive
internal import MigrationSystem

/// What an import checks before it makes anything.
struct ImportChecks {
    let container: MigrationDataContainer
    let options: ImportOptions
    let appExtension: MigrationExtension?

    private var path: PathName { container.rootPath }

    /// Throws what can be known of the extension before anything is touched.
    func checkExtension() throws {
        guard let appExtension else { return }
        do {
            _ = try Entitlement.check(appExtension, for: container)
        } catch let problem as EntitlementProblem {
            throw problem.error
        }
        _ = try appExtension.groupDirectories(apartFrom: path)
    }

    /// Throws where the input can be read but is nothing that a container can be made of.
    func checkKind(of reader: ArchiveReader) throws {
        guard reader.isAndroidBackup else { return }
        let message =
            "the input is a backup of Android's, in a layout that no app on iOS receives: make an "
            + "archive of it with 'migrate android convert'"
        throw ArchiveError(.refused, message)
    }

    /// Throws what the archive's header shows to be asked for wrongly.
    func checkHeader(_ header: ArchiveHeader?) throws {
        try checkImporter(header)
        // The data may be of the app under another platform's name; the extension decides.
        guard appExtension != nil else { return try checkIdentifier(header) }
        _ = try ImportCall(directory: [], header: header, source: options.source)
    }

    /// Throws where the archive is not for the app that imports, as Android compares: letter by letter.
    private func checkImporter(_ header: ArchiveHeader?) throws {
        guard let importer = options.importer, header?.importers?.contains(importer) != true
        else { return }
        let name = PrintableText.escaping(importer)
        let known = (header?.importers ?? []).map { PrintableText.escaping($0) }
        let message =
            known.isEmpty
            ? "the archive names no app that may import it, so nothing says that '\(name)' may: convert "
                + "the backup with its manifest or '--rules', or leave out '--app-id'"
            : "the archive is for \(known.joined(separator: ", ")) and not for '\(name)', which "
                + "'--app-id' gives"
        throw MigrationError(.identifierMismatch, message, path: path.path)
    }

    /// Throws where a signature is required that the archive does not have.
    func checkSignature(of reader: ArchiveReader) throws {
        guard let required = options.requiredSignature else { return }
        try required.check(ArchiveStatement(header: reader.header, fingerprint: reader.fingerprint))
    }

    /// Throws where the archive is known to be of another app.
    private func checkIdentifier(_ header: ArchiveHeader?) throws {
        guard let header, let known = container.knownIdentifier else { return }
        guard header.bundleIdentifier == known else {
            let archived = PrintableText.escaping(header.bundleIdentifier)
            let expected = PrintableText.escaping(known)
            let message = "the archive is of \(archived), the container of \(expected)"
            throw MigrationError(.identifierMismatch, message, path: path.path)
        }
    }

    /// Throws where another process is still at work in a staging directory of the container.
    func checkStagingIsFree(_ root: OpenFile) throws(MigrationError) {
        do throws(SystemError) {
            guard let bookkeeping = try BookkeepingDirectory(in: root) else { return }
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            let tokens = StagingToken.all(in: bookkeeping)
            for name in try StagingDirectory.leftovers(of: tokens, beside: path, in: parent) {
                try parent.descriptor.open(name, .directory).lock(.exclusive)
            }
        } catch {
            guard error.isBusy else { return }
            let message = "another migration of the container is not at its end"
            throw MigrationError(.containerBusy, message, path: path.path)
        }
    }

    /// Throws where there is no room for what the archive says that it holds.
    func checkSpace(for reader: ArchiveReader, in staging: StagingDirectory) throws {
        let needed = reader.totals?.dataBytes ?? reader.header?.sizeEstimate ?? 0
        let available = try staging.directory.descriptor.availableSpace()
        guard needed > available else { return }
        let message = "the container needs \(needed) bytes, and \(available) are free"
        throw MigrationError(.outOfSpace, message, path: path.path)
    }

    /// Throws where another program's tar file gave nothing, or may have been cut short: no data is
    /// replaced by that.
    func checkReplacement(by extractor: ArchiveExtractor, from reader: ArchiveReader) throws {
        guard reader.header == nil, !options.allowsIncomplete else { return }
        let way = "it replaces data only with --allow-incomplete"
        guard extractor.totals.entries > 0 else {
            throw ArchiveError(.refused, "nothing in the tar file can be restored; \(way)")
        }
        guard !reader.lacksEndMark else {
            let reason = "the tar file has no end mark and may have been cut short"
            throw ArchiveError(.truncated, "\(reason); \(way)")
        }
    }
}
