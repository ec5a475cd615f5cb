internal import Dispatch
internal import Foundation
internal import Glibc
internal import MigrationContract
internal import MigrationSystem

/// The part of an extension's process that speaks with its host.
package enum ExtensionService {
    /// The environment variable by which a host says that it started the process, with the
    /// descriptor of their socket.
    package static let sessionVariable = "MIGRATION_SESSION"

    /// Serves the host until it is done; returns only by throwing.
    @MainActor
    static func run(_ hosted: some AppMigrationExtension) throws {
        guard let number = descriptorNumber else { exitForLackOfHost(hosted) }
        StandardOutput.stopBuffering()
        let socket = OpenFile(FileDescriptor(adopting: number))
        let session = ExtensionServiceSession(ExtensionAdapter(hosted), socket)
        session.start()
        // The main actor and timers of the extension are served meanwhile.
        dispatchMain()
    }

    private static var descriptorNumber: CInt? {
        unsafe getenv(sessionVariable).flatMap { unsafe CInt(String(cString: $0)) }
    }

    private static func exitForLackOfHost(_ hosted: some AppMigrationExtension) -> Never {
        let path = CommandLine.arguments.first ?? "\(type(of: hosted))"
        let text = """
            \(type(of: hosted)) is an app's migration extension: a host runs it, such as \
            'migrate export --extension \(path)'

            """
        FileHandle.standardError.write(Data(text.utf8))
        exit(EX_USAGE)
    }
}
