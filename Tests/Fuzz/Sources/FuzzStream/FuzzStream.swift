internal import FuzzSupport

/// Converts streams of Android's into archives, and those back into streams.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try StreamPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(StreamPromises.milestones)
    return FuzzTarget.writeSeeds(StreamPromises.seeds)
}
