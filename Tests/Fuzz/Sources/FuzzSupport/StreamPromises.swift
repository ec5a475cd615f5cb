@testable internal import AndroidMigration
@testable internal import MigrationArchive
@testable internal import MigrationCore
@testable internal import MigrationSystem

/// Promises about every Android stream, and about its conversion.
public enum StreamPromises {
    private static let converted = "stream that became an archive"
    private static let salvaged = "damaged stream that became an archive"
    private static let returned = "archive that became a stream"

    /// The milestones that the seeds must reach.
    public static let milestones = [converted, salvaged, returned]

    private static let archivePath = BytePath(FuzzTarget.groundPath + "/archive")
    private static let streamPath = BytePath(FuzzTarget.groundPath + "/stream")
    private static let ground = BytePath(FuzzTarget.groundPath)

    /// Uses the first byte to choose what to do with the stream in the rest.
    ///
    /// Bit 0: repair it; bit 1: keep Android's names.
    public static func check(_ bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let rest = [UInt8](bytes.dropFirst())
        let stream = try open(first & 1 == 0 ? rest : TarRepair.repaired(rest))
        try checkEntries(of: stream)
        var options = BackupConversion.Options()
        options.layout = first & 2 == 0 ? .ios : .android
        options.threadCount = 1
        options.compressionLevel = 1
        options.package = try BackupContents(stream).names.first { !$0.isEmpty } ?? "com.x"
        let report = try BackupConversion(
            .stream(stream),
            options: options,
            on: MigrationOperation()
        ).run(to: .file(path: archivePath, replacesExisting: true))
        Milestones.reach(report.lost.count == 0 ? converted : salvaged)
        let files = try checkArchive(options.layout, report)
        if options.layout == .ios { try checkReturn(files) }
    }

    private static func open(_ bytes: [UInt8]) throws -> BackupStream {
        try BackupStream.open(
            OpenFile(FileDescriptor.duplicate(ofNumber: InputDescriptor.file(holding: bytes))),
            password: nil,
            spoolingTo: ground,
            on: MigrationOperation()
        )
    }

    private static func checkEntries(of stream: BackupStream) throws {
        let reader = try BackupReader(stream)
        var position: UInt64 = 0
        var count = 0
        while let item = try reader.next() {
            count += 1
            FuzzTarget.require(count <= stream.size / 512 + 2, "a block gives one entry at most")
            guard case .entry(let entry) = item else { continue }
            FuzzTarget.require(entry.contentOffset > position, "entries lie one behind the other")
            position = entry.contentOffset
            FuzzTarget.require(position + entry.size <= stream.size, "an entry lies in the stream")
            guard case .data(_, let domain, let path) = BackupItem(entry) else { continue }
            FuzzTarget.require(path.violation == nil, "a path leads nowhere else: \(path)")
            let relative = domain.relativePath(of: path)
            FuzzTarget.require(relative?.bytes.isEmpty == false, "a path lies in its domain")
        }
    }

    /// Reads the archive, which must be whole; returns its files with their sizes.
    private static func checkArchive(
        _ layout: BackupConversion.Layout,
        _ report: ConversionReport
    ) throws -> [EntryPath: UInt64] {
        let reader: ArchiveReader
        var files: [EntryPath: UInt64] = [:]
        do {
            let source = ArchiveSource.file(path: archivePath)
            reader = try ArchiveReader(source.open(MigrationOperation()), access: .whole)
            while let entry = try reader.next() {
                let roots = layout == .ios ? ["app", "device", "external"] : ["apps"]
                let first = entry.path.components.first.map { String(decoding: $0, as: UTF8.self) }
                FuzzTarget.require(roots.contains(first ?? ""), "an entry lies in a domain")
                switch entry.kind {
                case .file(let size):
                    let old = files.updateValue(size, forKey: entry.path)
                    FuzzTarget.require(old == nil, "a path comes once: \(entry.path)")
                case .directory: break
                default: FuzzTarget.require(false, "an archive has files and directories alone")
                }
            }
        } catch {
            fatalError("broken promise: an archive that was made is whole: \(error)")
        }
        FuzzTarget.require(UInt64(files.count) == report.totals.files, "the report counts right")
        return files
    }

    private static func checkReturn(_ files: [EntryPath: UInt64]) throws {
        guard let app = AppIdentity("T.a.b") else { fatalError("no app") }
        let report = try StreamConversion(
            options: StreamConversion.Options(package: "com.x", app: app),
            spoolingTo: ground,
            on: MigrationOperation()
        ).run(.file(path: archivePath), to: .file(path: streamPath, replacesExisting: true))
        Milestones.reach(returned)
        let file = try FileDescriptor.openFollowingLinks(streamPath, .reading)
        let stream = try BackupStream.open(
            OpenFile(file),
            password: nil,
            spoolingTo: ground,
            on: MigrationOperation()
        )
        let reader = try BackupReader(stream)
        var found: [EntryPath: UInt64] = [:]
        var domains: [Int] = []
        while let item = try reader.next() {
            guard case .entry(let entry) = item else {
                fatalError("broken promise: a stream that was made is whole: \(item)")
            }
            FuzzTarget.require(
                [TypeFlag.regular, TypeFlag.directory].contains(entry.typeFlag),
                "Android takes files and directories alone"
            )
            guard case .data(_, let domain, let path) = BackupItem(entry) else { continue }
            domains.append(StorageDomain.allCases.firstIndex(of: domain) ?? -1)
            if entry.typeFlag == TypeFlag.directory {
                FuzzTarget.require(entry.permissions & 0o200 != 0, "a directory can be written")
            } else {
                found[path] = entry.size
            }
        }
        FuzzTarget.require(domains == domains.sorted(), "domains come in Android's order")
        FuzzTarget.require(
            found == files || report.omitted.count > 0,
            "what an archive holds comes back: \(found) of \(files)"
        )
    }

    /// Streams of every shape, whole and damaged.
    public static var seeds: [[UInt8]] {
        let long = "apps/com.x/f/" + String(repeating: "directory/", count: 12) + "name"
        let scripts = [
            "f|apps/com.x/_manifest|9\nf|apps/com.x/f/a|5|600|1\nd|apps/com.x/f/d|555|1\n"
                + "f|apps/com.x/db/x.db|700|600\nf|apps/com.x/sp/s.xml|3\nf|apps/com.x/ef/p|1",
            "f|apps/com.x/r/a|1\nf|apps/com.x/d_r/a|1\nf|apps/com.x/d_f/a|1\nf|\(long)|20\n"
                + "f|apps/com.x/f/\u{E9}|2\nl|apps/com.x/f/l|/etc\nh|apps/com.x/f/h|a",
            "f|apps/com.x/f/../x|1\nf|apps/com.x/f//y|1\nf|apps/com.x/f/a|1\nf|apps/com.x/f/a|2\n"
                + "f|apps/com.x/f/a/b|3\nf|apps/com.x/k/k|1\nf|shared/0/p|1",
            "f|files/a|1\nd|databases|700\nf|_external/p|3\nf|_device/files/d|1",
            "x|path|data/data/com.y/files/a\nf|n|1\nf|data/user_de/0/com.y/files/b|2",
            "x|size|600\nf|apps/com.x/f/short|20\nf|apps/com.x/f/next|700",
        ]
        let streams = scripts.map { EntryScript($0.utf8).stream }
        var seeds: [[UInt8]] = []
        for stream in streams {
            for form in [0, 1, 2] as [UInt8] { seeds.append([form] + stream) }
        }
        var damaged = streams[0]
        damaged.removeSubrange(1600..<2112)
        seeds.append([0] + damaged)
        seeds.append([0] + streams[1].dropLast(100))
        seeds.append([0] + streams[0] + [UInt8](repeating: 0, count: 1024))
        return seeds
    }
}
