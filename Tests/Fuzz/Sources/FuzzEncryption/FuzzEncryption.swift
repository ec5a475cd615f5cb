internal import FuzzSupport

/// Opens encrypted files: armor, headers, and payloads whose chunks the input arranges.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try EncryptionPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(EncryptionPromises.milestones)
    return FuzzTarget.writeSeeds(EncryptionPromises.seeds)
}
