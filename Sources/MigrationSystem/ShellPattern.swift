internal import Glibc

extension [UInt8] {
    /// Whether the shell's pattern in these bytes matches `name` (POSIX.1-2017, fnmatch).
    package func isMatchedByShell(_ name: ArraySlice<UInt8>) -> Bool {
        let pattern = map { CChar(bitPattern: $0) } + [0]
        let text = name.map { CChar(bitPattern: $0) } + [0]
        return unsafe pattern.withUnsafeBufferPointer { pattern in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe fnmatch(
                    pattern.baseAddress.unsafelyUnwrapped,
                    text.baseAddress.unsafelyUnwrapped,
                    0
                ) == 0
            }
        }
    }
}
