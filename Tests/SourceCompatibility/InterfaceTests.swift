import Foundation
import Testing

/// The declarations of Apple's types, compared whole with a list of them.
///
/// A line of the list that begins with `+ ` is an addition to Apple's interface.
@Suite(
    .enabled(if: Toolchain.graphExtractor != nil, "there is no swift-symbolgraph-extract"),
    .enabled(if: Toolchain.hasModules, "the modules beside the tests can't be used by this user")
)
struct InterfaceTests {
    @Test(arguments: ["ExtensionFoundation", "MigrationHosting"])
    func `declares what Apple's module declares, and no more than is listed`(
        _ module: String
    ) throws {
        let file = Toolchain.fixtures.appending(path: "Interfaces/\(module).txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let listed = Set(lines.map { String($0.hasPrefix("+ ") ? $0.dropFirst(2) : $0) })
        let owners = Set(listed.map(Self.owner))
        let declared = try SymbolGraph.extract(from: module).declarations
            .filter { owners.contains(Self.owner($0)) }
        #expect(listed.subtracting(declared).sorted() == [], "listed and not declared")
        #expect(declared.subtracting(listed).sorted() == [], "declared and not listed")
        #expect(lines.count == listed.count, "a line is listed twice")
    }

    private static func owner(_ declaration: String) -> Substring {
        declaration.prefix { $0 != ":" }
    }
}
