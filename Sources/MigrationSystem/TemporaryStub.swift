package struct Sandbox: Sendable {
    package enum Access: Sendable { case read, readAndExecute, readAndWrite }
    package struct Rule: Sendable {
        package let path: ByteString; package let access: Access
        package init(path: ByteString, access: Access) { self.path = path; self.access = access }
    }
    package init(rules: [Rule]) {}
    package static var support: Support { Support(landlockVersion: 0, filtersSystemCalls: false) }
    package struct Support: Sendable, Equatable {
        package let landlockVersion: Int
        package let filtersSystemCalls: Bool
    }
    package static func rules(forRunning executable: ByteString) throws(SystemError) -> [Rule] {
        []
    }
}
package final class ChildProcess: Sendable {
    package struct Configuration: Sendable {
        package var executable: ByteString
        package var arguments: [ByteString]
        package var environment: [ByteString]
        package var workingDirectory: ByteString
        package var sandbox: Sandbox?
        package init(
            executable: ByteString,
            arguments: [ByteString],
            environment: [ByteString],
            workingDirectory: ByteString,
            sandbox: Sandbox?
        ) {
            self.executable = executable; self.arguments = arguments; self.environment = environment
            self.workingDirectory = workingDirectory; self.sandbox = sandbox
        }
    }
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int; package init(rawValue: Int) { self.rawValue = rawValue }
        package static let message = Events(rawValue: 1);
        package static let output = Events(rawValue: 2);
        package static let exit = Events(rawValue: 4)
    }
    package enum Ending: Sendable, Equatable { case exited(Int32), signaled(Int32) }
    package static func start(_ configuration: Configuration) throws(SystemError) -> ChildProcess {
        throw SystemError("stub")
    }
    package static let connectionNumber: Int32 = 3
    package var connection: OpenFile { fatalError() }
    package var output: OpenFile { fatalError() }
    package func wait(for: Events, timeout: Duration) throws(SystemError) -> Events { [] }
    package var ending: Ending? { nil }
    package func terminate() -> Ending { .exited(0) }
}
