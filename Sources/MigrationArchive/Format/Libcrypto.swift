internal import CLibcrypto

/// The library whose hashes and ciphers are used, set up to stay until the process ends.
package enum Libcrypto {
    private static let isSetUp = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Sets the library up, which must happen before the process calls it for the first time.
    ///
    /// By default libcrypto frees its state in `exit`. A thread that has used it also calls it when
    /// the thread ends. If both happen at the same time, the process crashes after its work is
    /// done.
    package static func setUp() {
        precondition(isSetUp, "libcrypto can't be set up")
    }
}
