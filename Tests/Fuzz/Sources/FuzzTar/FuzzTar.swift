internal import FuzzSupport

/// Reads tar streams and single headers from memory and checks the promises about them.
///
/// The first byte says what the rest is: a header with records, a stream of entries that is repaired
/// first, one that is not, or a script.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        let rest = [UInt8](bytes.dropFirst())
        switch (bytes.first ?? 0) & 3 {
        case 0: TarPromises.checkHeader(rest)
        case 1: TarPromises.checkStream([UInt8](TarRepair.repaired(rest).dropLast(1024)))
        case 2: TarPromises.checkStream(rest)
        default: TarPromises.checkStream(EntryScript(rest).stream)
        }
    }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(TarPromises.milestones)
    let seeds = Seeds.streams()
    return FuzzTarget.writeSeeds(
        seeds.map { [1] + $0 } + seeds.map { [2] + $0 } + Seeds.headers().map { [0] + $0 }
            + Seeds.texts.map { [3] + $0 }
    )
}
