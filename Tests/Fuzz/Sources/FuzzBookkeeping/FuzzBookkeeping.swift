internal import Foundation
internal import FuzzSupport

private let ground = BookkeepingGround()

/// Asks for the import status of a container with arbitrary bytes as status file and import
/// journal.
///
/// The first byte says which of the two there are: bit 0 the status, bit 1 the journal; bit 2, that
/// something is staged. If there are both, a zero byte is between them.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        let mode = bytes.first ?? 0
        let rest = bytes.dropFirst()
        let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let status = Data(mode & 3 == 3 ? parts[0] : rest)
        let journal = Data(mode & 3 == 3 ? parts.last ?? [] : rest)
        try ground.check(
            status: mode & 1 != 0 ? status : nil,
            journal: mode & 2 != 0 ? journal : nil,
            isStaged: mode & 4 != 0
        )
    }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(BookkeepingGround.milestones)
    let success = """
        {"bundleIdentifier":"com.example.notes","date":"2026-01-02T03:04:05Z",\
        "fingerprint":"00ff","outcome":"success","platform":"iOS","resourcesVersion":"1","version":1}
        """
    let failure = """
        {"date":"2026-01-02T03:04:05Z","error":{"code":7,"description":"no","domain":"d"},\
        "outcome":"failure","version":1}
        """
    let interrupted = #"{"date":"2026-01-02T03:04:05Z","outcome":"interrupted","version":1}"#
    let statuses = [success, failure, interrupted, #"{"version":2}"#, "", "null"]
    let phases = ["staging", "clearing", "filling", "restoring"]
    let journals = phases.map { #"{"phase":"\#($0)","record":\#(success),"version":1}"# }
    var seeds = statuses.map { [1] + [UInt8]($0.utf8) }
    for journal in journals {
        seeds.append([2] + [UInt8](journal.utf8))
        seeds.append([6] + [UInt8](journal.utf8))
        seeds.append([7] + [UInt8](failure.utf8) + [0] + [UInt8](journal.utf8))
    }
    return FuzzTarget.writeSeeds(seeds)
}
