@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationCore
@testable internal import MigrationSystem

/// Promises about the messages of a session, whatever their bytes.
public enum SessionPromises {
    static let itemArchived = "item appended and archived"
    private static let extensionRead = "message of an extension read"
    private static let hostRead = "message of a host read"

    /// The milestones that the seeds must reach.
    public static let milestones = [itemArchived, extensionRead, hostRead]

    /// Checks that a message that was read can be written and read again.
    static func check(_ message: ExtensionMessage) {
        checkRoundTrip(try message.encoded(), ExtensionMessage.init(kind:payload:))
        Milestones.reach(extensionRead)
    }

    /// Checks that a message that was read can be written and read again.
    static func check(_ message: HostMessage) {
        checkRoundTrip(try message.encoded(), HostMessage.init(kind:payload:))
        Milestones.reach(hostRead)
    }

    private static func checkRoundTrip<Message>(
        _ encoded: @autoclosure () throws -> [UInt8],
        _ decode: (UInt8, ArraySlice<UInt8>) throws -> Message
    ) {
        do {
            let bytes = try encoded()
            FuzzTarget.require(
                bytes.count == 4 + Int(bytes.littleEndian(at: 0, as: UInt32.self)),
                "a message is as long as it says"
            )
            _ = try decode(bytes[4], bytes.dropFirst(5))
        } catch {
            fatalError("broken promise: what was read can be written and read again: \(error)")
        }
    }
}
