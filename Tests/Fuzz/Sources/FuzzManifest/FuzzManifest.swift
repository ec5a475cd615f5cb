internal import FuzzSupport

/// Reads the rows of `Manifest.db`, plain and encrypted.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try ManifestDatabasePromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(ManifestDatabasePromises.milestones)
    return FuzzTarget.writeSeeds(ManifestDatabasePromises.seeds)
}
