internal import FuzzSupport

/// Reads the objects of rows in `Manifest.db`.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try FileRecordPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(FileRecordPromises.milestones)
    return FuzzTarget.writeSeeds(FileRecordPromises.seeds)
}
