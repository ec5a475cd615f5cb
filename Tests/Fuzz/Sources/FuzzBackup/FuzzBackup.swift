internal import FuzzSupport

/// Opens `.ab` files: headers, locks, and content that is compressed and encrypted.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try BackupPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(BackupPromises.milestones)
    return FuzzTarget.writeSeeds(BackupPromises.seeds)
}
