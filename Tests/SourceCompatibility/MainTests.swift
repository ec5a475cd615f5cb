import AppMigrationKit
import ExtensionFoundation
import Foundation
import Testing

/// An extension of another kind, with a configuration that nothing here runs.
struct ForeignExtension: AppExtension {
    struct Configuration: AppExtensionConfiguration {
        func accept(connection: NSXPCConnection) -> Bool { true }
    }

    var configuration: Configuration { Configuration() }
}

@Suite struct MainTests {
    @Test @MainActor func `refuses to run an extension of no known kind`() throws {
        let error = #expect(throws: (any Error).self) { try ForeignExtension.main() }
        #expect(error.map { "\($0)" }?.hasPrefix("ForeignExtension can't be run") == true)
    }

    @Test(arguments: ["MinimalExtension", "MemberVisibilityExtension"])
    func `says what runs an extension that is started by hand`(_ name: String) throws {
        let path = Bundle.main.bundleURL.appending(path: name)
        let run = try Command(path, []).run(settingEnvironment: ["MIGRATION_SESSION": nil])
        #expect(run.exitCode == EX_USAGE)
        #expect(
            run.output == """
                \(name) is an app's migration extension: a host runs it, such as \
                'migrate export --extension \(path.path)'\n
                """
        )
    }
}
