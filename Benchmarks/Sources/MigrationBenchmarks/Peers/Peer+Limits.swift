/// Programs that only copy bytes, without compression.
extension Peer {
    static let plainTar = Peer(
        key: "tar",
        name: "tar cf",
        role: .limit,
        programs: ["tar"],
        suffix: ".tar",
        export: { ["tar", "cf", $0.archive, "-C", $0.tree, "."] },
        restore: { ["tar", "xf", $0.archive, "-C", $0.destination] }
    )

    static let copy = Peer(
        key: "cp",
        name: "cp -a",
        role: .limit,
        programs: ["cp"],
        export: { ["cp", "-a", $0.tree, $0.archive] },
        restore: { ["cp", "-a", "\($0.archive)/.", $0.destination] }
    )
}
