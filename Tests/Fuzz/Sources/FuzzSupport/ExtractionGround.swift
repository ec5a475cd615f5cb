public import Foundation
@testable internal import MigrationCore
@testable internal import MigrationSystem

/// A directory in memory with a place to extract to, beside files that must not change.
public struct ExtractionGround: Sendable {
    private static let secret = Data("kept".utf8)

    private let path: String

    /// Where entries are restored; it doesn't exist before.
    public var place: URL { URL(filePath: path).appending(path: "place") }

    /// Makes the ground of this process.
    public init() {
        path = FuzzTarget.groundPath + "/extraction"
        do {
            let canary = URL(filePath: path).appending(path: "canary")
            try FileManager.default.createDirectory(at: canary, withIntermediateDirectories: true)
            try Self.secret.write(to: canary.appending(path: "kept"))
        } catch {
            fatalError("no ground to extract on: \(error)")
        }
        // Relative paths that lead out end where the harness notices it.
        guard chdir(path) == 0 else { fatalError("no ground to stand on") }
    }

    /// Checks that nothing but the place changed, and the place only if that `isAllowed`.
    public func check(placeIsAllowed isAllowed: Bool) {
        let outside = names(in: path).filter { $0 != "canary" && !(isAllowed && $0 == "place") }
        FuzzTarget.require(outside.isEmpty, "nothing appears outside: \(outside)")
        FuzzTarget.require(names(in: path + "/canary") == ["kept"], "nothing appears beside")
        var status = stat()
        FuzzTarget.require(lstat(path + "/canary/kept", &status) == 0, "what is there stays")
        FuzzTarget.require(
            status.st_nlink == 1 && status.st_mode == S_IFREG | 0o644,
            "what is there stays as it is"
        )
        let contents = FileContents.read(path + "/canary/kept")
        FuzzTarget.require(contents == Self.secret, "what is there keeps its content")
    }

    /// Removes the place, which must be possible whatever it contains.
    public func clear() {
        do {
            let ground = try FileDescriptor.open(BytePath(path), .directory)
            do {
                try ground.removeTree([UInt8](utf8: "place"))
            } catch {
                guard error.isMissing else { throw error }
            }
        } catch {
            fatalError("the place can't be removed: \(error)")
        }
    }

    private func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
