internal import FuzzSupport
internal import MigrationCore

/// Reads an archive that comes out of a pipe, in one of the ways in which archives are read.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        let form = try ArchiveInputForm(bytes)
        try InputDescriptor.withPipe(holding: form.archive) {
            try ArchiveReading.read(.descriptor($0), form)
        }
    }
}

/// Writes the seeds if they are requested.
@c(LLVMFuzzerInitialize)
public func initialize(_ count: UnsafeMutableRawPointer?, _ words: UnsafeMutableRawPointer?) -> CInt
{
    do {
        Milestones.expect(ArchiveInputForm.Kind.allCases.map(\.rawValue))
        return FuzzTarget.writeSeeds(try Seeds.archives())
    } catch {
        fatalError("no seeds: \(error)")
    }
}
