internal import FuzzSupport
internal import MigrationCore

/// Reads an archive that comes out of a pipe, in one of the ways in which archives are read.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        let form = try ArchiveInputForm(bytes)
        try InputDescriptor.withPipe(holding: form.archive) {
            try read(.descriptor($0), choice: form.choice)
        }
    }
}

private func read(_ source: ArchiveSource, choice: Int) throws {
    _ = try Blocking.run {
        switch choice {
        case 0: _ = try await source.forEachEntry { _ = $0.path.description }
        case 1: _ = try await source.verify(threadCount: 1)
        case 2: _ = try await source.inspect()
        default: _ = try await source.verify(threadCount: 2)
        }
    }
}

/// Writes the seeds where they are asked for.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    do {
        return FuzzTarget.writeSeeds(try Seeds.archives())
    } catch {
        fatalError("no seeds: \(error)")
    }
}
