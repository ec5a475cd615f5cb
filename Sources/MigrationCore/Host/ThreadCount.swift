internal import Foundation

/// How many threads an operation takes.
enum ThreadCount {
    /// More threads than this need more memory than is promised.
    private static let boundedByMemory = 4

    /// The number that was asked for, else one for each core within the memory bound.
    static func resolve(_ requested: Int?) -> Int {
        max(1, requested ?? min(boundedByMemory, ProcessInfo.processInfo.activeProcessorCount))
    }
}
