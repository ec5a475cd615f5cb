internal import Foundation
internal import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// Converts an archive with the layout of iOS exports to a stream that Android can restore.
///
/// Android expects the domains in a fixed order, so each is first collected in an unnamed file.
package struct StreamConversion {
    /// The apps that the stream is for.
    package struct Options: Sendable {
        /// The package on Android.
        package let package: String

        /// The iOS app that the data comes from.
        package let app: AppIdentity

        /// The name of the data's format; `nil` for the archive's own.
        package var contentVersion: String?

        package init(package: String, app: AppIdentity) {
            (self.package, self.app) = (package, app)
        }
    }

    private let options: Options
    private let spoolDirectory: BytePath
    private let operation: MigrationOperation

    package init(
        options: Options,
        spoolingTo directory: BytePath,
        on operation: MigrationOperation
    ) {
        self.options = options
        spoolDirectory = directory
        self.operation = operation
    }

    /// Converts the archive and gives the finished stream its name.
    package func run(
        _ source: ArchiveSource,
        to destination: ArchiveDestination
    ) throws -> ConversionReport {
        let package = EntryPath(options.package)
        guard package.violation == nil, package.components.count == 1 else {
            let name = PrintableText.escaping(options.package)
            throw AndroidMigrationError(.packageNotFound, "'\(name)' is no package's name")
        }
        let reader = try ArchiveReader(source.open(operation), access: .whole)
        let domains = try readDomains(from: reader)
        let size = try ArchiveFile.write(to: destination, on: operation) { file in
            try write(domains, version: reader.header?.resourcesVersion, to: file.output)
        }
        return ConversionReport(
            package: options.package,
            header: nil,
            totals: domains.totals,
            bytes: size,
            fingerprint: nil,
            omitted: domains.omitted,
            salvaged: [],
            lost: ConversionReport.List(),
            inside: ConversionReport.List()
        )
    }

    private func readDomains(from reader: ArchiveReader) throws -> DomainSpools {
        let domains = try DomainSpools(package: options.package, spoolDirectory)
        while let entry = try reader.next() {
            try operation.check()
            try domains.append(entry, from: reader)
        }
        guard domains.totals.entries > 0 else {
            let message =
                "nothing in the archive lies where Android's data does: app/, external/files/ or "
                + "device/app/"
            throw AndroidMigrationError(.nothingBackedUp, message)
        }
        return domains
    }

    private func write(
        _ domains: DomainSpools,
        version: String?,
        to output: ArchiveOutput
    ) throws -> UInt64 {
        let manifest = CrossPlatformManifest(
            package: options.package,
            parameters: [
                PlatformParameters(
                    bundleIdentifier: options.app.bundleIdentifier,
                    teamIdentifier: options.app.teamIdentifier,
                    contentVersion: options.contentVersion ?? version ?? ""
                )
            ]
        )
        var start: [UInt8] = []
        for (name, content) in [
            (PackageManifest.fileName, PackageManifest(package: options.package).encoded),
            (CrossPlatformManifest.fileName, try manifest.encoded()),
        ] {
            start += AndroidHeader.file(
                in: [UInt8]("apps/\(options.package)".utf8),
                at: EntryPath(name),
                size: UInt64(content.count)
            )
            start += content
            start += AndroidHeader.padding(for: UInt64(content.count))
        }
        try output.write(start.span)
        var size = UInt64(start.count)
        for domain in StorageDomain.allCases {
            size += try domains.copy(domain, to: output)
        }
        let end = [UInt8](repeating: 0, count: 1024)
        try output.write(end.span)
        return size + 1024
    }
}

/// The entries of each domain, in the stream's format.
private final class DomainSpools {
    private let package: String
    private var files: [StorageDomain: Spool] = [:]
    /// Android expects a directory before its contents; an archive has it after them.
    private var directories: [StorageDomain: [Directory]] = [:]
    private(set) var totals = ArchiveTotals()
    private(set) var omitted = ConversionReport.List()

    private struct Directory {
        let path: EntryPath
        let permissions: UInt16
        let time: UInt64
    }

    private final class Spool {
        let file: FileDescriptor
        var size: UInt64 = 0

        init(_ file: consuming FileDescriptor) {
            self.file = file
        }

        func append(_ bytes: Span<UInt8>) throws {
            try Self.gathering { () throws(SystemError) in try file.writeAll(bytes, at: size) }
            size += UInt64(bytes.count)
        }

        static func gathering<Value>(
            _ body: () throws(SystemError) -> Value
        ) throws(AndroidMigrationError) -> Value {
            try AndroidMigrationError.wrapping(.outputFailed, "the stream can't be gathered", body)
        }
    }

    init(package: String, _ directory: BytePath) throws {
        self.package = package
        try AndroidMigrationError.makingFile(in: directory) { () throws(SystemError) in
            let place = try FileDescriptor.openFollowingLinks(directory, .directory)
            for domain in StorageDomain.allCases {
                files[domain] = Spool(try place.openTemporary())
            }
        }
    }

    func append(_ entry: ArchiveEntry, from reader: ArchiveReader) throws {
        func omit(_ reason: String) { omitted.append(entry.path.description, because: reason) }
        guard let domain = StorageDomain(containing: entry.path), let spool = files[domain],
            let path = domain.relativePath(of: entry.path)
        else {
            let domains = StorageDomain.allCases
            let isAbove = domains.contains { $0.iosPath.isEqual(toOrBelow: entry.path) }
            if !isAbove || entry.kind != .directory { omit("no domain of Android's has this path") }
            return
        }
        if path.bytes.isEmpty, entry.kind == .directory { return }
        if path.bytes.isEmpty { return omit("Android has a directory there") }
        let root = root(of: domain)
        guard root.count + 1 + path.bytes.count <= BackupItem.pathLimit else {
            return omit("the path is longer than 4,096 bytes")
        }
        switch entry.kind {
        case .symbolicLink: return omit("a symbolic link, which Android refuses")
        case .hardLink: return omit("a hard link, which Android refuses")
        case .directory:
            // Android skips directories that their owner can't write to, with everything in them (1.5).
            let permissions = entry.permissions & 0o777 | 0o200
            directories[domain, default: []].append(
                Directory(path: path, permissions: permissions, time: noteChanges(of: entry))
            )
        case .file(let size):
            let header = AndroidHeader.file(
                in: root,
                at: path,
                size: size,
                permissions: entry.permissions & 0o777,
                time: noteChanges(of: entry)
            )
            try spool.append(header.span)
            try reader.readContent(ofSize: size) { try spool.append($0) }
            try spool.append(AndroidHeader.padding(for: size).span)
        }
        totals.count(entry)
    }

    /// Notes what a file or directory loses in the stream; returns its time there.
    private func noteChanges(of entry: ArchiveEntry) -> UInt64 {
        let seconds = entry.modificationTime.seconds
        if seconds < 0 {
            let reason = "its time, which is before 1970; it becomes 1970-01-01"
            omitted.append(entry.path.description, because: reason)
        }
        if !entry.extendedAttributes.isEmpty {
            omitted.append(entry.path.description, because: "its extended attributes")
        }
        return UInt64(max(0, seconds))
    }

    private func root(of domain: StorageDomain) -> [UInt8] {
        [UInt8]("apps/\(package)/\(domain.token)".utf8)
    }

    /// Copies a domain to `output`, its directories first; returns its size.
    func copy(
        _ domain: StorageDomain,
        to output: ArchiveOutput
    ) throws -> UInt64 {
        guard let spool = files[domain] else { return 0 }
        var size = spool.size
        for directory in (directories[domain] ?? []).sorted(by: { $0.path < $1.path }) {
            let header = AndroidHeader.directory(
                in: root(of: domain),
                at: directory.path,
                permissions: directory.permissions,
                time: directory.time
            )
            try output.write(header.span)
            size += UInt64(header.count)
        }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var offset: UInt64 = 0
        while offset < spool.size {
            try output.operation.check()
            let count = try Spool.gathering { () throws(SystemError) in
                try spool.file.read(at: offset, into: &buffer, count: buffer.count)
            }
            guard count > 0 else { break }
            try output.write(buffer.span.extracting(first: count))
            offset += UInt64(count)
        }
        return size
    }
}
