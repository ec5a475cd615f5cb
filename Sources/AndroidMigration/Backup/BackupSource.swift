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
        _ place: BackupPlace,
        spoolDirectory: BytePath,
        cancellation: CancellationFlag
    ) throws -> BackupSource {
        let file: OpenFile
        let isDirectory: Bool
        do throws(SystemError) {
            file = OpenFile(try descriptor(place.origin))
            isDirectory = try file.descriptor.status().kind == .directory
        } catch {
            throw AndroidMigrationError(.unreadable, "the backup can't be opened", cause: error)
        }
        if isDirectory, case .path(let path) = place.origin {
            return .tree(try RawTree(path, external: place.external, device: place.device))
        }
        guard place.external == nil, place.device == nil else {
            let message = "'--external' and '--device' belong to a directory, and this is a file"
            throw AndroidMigrationError(.unsupported, message)
        }
        return .stream(
            try BackupStream.open(
                file,
                password: place.password,
                spoolingTo: spoolDirectory,
                cancellation: cancellation
            )
        )
    }

    private static func descriptor(
        _ origin: BackupPlace.Origin
    ) throws(SystemError) -> FileDescriptor {
        switch origin {
        case .path(let path): try FileDescriptor.openFollowingLinks(path, .reading)
        case .descriptor(let number): try FileDescriptor.duplicate(ofNumber: number)
        }
    }
}

/// The location of a backup, and the options to read it.
package struct BackupPlace: Sendable {
    package enum Origin: Sendable {
        case path(BytePath)
        case descriptor(Int32)
    }

    package let origin: Origin
    package var external: BytePath?
    package var device: BytePath?
    package var password: [UInt8]?

    package init(_ origin: Origin) {
        self.origin = origin
    }
}

extension DataTree {
    /// Makes the storage tree of one package in a backup; `nil` chooses the only one.
    package init(_ source: BackupSource, package: String? = nil) throws {
        switch source {
        case .tree(let tree): try self.init(tree)
        case .stream(let stream):
            self.init()
            let chosen = try BackupContents(stream).package(package)
            let reader = try BackupReader(stream)
            while let item = try reader.next() {
                guard case .entry(let entry) = item,
                    case .data(chosen, _, let path) = BackupItem(entry)
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
    }

    /// The packages by name, which may be empty for a plain tar file.
    package private(set) var packages: [String: Package] = [:]

    /// The first item that the stream has lost.
    private var loss: LostEntry?

    /// The packages in the order of their names.
    package var names: [String] { packages.keys.sorted() }

    private static let packageLimit = 10_000

    /// Reads the headers of a stream.
    package init(
        _ stream: BackupStream,
        cancellation: @escaping BackupReader.CancellationCheck = {}
    ) throws {
        let reader = try BackupReader(stream, cancellation: cancellation)
        while let item = try reader.next() {
            let entry: BackupEntry
            switch item {
            case .entry(let next): entry = next
            case .lost(let next):
                loss = loss ?? next
                continue
            }
            let item = BackupItem(entry)
            guard let name = item.package else { continue }
            guard packages[name] != nil || packages.count < Self.packageLimit else {
                let message = "the backup holds more than \(Self.packageLimit) packages"
                throw AndroidMigrationError(.unsupported, message)
            }
            switch item {
            case .data:
                packages[name, default: Package()].entries += 1
                packages[name]?.bytes += entry.size
            case .crossPlatformManifest:
                let limit = CrossPlatformManifest.sizeLimit
                guard entry.size <= UInt64(limit) else { continue }
                let bytes = [UInt8](
                    try stream.read(at: entry.contentOffset, count: Int(entry.size))
                )
                packages[name, default: Package()].manifest = try CrossPlatformManifest(bytes)
            case .packageManifest, .other: packages[name] = packages[name] ?? Package()
            case .container: break
            }
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
            let list = held.joined(separator: ", ")
            throw AndroidMigrationError(
                .severalPackages,
                "the backup holds several packages; choose one with '--package': \(list)"
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
        let subject = name.map { $0.isEmpty ? "the app" : "the app '\($0)'" } ?? "the app"
        return AndroidMigrationError(
            .nothingBackedUp,
            "nothing was backed up: \(subject) is not eligible, or not debuggable; "
                + "'migrate android preview' says why"
        )
    }
}

extension BackupEntry {
    var isFile: Bool { typeFlag != TypeFlag.directory }
}
