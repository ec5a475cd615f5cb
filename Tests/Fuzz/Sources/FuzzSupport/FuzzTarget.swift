internal import Foundation

/// The work of a fuzz target on one input.
public enum FuzzTarget {
    /// The directory that `FUZZ_GROUND` names, which a target may fill.
    static let groundPath: String = {
        guard let path = ProcessInfo.processInfo.environment["FUZZ_GROUND"] else {
            fatalError("FUZZ_GROUND must name a directory")
        }
        return path
    }()

    /// Calls `body` with libFuzzer's bytes; returns the result that libFuzzer expects.
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

    /// Ends the process unless `isTrue`, which libFuzzer takes for a finding.
    public static func require(
        _ isTrue: Bool,
        _ message: @autoclosure () -> String,
        file: StaticString = #file,
        line: UInt = #line
    ) {
        if !isTrue { fatalError("broken promise: \(message())", file: file, line: line) }
    }
}
