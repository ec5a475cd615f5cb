import TestSupport

@testable import MigrationArchive

/// Entries that aren't files, directories or links, and metadata that must not be restored.
extension HostileCase {
    static let kinds = oddKinds + roots + metadata

    /// Entries that mean the root; only a directory may.
    private static let roots =
        ["0", "1", "2", "3", "4", "6", "Z"].map { type in
            refused("root of kind \(type)") {
                $0.add(type == "0" ? "." : "./", type: type, link: "before")
            }
        } + [
            refused("root with content") { $0.add(".", content: [1, 2, 3]) },
            refused("root with content and a slash") { $0.add("./", content: [1, 2, 3]) },
            accepted("root that is a directory", []) { $0.add("./", type: "5") },
            accepted("root of old", []) { $0.add("./", type: "\0", magic: .v7) },
        ]

    private static let oddKinds = [
        refused("character device") { $0.add("dev", type: "3") },
        refused("block device") { $0.add("dev", type: "4") },
        refused("FIFO and then a file") {
            $0.add("fifo", type: "6")
            $0.add("fifo", content: [1])
        },
        refused("unknown kind") { $0.add("f", type: "Z") },
        refused("part of a volume") { $0.add("f", type: "M", content: [1]) },
        refused("directory of a dump") { $0.add("d/", type: "D", content: [1]) },
        refused("renaming of old") { $0.add("f", type: "N", content: [1]) },
        accepted("file of old", ["f 1"]) { $0.add("f", type: "\0", content: [1]) },
        accepted("contiguous file", ["f 1"]) { $0.add("f", type: "7", content: [1]) },
        accepted("label of a volume", ["f 1"]) {
            $0.add("label", type: "V")
            $0.add("f", content: [1])
        },
    ]

    private static let metadata = [
        refused("attribute without a name") {
            $0.addRecords([("SCHILY.xattr.user.", "v")])
            $0.add("f", content: [1])
        },
        refused("attribute with a name of 300 bytes") {
            $0.addRecords([("SCHILY.xattr.user." + String(repeating: "n", count: 295), "v")])
            $0.add("f", content: [1])
        },
        accepted("set-user-id", ["f 1"]) { $0.add("f", content: [1], mode: "0006755") },
        accepted("mode of more than there is", ["f 1"]) {
            $0.add("f", content: [1], mode: "7777644")
        },
        accepted("modes of nothing", ["d/", "d/f 1"]) {
            $0.add("d/", type: "5", mode: "0000000")
            $0.add("d/f", content: [1], mode: "0000000")
        },
        accepted("capability of a file", ["f 1"]) {
            $0.addRecords([("SCHILY.xattr.security.capability", "\u{1}")])
            $0.add("f", content: [1])
        },
        accepted("attribute of the system", ["f 1"]) {
            $0.addRecords([("SCHILY.xattr.trusted.overlay.opaque", "y")])
            $0.add("f", content: [1])
        },
        accepted("attribute of the user", ["f 1"]) {
            $0.addRecords([("SCHILY.xattr.user.a=b\nc", "v")])
            $0.add("f", content: [1])
        },
    ]
}
