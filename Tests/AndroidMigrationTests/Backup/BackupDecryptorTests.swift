import Glibc
import Testing

@testable import AndroidMigration

struct BackupDecryptorTests {
    private static var canDecrypt: Bool {
        let decryptor = BackupDecryptor(
            key: [UInt8](repeating: 1, count: 32),
            initializationVector: [UInt8](repeating: 2, count: 16)
        )
        return decryptor.update([UInt8](repeating: 3, count: 32)[...]) != nil
    }

    /// Threads that have decrypted may end after `exit` has begun; libcrypto must still be there
    /// for them.
    @Test func `decrypts as long as the process is there`() async {
        await #expect(processExitsWith: .success) {
            // The first handler is the last to be called.
            atexit { _exit(Self.canDecrypt ? 0 : 1) }
            exit(Self.canDecrypt ? EXIT_FAILURE : 2)
        }
    }
}
