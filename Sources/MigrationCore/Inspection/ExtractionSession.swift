internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// One extraction: entries restored in a directory of their own, then moved in one by one.
struct ExtractionSession {
    private static let stagingName = ByteString(utf8: ".migration-extracting")

    let source: ArchiveSource
    let directory: [UInt8]
    let paths: [EntryPath]
    let options: ImportOptions
    let progress: Progress?
    let cancellation: CancellationFlag

    func run() throws -> ImportReport {
        for path in paths {
            guard let violation = path.violation else { continue }
            throw ArchiveError(.notFound, "no archive holds such a path: \(violation)", entry: path)
        }
        let input = try source.open(cancellation)
        let threadCount = ThreadCount.resolve(options.threadCount)
        let access: ArchiveReader.Access =
            paths.isEmpty ? .whole(threadCount: threadCount) : .selective
        let reader = try ArchiveReader(input, access: access)
        let standIns = input.size == nil || paths.isEmpty ? [:] : try select(in: reader)
        progress?.setTotal(Int64(clamping: input.size ?? 0))
        let (root, wasMade) = try openDirectory()
        do {
            return try restore(reader, standIns, into: root)
        } catch {
            if wasMade { removeDirectory() }
            throw error
        }
    }

    private func openDirectory() throws(MigrationError) -> (OpenFile, wasMade: Bool) {
        do throws(SystemError) {
            var wasMade = true
            let path = try PathName(resolving: directory)
            do {
                let parent = try FileDescriptor.open(path.parent, .directory)
                try parent.makeDirectory(path.name, permissions: 0o755)
            } catch {
                guard error.isExisting else { throw error }
                wasMade = false
            }
            return (OpenFile(try FileDescriptor.open(path.path, .directory)), wasMade)
        } catch {
            let message = "the directory can't be used"
            throw MigrationError(.outputFailed, message, path: directory, cause: error)
        }
    }

    private func removeDirectory() {
        // The reason for the failure is what the person must hear, not that tidying up failed too.
        guard let path = try? PathName(resolving: directory) else { return }
        try? FileDescriptor.open(path.parent, .directory).removeDirectory(path.name)
    }

    /// Confines `reader` to what is selected, where it can be, and finds the files that are not
    /// selected but have selected names; each is restored at the first of those names.
    private func select(in reader: ArchiveReader) throws -> [EntryPath: EntryPath] {
        let isConfined = try reader.select(paths)
        if reader.totals?.hardLinks == 0 { return [:] }
        let scan =
            try isConfined
            ? reader : ArchiveReader(source.open(cancellation), access: .selective)
        let standIns = try findStandIns(scan)
        if isConfined { _ = try reader.select(paths + standIns.keys) }
        return standIns
    }

    private func findStandIns(_ reader: ArchiveReader) throws -> [EntryPath: EntryPath] {
        var standIns: [EntryPath: EntryPath] = [:]
        while let entry = try reader.next() {
            try cancellation.check()
            guard case .hardLink(let target) = entry.kind, standIns[target] == nil,
                paths.contains(where: entry.path.isEqual(toOrBelow:)),
                !paths.contains(where: target.isEqual(toOrBelow:))
            else { continue }
            standIns[target] = entry.path
        }
        return standIns
    }

    private func restore(
        _ reader: ArchiveReader,
        _ standIns: [EntryPath: EntryPath],
        into root: OpenFile
    ) throws -> ImportReport {
        let staging = try makeStaging(in: root)
        defer { try? root.descriptor.removeTree(Self.stagingName) }
        var extraction = try ArchiveExtractor.Options(options, for: reader, in: staging)
        extraction.selection = paths
        extraction.standIns = standIns
        let extractor = try ArchiveExtractor.restore(
            reader,
            in: staging,
            options: extraction,
            progress: progress
        )
        try moveIn(staging, to: root)
        return ImportReport(
            header: reader.header,
            fingerprint: reader.fingerprint,
            lacksEndMark: reader.lacksEndMark,
            totals: extractor.totals,
            omissions: extractor.omissions,
            replacedData: false,
            appExtension: nil
        )
    }

    private func makeStaging(in root: OpenFile) throws(MigrationError) -> OpenFile {
        do throws(SystemError) {
            try StagingDirectory.removeLeftover(Self.stagingName, in: root)
            try root.descriptor.makeDirectory(Self.stagingName, permissions: 0o700)
            let staging = OpenFile(try root.descriptor.open(Self.stagingName, .directory))
            try staging.descriptor.lock(.exclusive)
            return staging
        } catch {
            if error.isBusy {
                let message = "another extraction into this directory is under way"
                throw MigrationError(.containerBusy, message, path: directory)
            }
            let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
            throw MigrationError(code, "can't be written to", path: directory, cause: error)
        }
    }

    /// Moves everything that was restored to its place; takes it back where something is in the way.
    private func moveIn(_ staging: OpenFile, to root: OpenFile) throws {
        let listing = try DirectoryListing(of: staging.descriptor)
        for index in 0..<listing.count {
            let name = listing[index]
            do throws(SystemError) {
                try staging.descriptor.move(name, into: root.descriptor)
            } catch {
                for earlier in 0..<index {
                    try root.descriptor.move(listing[earlier], into: staging.descriptor)
                }
                guard error.isExisting else { throw error }
                let message = "something of that name is in the directory already"
                let slash = ByteString(utf8: "/")
                throw MigrationError(.outputExists, message, path: directory + slash + name)
            }
        }
    }
}
