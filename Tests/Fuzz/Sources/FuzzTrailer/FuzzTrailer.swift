internal import FuzzSupport

/// Reads the ends of archives.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try TrailerPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(TrailerPromises.milestones)
    guard let seeds = try? TrailerPromises.seeds() else { fatalError("there are no seeds") }
    return FuzzTarget.writeSeeds(seeds)
}
