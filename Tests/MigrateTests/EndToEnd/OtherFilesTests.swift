import Foundation
import TestSupport
import Testing

/// Files of other programs: reported if they can't be read; and links as tar programs write them.
@Suite(.scratchDirectory) struct OtherFilesTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let start: [UInt8]
        let way: String
        let file: String

        init(_ name: String, _ start: [UInt8], _ way: String, in file: String = "file") {
            (testDescription, self.start, self.way, self.file) = (name, start, way, file)
        }
    }

    static let kinds = [
        Kind("compressed with xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz -dc <file> |"),
        Kind("compressed with bzip2", [0x42, 0x5A, 0x68, 0x39], "bzip2 -dc <file> |"),
        Kind("compressed with lz4", [0x04, 0x22, 0x4D, 0x18], "lz4 -dc <file> |"),
        Kind("compressed with lzip", [0x4C, 0x5A, 0x49, 0x50], "lzip -dc <file> |"),
        Kind("compressed with lzma", [0x5D, 0, 0, 0x80], "--format=lzma <file> |"),
        Kind("compressed with compress", [0x1F, 0x9D, 0x90], "gzip -dc <file> |"),
        Kind("a zip file", [0x50, 0x4B, 3, 4], "bsdtar -cf - @<file> |"),
        Kind("a 7z file", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "bsdtar"),
        Kind("a cpio file", [UInt8]("070701".utf8), "bsdtar"),
        Kind("a xar file", [UInt8]("xar!".utf8), "bsdtar"),
        Kind("a list of mtree", [UInt8]("#mtree\n".utf8), "holds none"),
        Kind("compressed with brotli", [0x1B], "brotli -dc <file> |", in: "a.tar.br"),
        Kind("compressed with brotli", [0x8B, 1], "brotli -dc <file> |", in: "a.tbr"),
        Kind("zstd", [0x28, 0xB5, 0x2F, 0xFD, 0, 0xA8, 1, 0, 0], "zstd -dc --long=31 <file> |"),
    ]

    @Test(arguments: kinds) func `each is named with the pipe that helps`(_ kind: Kind) throws {
        try place.write(kind.start + [UInt8](repeating: 1, count: 600), to: kind.file)
        for command in ["list \(kind.file)", "import \(kind.file) --container target"] {
            let result = try place.shell("\"$migrate\" \(command)")
            #expect(result.exitCode == 65, "\(result.errors)")
            #expect(result.errors.contains(kind.testDescription), "\(result.errors)")
            #expect(result.errors.contains(kind.way), "\(result.errors)")
            #expect(!result.errors.contains("--keep-going"), "\(result.errors)")
        }
    }

    @Test func `a file that tar was told twice is taken once`() throws {
        let result = try place.shell(
            """
            mkdir -p tree && cd tree && echo a >a && ln -s a l
            printf '%s\\n' a ./a l l >list && tar -cf ../twice.tar -T list && cd ..
            tar -tvf twice.tar | grep -c 'link to' >&2
            "$migrate" import twice.tar --container target && "$migrate" extract twice.tar a --to -
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("a\n"))
        #expect(place.exists("target/l"))
        var tar = RawTar()
        tar.add("h", type: "1", link: "h")
        try place.write(tar.ended(), to: "alone.tar")
        let alone = try place.shell("\"$migrate\" import alone.tar --container other")
        #expect(alone.exitCode == 65, "\(alone.errors)")
    }

    @Test func `a hard link that has content is refused by that name`() throws {
        for hasRecords in [false, true] {
            var tar = RawTar()
            tar.add("a", content: [1, 2])
            if hasRecords { tar.addRecords([("mtime", "1.5")]) }
            tar.add("b", type: "1", content: [1, 2], link: "a")
            tar.add("c", content: [3])
            try place.write(tar.ended(), to: "file")
            for command in ["list file", "import file --container target"] {
                let result = try place.shell("\"$migrate\" \(command)")
                #expect(result.exitCode == 65)
                #expect(result.errors.contains("a hard link that has content"), "\(result.errors)")
            }
        }
    }

    @Test func `no advice is given that can't help`() throws {
        var device = RawTar()
        device.add("a", content: [1])
        device.add("null", type: "3")
        try place.write(device.ended(), to: "device.tar")
        var backup = RawTar()
        backup.add("apps/com.x/_manifest", content: [1])
        try place.write(backup.ended(), to: "backup.tar")
        for command in ["import device.tar", "import backup.tar"] {
            let result = try place.shell("\"$migrate\" \(command) --container target")
            #expect(result.exitCode == 65)
            #expect(!result.errors.contains("--keep-going"), "\(result.errors)")
        }
    }

    @Test func `a tar file of an xcappdata bundle is told`() throws {
        let result = try place.shell(
            """
            mkdir -p n.xcappdata/AppData/Documents && echo 1 >n.xcappdata/AppData/Documents/a
            echo '<plist/>' >n.xcappdata/AppDataInfo.plist && tar -cf n.tar n.xcappdata
            "$migrate" import n.tar --container target
            """
        )
        #expect(result.exitCode == 65)
        #expect(result.errors.contains("'migrate export --container <bundle>'"), "\(result.errors)")
        #expect(!place.exists("target/n.xcappdata"))
    }
}
