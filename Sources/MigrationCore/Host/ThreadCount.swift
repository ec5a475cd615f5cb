internal import Foundation

/// How many threads an operation takes.
package enum ThreadCount {
    /// The number that was asked for, else one for each core within the memory that is promised.
    ///
    /// A thread holds two chunks, and at high levels as much again in tables.
    package static func resolve(_ requested: Int?, compressionLevel: Int = 1) -> Int {
        let bound = compressionLevel > 5 ? 2 : 3
        return max(1, requested ?? min(bound, ProcessInfo.processInfo.activeProcessorCount))
    }
}
