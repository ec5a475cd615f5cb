/// Photos: incompressible files, which are most of the bytes.
struct PhotoLibrary {
    private static let start: [UInt8] = [
        0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00,
        0x48, 0x00, 0x48, 0x00, 0x00,
    ]
    private static let end: [UInt8] = [0xff, 0xd9]

    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed, part: "photos")
    }

    consuming func write(to container: inout ContainerWriter) throws {
        for number in 1...40 {
            let length = generator.number(in: 600_000...1_800_000)
            let name: EntryPath = "IMG_\(4000 + number * 7).jpg"
            let contents = Self.start + generator.bytes(count: length) + Self.end
            try container.addFile("Documents/Photos/\(2021 + number / 10)" / name, contents)
        }
        try container.addFile("Documents/Photos/album.order", [])
        try container.addDirectory("Documents/Photos/Shared albums")
    }
}
