import Glibc
import Testing

@testable import MigrationArchive

struct SHA256DigestTests {
    private static let ofNothing: [UInt8] = [
        0xE3, 0xB0, 0xC4, 0x42, 0x98, 0xFC, 0x1C, 0x14, 0x9A, 0xFB, 0xF4, 0xC8, 0x99, 0x6F, 0xB9,
        0x24, 0x27, 0xAE, 0x41, 0xE4, 0x64, 0x9B, 0x93, 0x4C, 0xA4, 0x95, 0x99, 0x1B, 0x78, 0x52,
        0xB8, 0x55,
    ]

    @Test func `hashes as the standard says`() {
        #expect(SHA256Digest.hash(of: []) == Self.ofNothing)
    }

    /// Threads that have hashed may end after `exit` has begun; libcrypto must still be there for
    /// them.
    @Test func `hashes as long as the process is there`() async {
        await #expect(processExitsWith: .success) {
            // The first handler is the last to be called.
            atexit { _exit(SHA256Digest.hash(of: []) == Self.ofNothing ? 0 : 1) }
            _ = SHA256Digest.hash(of: [])
            exit(EXIT_FAILURE)
        }
    }

    /// A command with a key uses libcrypto before it hashes.
    @Test func `hashes as long as the process is there, after a key`() async {
        await #expect(processExitsWith: .success) {
            atexit { _exit(SHA256Digest.hash(of: []) == Self.ofNothing ? 0 : 1) }
            let identity = X25519.Identity(EncryptedFileTests.identity.utf8.map(\.self)[...])
            exit(identity == nil ? 2 : EXIT_FAILURE)
        }
    }

    @Test func `hashes as long as the process is there, after random bytes`() async {
        await #expect(processExitsWith: .success) {
            atexit { _exit(SHA256Digest.hash(of: []) == Self.ofNothing ? 0 : 1) }
            _ = KeyDerivation.randomBytes(16)
            exit(EXIT_FAILURE)
        }
    }
}
