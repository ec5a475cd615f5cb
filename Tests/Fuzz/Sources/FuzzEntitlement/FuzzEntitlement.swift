internal import FuzzSupport

private let ground = EntitlementGround()

/// Reads property lists that name the owner of a container.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try ground.read($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(EntitlementGround.milestones)
    return FuzzTarget.writeSeeds(EntitlementSeeds.inputs())
}
