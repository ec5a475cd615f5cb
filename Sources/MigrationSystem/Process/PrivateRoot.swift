internal import Glibc

/// A root directory for one program that contains only the files the program may reach.
///
/// Files keep their paths, and the links on the way to them exist. Other files don't exist in it,
/// so the program can't read their status or change their modes, times and owners. Files that may
/// only be read are in read-only mounts.
///
/// Without Landlock a program could still reach the roots of other processes through `/proc`.
package struct PrivateRoot: Sendable, Equatable {
    /// Links by which scripts and programs find files in `/usr` and `/proc`.
    private static let links = [
        "/bin", "/sbin", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
    ]

    /// The directory that many links in `/usr` lead through.
    private static let alternatives = "/etc/alternatives"

    /// Three strings for each step of `migration_enter_root`.
    let steps: [[UInt8]]

    /// Shows the files of `rules`, the directories of `mounts` at their other paths, and an empty
    /// mount point for each of `grants`.
    ///
    /// - Throws: ``SystemError`` if a path can't be read, and for a rule about everything.
    package init(
        showing rules: [Sandbox.Rule],
        _ mounts: [ChildProcess.Mount] = [],
        placesFor grants: [Sandbox.Rule] = []
    ) throws(SystemError) {
        var resolver = LinkResolver()
        var parts: [BytePath: Part] = [:]
        let alternatives = Sandbox.Rule(path: BytePath(Self.alternatives), access: .read)
        for rule in rules + [alternatives] {
            guard let place = try resolver.find(rule.path, followingLast: rule.followsLink),
                place.kind != .symbolicLink
            else { continue }
            // A device can be written even through a read-only mount, and its mode can't be changed.
            let isFile = place.kind == .directory || place.kind == .regular
            let isWritable = rule.access == .readAndWrite && isFile
            parts[place.path] = Part(
                source: place.path,
                isDirectory: place.kind == .directory,
                isWritable: isWritable || parts[place.path]?.isWritable == true
            )
        }
        guard parts[""] == nil else { throw SystemError("mount", code: EINVAL) }
        for link in Self.links {
            _ = try resolver.find(BytePath(link), followingLast: true)
        }
        for mount in mounts {
            let cover = parts[mount.directory] ?? Self.cover(of: mount.directory, in: parts)
            parts[mount.place] = Part(
                source: mount.directory,
                isDirectory: true,
                isWritable: cover?.isWritable ?? false
            )
        }
        var places: [BytePath: Bool] = [:]
        for grant in grants {
            guard let place = try resolver.find(grant.path, followingLast: false) else { continue }
            places[place.path] = place.kind == .directory
        }
        steps = Self.steps(for: parts, places: places, resolver)
    }
}

// MARK: - Steps

extension PrivateRoot {
    /// A directory or a file that is shown, by its path.
    private struct Part {
        let source: BytePath
        let isDirectory: Bool
        let isWritable: Bool
    }

    /// The nearest part that contains `path`.
    private static func cover(of path: BytePath, in parts: [BytePath: Part]) -> Part? {
        ancestors(of: path).lazy.compactMap { parts[$0] }.first
    }

    /// The directories above `path`, nearest first, without the root.
    private static func ancestors(of path: BytePath) -> [BytePath] {
        path.bytes.indices.dropFirst().reversed()
            .filter { path.bytes[$0] == UInt8(ascii: "/") }
            .map { BytePath(path.bytes[..<$0]) }
    }

    private static func steps(
        for all: [BytePath: Part],
        places: [BytePath: Bool],
        _ resolver: LinkResolver
    ) -> [[UInt8]] {
        var parts: [BytePath: Part] = [:]
        for (path, part) in all.sorted(by: { $0.key < $1.key }) {
            let cover = cover(of: path, in: parts)
            guard cover?.isWritable != part.isWritable || part.source != path else { continue }
            parts[path] = part
        }
        var made: [BytePath: (word: String, target: [UInt8])] = [:]
        for path in resolver.passed { made[path] = ("d", []) }
        for (path, isDirectory) in places { made[path] = (isDirectory ? "d" : "f", []) }
        for (path, part) in parts { made[path] = (part.isDirectory ? "d" : "f", []) }
        for (path, target) in resolver.links { made[path] = ("l", target) }
        // A part includes everything in it.
        made = made.filter { cover(of: $0.key, in: parts) == nil }
        for path in made.keys.flatMap(ancestors) { made[path] = made[path] ?? ("d", []) }
        let steps = made.sorted { $0.key < $1.key }
        let shown = parts.sorted { $0.key < $1.key }
        return steps.flatMap { [[UInt8](utf8: $1.word), $0.bytes, $1.target] }
            + shown.flatMap {
                [[UInt8](utf8: $1.isWritable ? "w" : "r"), $0.bytes, $1.source.bytes]
            }
    }
}

/// The links in paths to files, and the directories that a path leaves again with `..`.
private struct LinkResolver {
    /// The maximum number of links in a path, as in the system.
    private static let mostLinks = 40

    private(set) var links: [BytePath: [UInt8]] = [:]
    private(set) var passed: Set<BytePath> = []

    /// Resolves the links in the absolute `path`; `nil` if it doesn't exist.
    mutating func find(
        _ path: BytePath,
        followingLast: Bool
    ) throws(SystemError) -> (path: BytePath, kind: FileStatus.Kind)? {
        var place: BytePath = ""
        var kind = FileStatus.Kind.directory
        var rest = Self.names(of: path)
        var count = 0
        while let name = rest.popLast() {
            if name == [UInt8](utf8: "..") {
                if !place.bytes.isEmpty {
                    passed.insert(place)
                    place = place.parent == .root ? "" : place.parent
                }
                continue
            }
            let next = place / name
            guard let found = try Self.kind(of: next) else { return nil }
            guard found == .symbolicLink, followingLast || !rest.isEmpty else {
                (place, kind) = (next, found)
                continue
            }
            count += 1
            guard count <= Self.mostLinks, let target = try Self.target(of: next) else {
                return nil
            }
            links[next] = target
            if BytePath(target).isAbsolute { place = "" }
            rest += Self.names(of: BytePath(target))
        }
        return (place, kind)
    }

    /// The names in a path, the last one first.
    private static func names(of path: BytePath) -> [[UInt8]] {
        path.components.map { [UInt8]($0) }
            .filter { $0 != [UInt8](utf8: ".") }.reversed()
    }

    private static func kind(of path: BytePath) throws(SystemError) -> FileStatus.Kind? {
        do throws(SystemError) {
            return try FileDescriptor.status(atPath: path).kind
        } catch {
            guard error.isMissing || error.isNotDirectory || error.isDenied else { throw error }
            return nil
        }
    }

    private static func target(
        of link: BytePath
    ) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            let directory = try FileDescriptor.openPlace(link.parent)
            return try directory.symbolicLinkTarget(link.lastComponent)
        } catch {
            guard error.isMissing || error.isDenied else { throw error }
            return nil
        }
    }
}
