internal import Glibc

/// Strings as C takes a list of them: a zero byte after each, a null pointer after all.
@safe
struct CStringList: ~Copyable {
    private let strings: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    /// Copies `strings`; what follows a zero byte in one of them is lost.
    init(_ strings: [ByteString]) {
        let list = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>
            .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.count + 1)
            for (position, byte) in string.enumerated() {
                unsafe copy[position] = CChar(bitPattern: byte)
            }
            unsafe copy[string.count] = 0
            unsafe list.initializeElement(at: index, to: copy.baseAddress)
        }
        unsafe list.initializeElement(at: strings.count, to: nil)
        unsafe self.strings = list
    }

    /// Calls `body` with the list, which is valid until it returns.
    @safe
    borrowing func withPointer<Result>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        unsafe body(UnsafePointer(strings.baseAddress.unsafelyUnwrapped))
    }

    deinit {
        unsafe strings.forEach { unsafe $0?.deallocate() }
        unsafe strings.deallocate()
    }
}
