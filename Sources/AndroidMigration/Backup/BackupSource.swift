internal import MigrationArchive
package import MigrationSystem

/// The source of an Android app's data: a copy of its directory, or a stream.
package enum BackupSource {
    case tree(RawTree)
    case stream(BackupStream)

    /// Opens a path, or the descriptor of standard input.
    ///
    /// Packed input is unpacked to an unnamed file in `spoolDirectory`.
    package static func open(
        _ location: BackupLocation,
        spoolDirectory: BytePath,
        on operation: MigrationOperation
    ) throws -> BackupSource {
        let (file, isDirectory) = try AndroidMigrationError.wrapping(
            .unreadable,
            "the backup can't be opened"
        ) { () throws(SystemError) in
            let file = OpenFile(try descriptor(location.origin))
            return (file, try file.descriptor.status().kind == .directory)
        }
        if isDirectory, case .path(let path) = location.origin {
            return .tree(try RawTree(at: location, path))
        }
        guard location.external == nil, location.device == nil else {
            throw AndroidMigrationError(
                .unsupported,
                "the further places of an app's data belong to a directory, and this is a file",
                remedy: .nameNoFurtherPlaces
            )
        }
        let stream = try BackupStream.open(
            file,
            password: location.password,
            spoolingTo: spoolDirectory,
            named: location.path,
            on: operation
        )
        stream.sizePolicy = location.sizePolicy
        return .stream(stream)
    }

    private static func descriptor(
        _ origin: BackupLocation.Origin
    ) throws(SystemError) -> FileDescriptor {
        switch origin {
        case .path(let path): try FileDescriptor.openFollowingLinks(path, .reading)
        case .descriptor(let number): try FileDescriptor.duplicate(ofNumber: number)
        }
    }
}

/// The location of a backup, and the options to read it.
package struct BackupLocation: Sendable {
    package enum Origin: Sendable {
        case path(BytePath)
        case descriptor(Int32)
    }

    package let origin: Origin
    package var external: BytePath?
    package var device: BytePath?
    package var password: [UInt8]?

    /// The app's package, which is also the name of its directory in the given one.
    package var package: String?
    package var sizePolicy = SizePolicy.refuse

    package init(_ origin: Origin) {
        self.origin = origin
    }

    var path: BytePath? {
        if case .path(let path) = origin { path } else { nil }
    }
}

extension RawTree {
    /// Opens the app's directory at `path`, or the one in it that is named after the package.
    fileprivate init(at location: BackupLocation, _ path: BytePath) throws(AndroidMigrationError) {
        let tree = try RawTree(path, external: location.external, device: location.device)
        guard !tree.looksLikeAnApp else {
            self = tree
            return
        }
        if let name = location.package, PackageDirectories.isPackage([UInt8](name.utf8)) {
            // Without such a directory, the given one is the app's.
            let below = try? RawTree(path / [UInt8](name.utf8))
            if let below, below.looksLikeAnApp {
                self = below
                return
            }
        }
        if let name = try tree.directoryOfApp {
            let shown = PrintableText.escaping(path / name)
            throw AndroidMigrationError(
                .notABackup,
                "the app's storage lies one level down: give '\(shown)'"
            )
        }
        self = tree
    }
}

extension DataTree {
    /// Makes the storage tree of one package in a backup; `nil` chooses the only one.
    package init(
        _ source: BackupSource,
        package: String? = nil,
        on operation: MigrationOperation
    ) throws {
        switch source {
        case .tree(let tree): try self.init(tree, on: operation)
        case .stream(let stream):
            self.init()
            let contents = try BackupContents(stream, cancellation: operation.check)
            let chosen = try contents.package(package)
            let reader = try BackupReader(stream, cancellation: operation.check)
            while let item = try reader.next() {
                guard case .entry(let entry) = item,
                    let path = BackupItem(entry, below: stream.packageDirectories)
                        .path(inStorageOf: chosen),
                    !contents.isLaterOutside(entry, path)
                else { continue }
                var head: [UInt8] = []
                if entry.isFile, DeviceBoundSecret.shows(at: path) {
                    let count = Int(min(entry.size, UInt64(RawTree.headSize)))
                    head = [UInt8](try stream.read(at: entry.contentOffset, count: count))
                }
                insert(
                    at: path,
                    kind: entry.isFile ? .file(size: entry.size) : .directory,
                    head: head
                )
                try checkSize()
            }
        }
    }
}

/// The contents of a stream, from one pass over its headers.
package struct BackupContents: Sendable {
    /// The contents of one package.
    package struct Package: Sendable {
        /// The files and directories of its data.
        package var entries = 0
        package var bytes: UInt64 = 0
        package var manifest: CrossPlatformManifest?

        /// The first entry that no app on iOS receives, and why.
        fileprivate var other: (path: String, reason: String)?
    }

    /// The packages by name, which may be empty for a plain tar file.
    package private(set) var packages: [String: Package] = [:]

    /// The first item that the stream has lost, or whose path can't be used.
    private var loss: LostEntry?

    /// The hashes of paths that were found inside another entry, and of those that occur again
    /// outside.
    ///
    /// Hashes are enough to distinguish paths, because each process has its own seed.
    private var paths: (inside: Set<Int>, outside: Set<Int>) = ([], [])

    /// Whether an entry was found inside another one, and occurs again after it.
    func isLaterOutside(_ entry: BackupEntry, _ path: EntryPath) -> Bool {
        entry.holder != nil && paths.outside.contains(path.hashValue)
    }

    /// The packages in the order of their names.
    package var names: [String] { packages.keys.sorted() }

    private static let packageLimit = 10_000

    /// Reads the headers of a stream.
    package init(
        _ stream: BackupStream,
        cancellation: @escaping BackupReader.CancellationCheck = {}
    ) throws {
        stream.packageDirectories = try PackageDirectories(stream, cancellation: cancellation)
        let reader = try BackupReader(stream, cancellation: cancellation)
        while let item = try reader.next() {
            let entry: BackupEntry
            switch item {
            case .entry(let next): entry = next
            case .lost(let next):
                loss = loss ?? next
                continue
            }
            let item = BackupItem(entry, below: stream.packageDirectories)
            if case .unusable(let reason) = item { loss = loss ?? entry.loss(reason) }
            guard let name = item.package else { continue }
            guard packages[name] != nil || packages.count < Self.packageLimit else {
                let message = "the backup holds more than \(Self.packageLimit) packages"
                throw AndroidMigrationError(.unsupported, message)
            }
            try note(entry, as: item, of: name, in: stream)
        }
    }

    private mutating func note(
        _ entry: BackupEntry,
        as item: BackupItem,
        of name: String,
        in stream: BackupStream
    ) throws {
        switch item {
        case .data(_, _, let path):
            packages[name, default: Package()].entries += 1
            packages[name]?.bytes.addSaturating(entry.size)
            if entry.holder != nil {
                paths.inside.insert(path.hashValue)
            } else if paths.inside.contains(path.hashValue) {
                paths.outside.insert(path.hashValue)
            }
        case .crossPlatformManifest:
            let limit = CrossPlatformManifest.sizeLimit
            // A manifest inside a file doesn't replace the package's own.
            let isReplacing = entry.holder != nil && packages[name]?.manifest != nil
            guard entry.size <= UInt64(limit), !isReplacing else { return }
            let bytes = [UInt8](
                try stream.read(at: entry.contentOffset, count: Int(entry.size))
            )
            packages[name, default: Package()].manifest = try CrossPlatformManifest(bytes)
        case .other(_, let reason):
            let other = (PrintableText.escaping(entry.path), reason)
            packages[name, default: Package()].other = packages[name]?.other ?? other
        case .neverSent:
            let other = (PrintableText.escaping(entry.path), BackupItem.neverSentReason)
            packages[name, default: Package()].other = packages[name]?.other ?? other
        case .packageManifest: packages[name] = packages[name] ?? Package()
        case .container, .unusable: break
        }
    }

    /// Chooses the package `name`, or the only one.
    package func package(_ name: String?) throws(AndroidMigrationError) -> String {
        let held = names.filter { packages[$0].map { $0.entries > 0 } ?? false }
        // A tar file of an app's directory doesn't name the app.
        if held == [""] || (held.isEmpty && names == [""]) { return "" }
        if let name {
            guard packages[name] != nil else {
                let list = names.isEmpty ? "none" : names.joined(separator: ", ")
                throw AndroidMigrationError(
                    .packageNotFound,
                    "the backup does not hold '\(name)'; it holds \(list)"
                )
            }
            guard held.contains(name) else { throw nothing(name) }
            return name
        }
        guard held.count <= 1 else {
            let list = held.map { $0.isEmpty ? "one without a name" : $0 }.joined(separator: ", ")
            throw AndroidMigrationError(
                .severalPackages,
                "the backup holds several packages: \(list)",
                remedy: .choosePackage
            )
        }
        guard let only = held.first else { throw nothing(names.count == 1 ? names[0] : nil) }
        return only
    }

    /// Why there is nothing to convert: nothing was backed up, or nothing can be read.
    func nothing(_ name: String?) -> AndroidMigrationError {
        if let loss {
            let message = "nothing of the backup can be read: \(loss.path): \(loss.reason)"
            return AndroidMigrationError(.damaged, message)
        }
        if let name, let other = packages[name]?.other {
            return AndroidMigrationError(
                .nothingToConvert,
                "nothing of the backup can be converted: '\(other.path)': \(other.reason)"
            )
        }
        let subject = name.map { $0.isEmpty ? "the app" : "the app '\($0)'" } ?? "the app"
        return AndroidMigrationError(
            .nothingBackedUp,
            "nothing was backed up: \(subject) is not eligible, or not debuggable",
            remedy: .previewBackup
        )
    }
}

extension BackupEntry {
    var isFile: Bool { typeFlag != TypeFlag.directory }
}
