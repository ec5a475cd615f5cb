internal import MigrationSystem

/// Follows a symbolic link component by component through a restored tree, to see whether it leads
/// out.
///
/// Every link of the tree is followed from its own path. So a link on another's route needs to be
/// followed only if `..` comes after it; otherwise it is checked when it is followed itself.
struct LinkWalk {
    /// Where a link leads.
    enum End {
        /// To something inside, or to an unused name inside.
        case inside
        /// Out of the tree.
        case outside
        /// Up from something that is not a directory, so it depends on later entries.
        case undecided
    }

    /// The links that the system follows on the way to one file.
    private static let linkLimit = 40

    /// The limit of steps up: going far up and down again repeatedly would open all directories
    /// from the root each time.
    private static let stepLimit = 128

    /// The limit of entered directories, which is the number that one link can name.
    ///
    /// Links in between take almost no space in an archive, and could multiply that by forty.
    private static let directoryLimit = 2_048

    private let cursor: DirectoryCursor<any RestoredDirectory>
    private var linkCount = 0
    private var stepCount = 0
    private var directoryCount = 0
    /// The components that are still to be followed, the next one last.
    private var rest: [ArraySlice<UInt8>] = []
    /// How many of these are `..`.
    private var stepsUp = 0

    /// Begins at the directory of `cursor`, and moves the cursor along.
    private init(at cursor: DirectoryCursor<any RestoredDirectory>) {
        self.cursor = cursor
    }

    /// Finds out where a link at `path` to `target` leads, beneath the root of `cursor`.
    static func end(
        ofLinkAt path: EntryPath,
        to target: [UInt8],
        beneath cursor: DirectoryCursor<any RestoredDirectory>
    ) throws(SystemError) -> End {
        _ = try cursor.directory(at: path.components.dropLast())
        var walk = LinkWalk(at: cursor)
        return try walk.follow(target)
    }

    private mutating func follow(_ target: [UInt8]) throws(SystemError) -> End {
        guard add(target) else { return .outside }
        while stepsUp > 0, let component = rest.popLast() {
            if component.isStepUp {
                guard cursor.depth > 0 else { return .outside }
                cursor.truncate(to: cursor.depth - 1)
                stepsUp -= 1
                stepCount += 1
            } else {
                let end = try enter([UInt8](component))
                guard end == .inside else { return end }
            }
        }
        return .inside
    }

    /// Puts the components of `target` before the rest; returns `false` if it is absolute.
    private mutating func add(_ target: [UInt8]) -> Bool {
        let slash = UInt8(ascii: "/")
        if target.first == slash { return false }
        for component in target.split(separator: slash).reversed() {
            if component.elementsEqual(".".utf8) { continue }
            rest.append(component)
            if component.isStepUp { stepsUp += 1 }
        }
        return true
    }

    /// Follows `name` in the current directory.
    private mutating func enter(_ name: [UInt8]) throws(SystemError) -> End {
        guard name.count <= TarFormat.componentLimit, stepCount <= Self.stepLimit else {
            return .undecided
        }
        let directory = try cursor.deepest()
        do throws(SystemError) {
            switch try directory.status(of: name).kind {
            case .directory:
                directoryCount += 1
                guard directoryCount <= Self.directoryLimit else { return .undecided }
                try cursor.descend(to: name)
                return .inside
            case .symbolicLink:
                linkCount += 1
                guard linkCount <= Self.linkLimit else { return .undecided }
                return add(try directory.symbolicLinkTarget(name)) ? .inside : .outside
            default: return .undecided
            }
        } catch {
            guard error.isMissing else { throw error }
            return .undecided
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isStepUp: Bool { elementsEqual("..".utf8) }
}
