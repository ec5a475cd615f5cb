import Foundation

/// The compiler, pointed at the modules that were built with the tests.
enum Toolchain {
    /// The root of the repository.
    static let repository = URL(filePath: #filePath)
        .appending(path: "../../../..")
        .standardizedFileURL

    /// What tests read.
    static let fixtures = repository.appending(path: "Tests/Fixtures")

    static let compiler = program("swiftc")
    static let graphExtractor = program("swift-symbolgraph-extract")

    private static let products = Bundle.main.bundleURL.resolvingSymlinksInPath()

    /// Where compiled C modules are kept: apart from the build's, which fails if its own are touched.
    private static let moduleCache = products.appending(path: "ClientModuleCache")

    /// Whether this user can read the modules and write a cache of C modules.
    static let hasModules: Bool = {
        let cache = access(moduleCache.path, F_OK) == 0 ? moduleCache : products
        let modules = products.appending(path: "Modules/AppMigrationKit.swiftmodule")
        return access(modules.path, R_OK) == 0 && access(cache.path, W_OK) == 0
    }()

    /// The arguments that let the compiler find the modules and the C modules beneath them.
    static var moduleArguments: [String] {
        get throws {
            let modules = products.appending(path: "Modules").path
            return ["-I", modules, "-module-cache-path", moduleCache.path]
                + (try moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] })
        }
    }

    /// Compiles a source, including the checks of isolation, which follow those of types.
    static func compile(_ source: URL, _ options: [String] = []) throws -> Command.Run {
        try run(["-emit-sil", "-o", "/dev/null"] + options, source)
    }

    /// Compiles a source to a module of the name of its file, in `directory`.
    static func makeModule(of source: URL, in directory: URL) throws -> Command.Run {
        let name = source.deletingPathExtension().lastPathComponent
        let module = directory.appending(path: "\(name).swiftmodule")
        return try run(["-emit-module", "-module-name", name, "-o", module.path], source)
    }

    private static func run(_ options: [String], _ source: URL) throws -> Command.Run {
        let arguments =
            options + ["-parse-as-library", "-swift-version", "6"] + (try moduleArguments)
            + [source.path]
        guard let compiler else { throw CocoaError(.fileNoSuchFile) }
        return try Command(compiler, arguments).run()
    }

    private static func program(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// The module maps of the package's own C modules, and those of the system libraries.
    private static func moduleMaps() throws -> [URL] {
        try [products, repository.appending(path: "Sources")]
            .flatMap {
                try FileManager.default.contentsOfDirectory(
                    at: $0,
                    includingPropertiesForKeys: nil
                )
            }
            .map { $0.appending(path: "module.modulemap") }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
    }
}
