import Foundation

/// The public declarations of a module, as the compiler prints them.
struct SymbolGraph: Decodable {
    private struct Symbol: Decodable {
        struct Name: Decodable { let precise: String }
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable { let spelling: String }

        let identifier: Name
        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]

        var isType: Bool {
            ["swift.actor", "swift.class", "swift.enum", "swift.protocol", "swift.struct"]
                .contains(kind.identifier)
        }

        /// Whether it has a name by which a client may mean another type.
        var isNamed: Bool { isType || kind.identifier == "swift.typealias" }

        /// The name of the type, or of the type that declares the member.
        var owner: String {
            let isOwn = isType || pathComponents.count == 1
            return pathComponents.dropLast(isOwn ? 0 : 1).joined(separator: ".")
        }
    }

    private struct Relationship: Decodable {
        let kind: String
        let source: String
        let targetFallback: String?
    }

    private let symbols: [Symbol]
    private let relationships: [Relationship]

    /// The declarations of the module, each as `Owner: declaration` or `Owner: conforms to
    /// Protocol`.
    var declarations: Set<String> {
        let lines = symbols.map { symbol in
            "\(symbol.owner): \(symbol.declarationFragments.map(\.spelling).joined())"
        }
        return Set(lines + conformances)
    }

    /// The names that a client of the module sees at the top level.
    var topLevelNames: Set<String> {
        Set(symbols.filter { $0.pathComponents.count == 1 && $0.isNamed }.map(\.pathComponents[0]))
    }

    /// The conformances of types; those of protocols are in their declarations.
    private var conformances: [String] {
        let types = symbols.filter { $0.isType && $0.kind.identifier != "swift.protocol" }
        let names = Dictionary(types.map { ($0.identifier.precise, $0.owner) }) { $1 }
        // Every type has these, or gets them with another conformance that is listed.
        let implied: Set = ["Copyable", "Escapable", "SendableMetatype"]
        return relationships.filter { $0.kind == "conformsTo" }
            .compactMap { relationship in
                guard let name = names[relationship.source],
                    let target = relationship.targetFallback?.split(separator: ".").last,
                    !implied.contains(String(target))
                else { return nil }
                return "\(name): conforms to \(target)"
            }
    }
}

extension SymbolGraph {
    /// The modules whose interface belongs to that of the module which re-exports them.
    private static let reexported =
        "MigrationContainers,MigrationContract,MigrationConversation,MigrationCore"

    /// Has the compiler write out what `module` declares.
    static func extract(from module: String) throws -> SymbolGraph {
        guard let extractor = Toolchain.graphExtractor else { throw CocoaError(.fileNoSuchFile) }
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "migration-graph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let arguments =
            ["-module-name", module, "-target", target, "-minimum-access-level", "public"]
            + ["-skip-synthesized-members", "-output-dir", directory.path]
            + ["-experimental-allowed-reexported-modules=\(reexported)"]
            + (try Toolchain.moduleArguments)
        let run = try Command(extractor, arguments).run()
        guard run.exitCode == 0 else {
            let information = [NSLocalizedDescriptionKey: run.output]
            throw CocoaError(.coderReadCorrupt, userInfo: information)
        }
        let file = directory.appending(path: "\(module).symbols.json")
        return try JSONDecoder().decode(SymbolGraph.self, from: try Data(contentsOf: file))
    }

    private static var target: String {
        #if arch(arm64)
        "aarch64-unknown-linux-gnu"
        #else
        "x86_64-unknown-linux-gnu"
        #endif
    }
}
