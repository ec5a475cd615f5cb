internal import FuzzSupport

private let ground = SessionGround()

/// Reads the messages of a host or of an extension's process.
///
/// Bits 0 and 1 of the first byte: messages of an extension's process, with or without the items
/// that they append; messages of a host. Bit 2: the rest is the bytes themselves instead of a
/// script. Bit 3: they come many times over. The second byte is the size of the pieces in which
/// they come.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        guard bytes.count > 2 else { return }
        let rest = [UInt8](bytes.dropFirst(2))
        var messages = bytes[0] & 4 == 0 ? ground.messages(of: rest) : rest
        if bytes[0] & 8 != 0 {
            messages = Array(repeatElement(messages, count: 40).joined())
        }
        // By then the longest pieces are longer than a session reads at once.
        let size = bytes[1] < 128 ? Int(bytes[1]) : Int(bytes[1]) * 97
        switch bytes[0] & 3 {
        case 0: try ground.takeAsHost(messages, inPiecesOf: size)
        case 1: try ground.archive(messages, inPiecesOf: size)
        default: try ground.takeAsExtension(messages, inPiecesOf: size)
        }
    }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    Milestones.expect(SessionPromises.milestones)
    return FuzzTarget.writeSeeds(SessionSeeds.inputs())
}
