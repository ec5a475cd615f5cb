import TestSupport

@testable import MigrationArchive

/// Sparse files whose maps lie.
extension HostileCase {
    static let sparse = maps + versions

    /// Maps as form 1.0 has them, whatever the version says.
    private static let versions =
        [("2", "0"), ("1", "7"), ("0", "2"), ("x", "0"), ("1", "-1")].map { major, minor in
            refused("sparse file of version \(major).\(minor)") {
                $0.addRecords([
                    ("GNU.sparse.major", major), ("GNU.sparse.minor", minor),
                    ("GNU.sparse.realsize", "10"),
                ])
                $0.add("s", content: [UInt8]("0\n".utf8) + [UInt8](repeating: 0, count: 510))
            }
        }

    private static let maps = [
        accepted("sparse file", ["s 2000000"]) { add("1\n100\n3\n", size: "2000000", to: &$0) },
        accepted("sparse file of nothing but a hole", ["s 10"]) {
            add("0\n", size: "10", data: [], to: &$0)
        },
        refused("sparse file of 2 to the 63rd") {
            add("1\n0\n3\n", size: "9223372036854775807", to: &$0)
        },
        refused("sparse file of 60 GB") { add("1\n0\n3\n", size: "60000000000", to: &$0) },
        refused("sparse map below zero") { add("1\n-1\n3\n", to: &$0) },
        refused("sparse map that overlaps itself") { add("2\n0\n2\n1\n1\n", to: &$0) },
        refused("sparse map out of order") { add("2\n8\n1\n0\n2\n", to: &$0) },
        refused("sparse map of a billion parts") { add("1000000000\n", to: &$0) },
        refused("sparse map past the largest number") {
            add("1\n9223372036854775807\n9223372036854775807\n", to: &$0)
        },
        refused("sparse map of more than there is") { add("1\n0\n9\n", to: &$0) },
        refused("sparse map past the file's end") { add("1\n9\n3\n", to: &$0) },
        refused("sparse list of odd length") {
            $0.addRecords([("GNU.sparse.size", "10"), ("GNU.sparse.map", "0,2,4")])
            $0.add("s", content: [1, 2])
        },
        refused("sparse name of dots") {
            $0.addRecords([("GNU.sparse.name", "../outside")])
            $0.add("harmless")
        },
        accepted("sparse file by records", ["s 10"]) {
            $0.addRecords([
                ("GNU.sparse.size", "10"), ("GNU.sparse.numblocks", "1"),
                ("GNU.sparse.offset", "4"), ("GNU.sparse.numbytes", "3"),
            ])
            $0.add("s", content: [1, 2, 3])
        },
    ]

    /// Adds a sparse file of form 1.0.
    private static func add(
        _ map: String,
        size: String = "10",
        data: [UInt8] = [1, 2, 3],
        to tar: inout RawTar
    ) {
        tar.addRecords([
            ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "s"),
            ("GNU.sparse.realsize", size),
        ])
        let text = [UInt8](map.utf8)
        tar.add("s", content: text + [UInt8](repeating: 0, count: 512 - text.count) + data)
    }
}
