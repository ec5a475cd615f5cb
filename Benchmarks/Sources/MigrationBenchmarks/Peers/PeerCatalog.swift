internal import Glibc

/// The peers of a run: those that are installed, and the names of those that are not.
struct PeerCatalog {
    let installed: [Peer]
    let missing: [String]

    /// Looks for all peers, or for those with the given keys and those that every comparison needs,
    /// and for other builds.
    init(migrate: String, beside builds: [String], keys: [String]) throws(BenchmarkError) {
        let sevenZip = ["7z", "7zz", "7za"].first(where: Self.isInstalled) ?? "7z"
        let known: [Peer] = [
            .migrate(migrate), .tarAndZstd, .paxTarAndZstd, .bsdtar, .squashfs, .zip,
            .sevenZip(sevenZip), .restic, .borg, .encryptingMigrate(migrate), .tarAndAge, .plainTar,
            .copy,
        ]
        for key in keys where !known.contains(where: { $0.key == key }) {
            let names = known.map(\.key).joined(separator: ", ")
            throw .usage("unknown peer '\(key)': \(names)")
        }
        let chosen =
            known.filter { $0.isEssential || keys.isEmpty || keys.contains($0.key) }
            + builds.indices.map { .migrate(builds[$0], beside: $0 + 1) }
        installed = chosen.filter { $0.programs.allSatisfy(Self.isInstalled) }
        missing = chosen.filter { !$0.programs.allSatisfy(Self.isInstalled) }.map(\.name)
        let needed = chosen.filter { $0.isEssential || builds.contains($0.name) }
        for peer in needed where missing.contains(peer.name) {
            throw .usage("not installed: \(peer.programs.joined(separator: " or "))")
        }
    }

    private init(installed: [Peer]) {
        self.installed = installed
        missing = []
    }

    /// Only the program that is measured.
    var withoutOthers: PeerCatalog {
        PeerCatalog(installed: installed.filter { $0.role == .ours })
    }

    static func isInstalled(_ program: String) -> Bool {
        if program.contains("/") {
            return access(program, X_OK) == 0
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
