internal import Foundation
internal import FuzzSupport
internal import MigrationCore

private let ground = ExtractionGround()

/// Extracts an archive into a fresh directory, beside which nothing may change.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(data, count) { bytes in
        let form = try ArchiveInputForm(bytes)
        let source = ArchiveSource.descriptor(InputDescriptor.file(holding: form.archive))
        var options = ImportOptions()
        options.threadCount = 1
        options.externalLinks = [.refuse, .keep, .skip, .refuse][form.choice]
        let paths = form.choice == 3 ? [EntryPath("Documents"), EntryPath("d")] : []
        defer { ground.clear() }
        do {
            _ = try Blocking.run { [options] in
                try await source.extract(to: ground.place, only: paths, options: options)
            }
        } catch {
            return ground.check(placeIsAllowed: false)
        }
        ground.check(placeIsAllowed: true)
        Milestones.reach(form.kind.rawValue)
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
