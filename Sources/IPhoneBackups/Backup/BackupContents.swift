internal import MigrationArchive
internal import MigrationSystem
internal import PropertyLists

/// The domain of a container in a backup: its kind, and the identifier of its owner.
package struct Domain: Hashable, Sendable {
    /// The kind of a container.
    package enum Kind: String, CaseIterable, Sendable {
        case app = "AppDomain"
        case group = "AppDomainGroup"
        case plugin = "AppDomainPlugin"

        /// The directory on a device that holds containers of this kind, each named by a UUID.
        var directory: String {
            switch self {
            case .app: "/var/mobile/Containers/Data/Application/"
            case .group: "/var/mobile/Containers/Shared/AppGroup/"
            case .plugin: "/var/mobile/Containers/Data/PluginKitPlugin/"
            }
        }
    }

    package let kind: Kind
    package let identifier: String

    package init(_ kind: Kind, _ identifier: String) {
        (self.kind, self.identifier) = (kind, identifier)
    }

    /// Reads the domain of a row; `nil` if it isn't a container's.
    init?(_ bytes: [UInt8]) {
        // An identifier may contain the separator too.
        guard let end = bytes.firstIndex(of: UInt8(ascii: "-")), bytes.count <= 1_024,
            let kind = Kind(rawValue: String(decoding: bytes[..<end], as: UTF8.self)),
            let identifier = String(validating: bytes[(end + 1)...], as: UTF8.self),
            !identifier.isEmpty,
            !identifier.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "/") })
        else { return nil }
        self.init(kind, identifier)
    }

    /// The bytes in the manifest.
    var bytes: [UInt8] { [UInt8]("\(kind.rawValue)-\(identifier)".utf8) }
}

/// An app that the backup's lists name.
struct ListedApp {
    var name: String?
    var version: String?
}

/// The apps that `Manifest.plist` and `Info.plist` name.
struct AppLists {
    private(set) var apps: [String: ListedApp] = [:]

    /// Reads the dictionary `Applications` of `Manifest.plist`.
    init(manifest: PropertyListValue?) {
        for (identifier, app) in manifest?["Applications"]?.dictionary ?? [:] {
            apps[identifier] = ListedApp(version: app["CFBundleVersion"]?.string)
        }
    }

    /// Adds the apps in `Info.plist` that the person installed, and their names.
    mutating func add(info: PropertyListValue) {
        for identifier in info["Installed Applications"]?.strings ?? [] {
            apps[identifier] = apps[identifier] ?? ListedApp()
        }
        for (identifier, app) in info["Applications"]?.dictionary ?? [:] {
            var listed = apps[identifier] ?? ListedApp()
            let metadata = app["iTunesMetadata"]?.data ?? []
            listed.name = Self.text("itemName", in: metadata)
            listed.version = Self.text("bundleShortVersionString", in: metadata) ?? listed.version
            apps[identifier] = listed
        }
    }

    /// The text for a key in the metadata of an app; `nil` if it can't be read.
    ///
    /// A few bytes of a binary list can expand to a hundred thousand values, and there may be a list for each
    /// of thousands of apps. So only the text is read.
    private static func text(_ key: String, in metadata: [UInt8]) -> String? {
        guard let list = try? BinaryPropertyList(metadata) else {
            return (try? PropertyListValue.read(metadata))?[key]?.string
        }
        guard let place = try? list.member(key, of: list.root) else { return nil }
        return (try? list.value(of: place))?.string
    }

    subscript(identifier: String) -> ListedApp? { apps[identifier] }
}

/// The containers in a backup, and the apps that it names.
package struct BackupContents: Sendable {
    /// A container, or an app without one.
    package struct Container: Hashable, Sendable {
        package let identifier: String
        /// The app's name in its store.
        package fileprivate(set) var name: String?
        package fileprivate(set) var version: String?
        package fileprivate(set) var files: UInt64 = 0
        /// The sizes in the manifest, which may be older than the content.
        package fileprivate(set) var bytes: UInt64 = 0
        /// Whether the backup holds a file of it.
        package var hasData: Bool { files > 0 }
    }

    /// More containers than any device has.
    private static let limit = 100_000

    private var containers: [Domain: Container] = [:]

    init(_ lists: AppLists) {
        for (identifier, app) in lists.apps {
            var container = Container(identifier: identifier)
            container.name = app.name
            container.version = app.version
            containers[Domain(.app, identifier)] = container
        }
    }

    mutating func add(_ row: Manifest.Row, in domain: Domain) throws {
        var container = containers[domain] ?? Container(identifier: domain.identifier)
        // A conversion reports damaged rows.
        if row.flags == FileRecord.Kind.file.flags, let size = try? row.size() {
            container.files += 1
            container.bytes.addSaturating(UInt64(clamping: size))
        }
        containers[domain] = container
        guard containers.count <= Self.limit else {
            let message = "the backup names over \(Self.limit) containers"
            throw ArchiveError(.damaged, message)
        }
    }

    /// The containers of a kind, in the order of their identifiers.
    package func containers(_ kind: Domain.Kind) -> [Container] {
        containers.filter { $0.key.kind == kind }.map(\.value)
            .sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
    }
}
