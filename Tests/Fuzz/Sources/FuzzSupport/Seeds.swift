/// The inputs that the fuzzer starts from: small, and of every kind that the readers distinguish.
public enum Seeds {
    private static let scripts = [
        "d|Documents|755|1.5\nf|Documents/a|5|644|-3.25\n"
            + "l|Documents/link|a\nh|Documents/b|Documents/a",
        "f|a|0\nf|b|513|600\nf|c|4096|4755|99999999999\na|user.tag|value\nf|d|1",
        "d|d\nl|d/out|../../canary/kept\nf|d/out/x|3",
        "l|here|.\nl|here/up|..\nf|here/up/canary/kept|9",
        "f|../canary/kept|7\nf|/dev/shm/x|1\nd|a/../../b\nl|abs|/etc",
        "d|one\nl|one/two|..\nl|three|one/two/canary\nd|three\nf|three/f|2",
        "f|same|1\nf|same|2\nd|same\nl|same|x\nh|same|same\nh|y|same",
        "d|\u{E9}\u{1F600}\nf|\u{E9}\u{1F600}/" + String(repeating: "n", count: 120) + "|10",
        "x|GNU.sparse.major|1\nx|GNU.sparse.minor|0\n"
            + "x|GNU.sparse.realsize|9223372036854775807\nf|s|0",
        "x|GNU.sparse.map|0,2\nx|GNU.sparse.size|9223372036854775807\nf|s|2\nf|t|2",
        "x|path|p/q\nx|mtime|1.000000001\nx|SCHILY.xattr.user.x|1\nx|linkpath|q\nl|a|b",
        "d|.migration-extracting\nf|.migration-extracting/f|1\nl|.migration|x",
        endless,
    ]

    /// Files of only holes that together are larger than any number.
    private static let endless = String(
        repeating: "x|GNU.sparse.map|0,0\nx|GNU.sparse.size|9223372036854775807\nf|s|0\n",
        count: 3
    )

    /// A long name, then an extended header whose size in base 256 is the largest there is.
    private static var absurdHeader: [UInt8] {
        let long = EntryScript("f|././@LongLink|2".utf8).stream
        var name = [UInt8](long.prefix(512))
        name[156] = UInt8(ascii: "L")
        TarRepair.setChecksum(of: &name)
        var next = [UInt8](EntryScript("f|pax|0".utf8).stream.prefix(512))
        next[156] = UInt8(ascii: "x")
        next.replaceSubrange(
            124..<136,
            with: [0x80, 0, 0, 0, 0x7F] + [UInt8](repeating: 0xFF, count: 7)
        )
        TarRepair.setChecksum(of: &next)
        return name + long.dropFirst(512) + next
    }

    /// Inputs of ``ArchiveInputForm``.
    public static func archives() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        seeds.append([2] + absurdHeader)
        for (index, script) in scripts.enumerated() {
            let text = [UInt8](script.utf8)
            for choice in 0..<4 as Range<UInt8> {
                for form in [5, 6] as [UInt8] { seeds.append([form | choice << 4] + text) }
            }
            for form in [7, 0x87] as [UInt8] { seeds.append([form] + text) }
            let entries = EntryScript(text).stream
            seeds.append([1] + entries)
            seeds.append([UInt8(0x42)] + entries)
            if index < 2 {
                let stream = ArchiveForge.stream(of: entries)
                for isStored in [false, true] {
                    let archive = try ArchiveForge.archive(of: stream, isStored: isStored)
                    for form in [0, 0x80, 0x90] as [UInt8] { seeds.append([form] + archive) }
                }
                seeds.append([0] + (try ArchiveForge.compressed(stream)))
                seeds.append([0] + GzipForge.compressed(stream))
            }
        }
        return seeds
    }

    /// Scripts, as ``EntryScript`` reads them.
    public static let texts = scripts.map { [UInt8]($0.utf8) }

    /// Headers with the records that belong to them, whose lengths are for the reader to repair.
    public static func headers() -> [[UInt8]] {
        let records = [
            "0 path=p/q\n0 mtime=-1.000000001\n",
            "0 SCHILY.xattr.user.a%3Db%25=v=w\n",
            "0 size=9223372036854775807\n",
            "0 hdrcharset=BINARY\n0 path=\u{E9}/b\n0 linkpath=../c\n",
        ]
        let blocks = ["f|a|1", "d|a/b", "l|a|b", "h|a/c|a/b"].map {
            EntryScript($0.utf8).stream.prefix(512)
        }
        return blocks.flatMap { block in records.map { block + [UInt8]($0.utf8) } }
    }

    /// Tar streams without a global header.
    public static func streams() -> [[UInt8]] {
        scripts.map { EntryScript($0.utf8).stream } + [absurdHeader]
    }
}
