internal import FuzzSupport

/// Reads rules and manifests of Android, and runs the selection over an app's storage.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try RulesPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(RulesPromises.milestones)
    return FuzzTarget.writeSeeds(RulesPromises.seeds)
}
