internal import Foundation

/// What a fuzz target does with one input.
public enum FuzzTarget {
    /// The directory that `FUZZ_GROUND` names, in which a target may do what it likes.
    static let groundPath: String = {
        guard let path = ProcessInfo.processInfo.environment["FUZZ_GROUND"] else {
            fatalError("FUZZ_GROUND must name a directory")
        }
        return path
    }()

    /// Calls `body` with the bytes that libFuzzer made; returns what libFuzzer wants to hear.
    public static func run(
        _ data: UnsafePointer<UInt8>?,
        _ count: Int,
        _ body: ([UInt8]) throws -> Void
    ) -> CInt {
        let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
        do {
            try body(bytes)
        } catch {
            // Bad input ends in an error; anything worse ends the process.
        }
        return 0
    }

    /// Writes `seeds` into the directory that `FUZZ_SEEDS` names, if it names one.
    public static func writeSeeds(_ seeds: [[UInt8]]) -> CInt {
        guard let directory = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
        for (index, seed) in seeds.enumerated() {
            let file = URL(filePath: directory).appending(path: "seed-\(index)")
            do {
                try Data(seed).write(to: file)
            } catch {
                fatalError("the seeds can't be written: \(error)")
            }
        }
        return 0
    }

    /// Ends the process, which libFuzzer takes for a finding, unless `isTrue`.
    public static func require(
        _ isTrue: Bool,
        _ message: @autoclosure () -> String,
        file: StaticString = #file,
        line: UInt = #line
    ) {
        if !isTrue { fatalError("broken promise: \(message())", file: file, line: line) }
    }
}
