internal import FuzzSupport

/// Reads the records of `Manifest.mbdb`.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try ManifestListPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(ManifestListPromises.milestones)
    return FuzzTarget.writeSeeds(ManifestListPromises.seeds)
}
