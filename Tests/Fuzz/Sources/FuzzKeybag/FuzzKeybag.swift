internal import FuzzSupport

/// Reads keybags of iPhone backups, and opens them with a password.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { try KeybagPromises.check($0) }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(KeybagPromises.milestones)
    return FuzzTarget.writeSeeds(KeybagPromises.seeds)
}
