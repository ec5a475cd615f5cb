public import Foundation
package import MigrationSystem

/// A file or a directory outside the container that the person granted to the extension.
///
/// An addition to AppMigrationKit: on iOS the person picks files in the app. The extension opens a
/// resource with `startAccessingSecurityScopedResource()` of its ``url``, uses it, and closes it
/// with `stopAccessingSecurityScopedResource()`. Before and after that, its process can't open
/// files in it.
public struct GrantedResource: Sendable, Hashable {
    /// The name that the person gave the resource.
    public let name: String

    /// The file or directory.
    ///
    /// Only this URL, and the URLs from bookmarks of it and of files in it, open it; URLs made from
    /// it work while it is open.
    public let url: URL

    /// Whether the extension may change it.
    public let isWritable: Bool

    /// Describes a resource for ``MigrationExtension/grantedResources``.
    ///
    /// - Parameters:
    ///   - name: A name by which the extension finds the resource; not empty.
    ///   - url: An existing file or directory, outside the container and the app groups.
    ///   - isWritable: Whether the extension may change it. Changes stay, even if the operation
    ///     fails.
    public init(name: String, url: URL, isWritable: Bool = false) {
        (self.name, self.url, self.isWritable) = (name, url, isWritable)
    }

    /// The resources that were granted to the calling extension, sorted by name; empty outside a session.
    public static var all: [GrantedResource] {
        ExtensionContext.hosted?.grants.grants.map(\.resource).sorted { $0.name < $1.name } ?? []
    }
}

// MARK: - In a session

/// The resources that a session grants to its extension, and which of them the extension has open.
package final class SessionGrants: Sendable {
    /// A granted resource, and the identity of its file.
    package struct Grant: Sendable {
        package let resource: GrantedResource
        /// Its path, without links.
        package let path: BytePath
        package let identity: FileStatus.Identity

        package init(
            _ resource: GrantedResource,
            path: BytePath,
            identity: FileStatus.Identity
        ) {
            (self.resource, self.path, self.identity) = (resource, path, identity)
        }
    }

    /// Shows a grant to this process, or hides it; returns whether that worked.
    package typealias Change = @Sendable (_ number: Int, _ isShown: Bool) -> Bool

    /// The grants in the order of their paths, by which the host numbers them.
    package let grants: [Grant]

    private let change: Change
    private let state: Monitor<State>

    private struct State {
        /// The number of calls that opened each resource and have not closed it yet.
        var calls: [Int]
        /// The files in grants that bookmarks led to, with the numbers of their grants.
        var bookmarked: [BytePath: Int] = [:]
    }

    /// Grants nothing.
    package static var none: SessionGrants { SessionGrants([]) }

    /// Grants `grants`, which `change` shows and hides if the system can.
    package init(_ grants: [Grant], changedBy change: @escaping Change = { _, _ in true }) {
        self.grants = grants.sorted { $0.path < $1.path }
        self.change = change
        state = Monitor(State(calls: Array(repeating: 0, count: grants.count)))
    }

    /// Opens the grant at exactly this path, or the grant of a bookmark's file at this path;
    /// `false` if there is none, or it can't be shown.
    fileprivate func start(_ path: BytePath) -> Bool {
        state.withLock { state in
            guard let number = number(of: path, state),
                state.calls[number] > 0 || change(number, true)
            else { return false }
            state.calls[number] += 1
            return true
        }
    }

    /// Undoes a call of ``start(_:)``; the last one hides the grant.
    fileprivate func stop(_ path: BytePath) {
        state.withLock { state in
            guard let number = number(of: path, state), state.calls[number] > 0 else { return }
            state.calls[number] -= 1
            if state.calls[number] == 0 { _ = change(number, false) }
        }
    }

    /// Throws if `path` is in a grant, but not in an open one.
    package func checkIsOpen(_ path: BytePath) throws(MigrationError) {
        let covering = grants.indices.filter { path.isEqual(toOrBelow: grants[$0].path) }
        guard let first = covering.first else { return }
        let isOpen = state.withLock { state in covering.contains { state.calls[$0] > 0 } }
        guard !isOpen else { return }
        let name = grants[first].resource.name
        let message =
            "the granted resource '\(name)' is not open: call startAccessingSecurityScopedResource() "
            + "of its URL first"
        throw MigrationError(.outsideContainer, message, path: path)
    }

    private func number(of path: BytePath, _ state: State) -> Int? {
        let path = path.trimmed
        return grants.firstIndex { $0.path == path } ?? state.bookmarked[path]
    }
}

// MARK: - Files that bookmarks name

#if !canImport(Darwin)
extension SessionGrants {
    /// A granted resource, or a file in one.
    fileprivate struct GrantedItem {
        let grant: Grant
        /// The path, without links.
        let path: BytePath
        let identity: FileStatus.Identity
        let isDirectory: Bool

        /// The path in the resource, which begins with a slash; empty for the resource itself.
        var rest: [UInt8] { path.rest(from: grant.path).map { [UInt8]($0) } ?? [] }
    }

    /// Finds the granted resource at `path`, or the file there in one that is open.
    ///
    /// - Throws: `CocoaError` of code `fileReadNoPermission` if the resource isn't open, and
    ///   `fileNoSuchFile` if `path` is neither that of a resource nor of a file in one.
    fileprivate func item(at path: BytePath) throws(CocoaError) -> GrantedItem {
        if let grant = grants.first(where: { $0.path == path }) {
            return GrantedItem(
                grant: grant,
                path: path,
                identity: grant.identity,
                isDirectory: grant.resource.url.hasDirectoryPath
            )
        }
        // The innermost resource comes last.
        guard let number = grants.lastIndex(where: { path.isEqual(toOrBelow: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        guard state.withLock({ $0.calls[number] > 0 }) else {
            throw CocoaError(.fileReadNoPermission)
        }
        return try item(at: path, in: grants[number])
    }

    private func item(at path: BytePath, in grant: Grant) throws(CocoaError) -> GrantedItem {
        do throws(SystemError) {
            let resolved = try BytePath(resolvingWhole: path)
            let status = try FileDescriptor.status(atPath: resolved)
            // A link that leads out leads to nothing.
            guard resolved.isEqual(toOrBelow: grant.path) else { throw SystemError.denied }
            return GrantedItem(
                grant: grant,
                path: resolved,
                identity: status.identity,
                isDirectory: status.kind == .directory
            )
        } catch {
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// Finds a file in a granted resource by the path that a bookmark has; from now on its URL opens
    /// the resource.
    ///
    /// - Throws: `CocoaError` of code `fileNoSuchFile`.
    fileprivate func find(_ rest: [UInt8], in grant: Grant) throws(CocoaError) -> GrantedItem {
        guard !rest.isEmpty else { return try item(at: grant.path) }
        guard start(grant.path) else { throw CocoaError(.fileNoSuchFile) }
        defer { stop(grant.path) }
        let item = try item(at: BytePath(grant.path.bytes + rest), in: grant)
        state.withLock { state in
            state.bookmarked[item.path] = grants.firstIndex { $0.path == grant.path }
        }
        return item
    }
}
#endif

#if !canImport(Darwin)
extension URL {
    /// Opens a granted resource for this process, until as many calls of
    /// ``stopAccessingSecurityScopedResource()`` follow.
    ///
    /// Corresponds to Foundation's method of that name, which Linux lacks.
    ///
    /// - Returns: Whether the resource is open now; `false` for every URL except that of a
    ///   ``GrantedResource`` or of its bookmark.
    public func startAccessingSecurityScopedResource() -> Bool {
        guard let path = fileSystemPath else { return false }
        return ExtensionContext.hosted?.grants.start(path) ?? false
    }

    /// Undoes one call of ``startAccessingSecurityScopedResource()``.
    ///
    /// When the last one is undone, the resource closes; open files stay open.
    ///
    /// Corresponds to Foundation's method of that name, which Linux lacks.
    public func stopAccessingSecurityScopedResource() {
        guard let path = fileSystemPath else { return }
        ExtensionContext.hosted?.grants.stop(path)
    }
}

// MARK: - Bookmarks

extension URL {
    /// Options for making a bookmark; they have no effect here.
    public struct BookmarkCreationOptions: OptionSet, Sendable {
        /// The options as Foundation's bits.
        public let rawValue: UInt

        /// Makes options from Foundation's bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A bookmark with little information.
        public static let minimalBookmark = BookmarkCreationOptions(rawValue: 1 << 9)
        /// A bookmark for a separate file.
        public static let suitableForBookmarkFile = BookmarkCreationOptions(rawValue: 1 << 10)
        /// A bookmark that opens the resource.
        public static let withSecurityScope = BookmarkCreationOptions(rawValue: 1 << 11)
        /// A bookmark that opens the resource for reading.
        public static let securityScopeAllowOnlyReadAccess = BookmarkCreationOptions(
            rawValue: 1 << 12
        )
    }

    /// Options for resolving a bookmark; they have no effect here.
    public struct BookmarkResolutionOptions: OptionSet, Sendable {
        /// The options as Foundation's bits.
        public let rawValue: UInt

        /// Makes options from Foundation's bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Without asking anybody.
        public static let withoutUI = BookmarkResolutionOptions(rawValue: 1 << 8)
        /// Without mounting a volume.
        public static let withoutMounting = BookmarkResolutionOptions(rawValue: 1 << 9)
        /// For a bookmark that opens the resource.
        public static let withSecurityScope = BookmarkResolutionOptions(rawValue: 1 << 10)
        /// Without opening the resource.
        public static let withoutImplicitStartAccessing = BookmarkResolutionOptions(
            rawValue: 1 << 15
        )
    }

    private struct Bookmark: Codable {
        let name: String
        /// The path in the resource, which begins with a slash; `nil` for the resource itself.
        let rest: Data?
        let path: Data
        let device: UInt64
        let inode: UInt64
    }

    /// Makes a bookmark of a granted resource, or of a file in one that is open, by which a later session
    /// finds it.
    ///
    /// Corresponds to Foundation's method of that name, which Linux lacks.
    ///
    /// - Parameters:
    ///   - options: Ignored.
    ///   - keys: Ignored.
    ///   - relativeURL: Ignored.
    /// - Returns: The bookmark.
    /// - Throws: `CocoaError` of code `fileNoSuchFile` if this isn't the URL of a granted resource or of a
    ///   file in one, and `fileReadNoPermission` if that resource isn't open.
    public func bookmarkData(
        options: BookmarkCreationOptions = [],
        includingResourceValuesForKeys keys: Set<URLResourceKey>? = nil,
        relativeTo relativeURL: URL? = nil
    ) throws -> Data {
        guard let path = fileSystemPath?.trimmed, let grants = ExtensionContext.hosted?.grants
        else { throw CocoaError(.fileNoSuchFile) }
        let item = try grants.item(at: path)
        return try JSONEncoder().encode(
            Bookmark(
                name: item.grant.resource.name,
                rest: item.rest.isEmpty ? nil : Data(item.rest),
                path: Data(item.path.bytes),
                device: item.identity.device,
                inode: item.identity.inode
            )
        )
    }

    /// Finds the granted resource of a bookmark by its name, or the file in it.
    ///
    /// The URL of a file in a resource opens that resource.
    ///
    /// Corresponds to Foundation's initializer, which Linux lacks.
    ///
    /// - Parameters:
    ///   - data: The bookmark.
    ///   - options: Ignored.
    ///   - relativeURL: Ignored.
    ///   - isStale: Whether the resource now has another path, or is another file: then make a new
    ///     bookmark.
    /// - Throws: `CocoaError` of code `fileReadCorruptFile` if `data` isn't a bookmark, and
    ///   `fileNoSuchFile` if no resource is granted under that name, or if it holds no such file.
    public init(
        resolvingBookmarkData data: Data,
        options: BookmarkResolutionOptions = [],
        relativeTo relativeURL: URL? = nil,
        bookmarkDataIsStale isStale: inout Bool
    ) throws {
        // Foundation reports any damage as this error, too.
        guard let bookmark = try? JSONDecoder().decode(Bookmark.self, from: data) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        guard let grants = ExtensionContext.hosted?.grants,
            let grant = grants.grants.first(where: { $0.resource.name == bookmark.name })
        else { throw CocoaError(.fileNoSuchFile) }
        let item = try grants.find([UInt8](bookmark.rest ?? Data()), in: grant)
        let identity = FileStatus.Identity(device: bookmark.device, inode: bookmark.inode)
        isStale = item.path.bytes != [UInt8](bookmark.path) || item.identity != identity
        if item.rest.isEmpty {
            self = grant.resource.url
        } else {
            self =
                item.isDirectory
                ? URL(directoryAtPath: item.path) : URL(fileAtPath: item.path)
        }
    }
}
#endif
