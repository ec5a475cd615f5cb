/// Entries that are more than a name and contents: links, attributes, modes, holes, old times.
struct UnusualEntries {
    private let folder: EntryPath = "Documents/Attachments"
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed, part: "entries")
    }

    consuming func write(to container: inout ContainerWriter) throws {
        try addEmptyEntries(to: &container)
        try addLinks(to: &container)
        try addAttributes(to: &container)
        try addModes(to: &container)
        try container.addSparseFile(
            folder / "recording.caf",
            length: 64 << 20,
            extents: [0, 20 << 20, (64 << 20) - 4096].map { ($0, generator.bytes(count: 4096)) }
        )
        try container.addFile(
            folder / "moon landing.txt",
            Array("The Eagle has landed.\n".utf8),
            modified: Timestamp(seconds: -14_182_940, nanoseconds: 123_456_789)
        )
    }

    private func addEmptyEntries(to container: inout ContainerWriter) throws {
        try container.addFile(folder / "empty.txt", [])
        try container.addDirectory(folder / "Empty")
        try container.addDirectory(folder / "Empty inside/and again/and again")
    }

    private mutating func addLinks(to container: inout ContainerWriter) throws {
        let scan = folder / "scan.pdf"
        try container.addFile(scan, Array("%PDF-1.7\n".utf8) + generator.bytes(count: 90_000))
        try container.addHardLink(folder / "Signed/contract.pdf", to: scan)
        try container.addHardLink("Library/Application Support/Notes/last-opened.pdf", to: scan)
        try container.addSymbolicLink(folder / "latest.pdf", to: "scan.pdf")
        try container.addSymbolicLink(folder / "Photos", to: "../Photos")
        try container.addSymbolicLink(folder / "deleted.pdf", to: "Signed/deleted.pdf")
    }

    private func addAttributes(to container: inout ContainerWriter) throws {
        let file = folder / "tagged.txt"
        try container.addFile(file, Array("Tagged.\n".utf8))
        try container.setAttribute("user.com.example.tag", Array("blue".utf8), of: file)
        try container.setAttribute("user.com.example.bytes", Array(0...255), of: file)
        try container.setAttribute("user.com.example.empty", [], of: file)
        try container.setAttribute("user.ετικέτα", Array("α".utf8), of: file)
        try container.setAttribute("user.com.example.tag", Array("green".utf8), of: folder)
    }

    private func addModes(to container: inout ContainerWriter) throws {
        try container.addFile(folder / "final.txt", Array("Final.\n".utf8), mode: 0o444)
        try container.addFile(folder / "private.txt", Array("Mine.\n".utf8), mode: 0o600)
        try container.addFile(folder / "tidy.sh", Array("#!/bin/sh\nls\n".utf8), mode: 0o755)
        try container.addDirectory(folder / "Locked", mode: 0o500)
        try container.addFile(folder / "Locked/final.txt", Array("Final.\n".utf8), mode: 0o400)
    }
}
