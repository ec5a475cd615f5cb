internal import CLibcrypto
internal import MigrationSystem

/// Bytes that nobody else may see: a key or a passphrase, wiped when its last holder lets go of it.
///
/// As long as there is one, the process leaves no core dump. Safe because the bytes are written in
/// `init` and wiped in `deinit` only.
@safe
final class Secret: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    let count: Int

    /// Makes a secret of `count` bytes, which `body` writes.
    init(count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        CoreDumps.prevent()
        self.count = count
        unsafe storage = .allocate(byteCount: max(count, 1), alignment: 16)
        unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
        try unsafe body(UnsafeMutableRawBufferPointer(rebasing: storage[..<count]))
    }

    /// Makes a secret of `bytes`, which are wiped.
    convenience init(wiping bytes: inout [UInt8]) {
        self.init(copying: bytes[...])
        Self.wipe(&bytes)
    }

    /// Makes a secret of a part of what its owner wipes.
    convenience init(copying bytes: ArraySlice<UInt8>) {
        unsafe self.init(count: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Lends the bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }

    deinit {
        unsafe OPENSSL_cleanse(storage.baseAddress, storage.count)
        unsafe storage.deallocate()
        CoreDumps.allow()
    }

    /// Puts zeros in the place of `bytes`.
    static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}
