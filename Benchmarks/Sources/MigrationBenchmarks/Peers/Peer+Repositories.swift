/// Backup programs: the archive is a repository that is made before the clock runs.
extension Peer {
    static let restic = Peer(
        key: "restic",
        name: "restic",
        programs: ["restic"],
        preparation: { [$0.shell(resticOnRepository + "init")] },
        export: { $0.shell(#"cd "$1" && "# + resticOnRepository + "backup .") },
        restore: { $0.shell(resticOnRepository + #"restore latest --target "$3""#) }
    )

    static let borg = Peer(
        key: "borg",
        name: "borg",
        programs: ["borg"],
        usesLevel: true,
        preparation: {
            [$0.shell(#"mkdir -p "$2" && "# + borgOnItsOwn + #"borg init -e none "$2/repository""#)]
        },
        export: {
            $0.shell(
                #"cd "$1" && "# + borgOnItsOwn
                    + #"borg create --compression "zstd,$4" "$2/repository::a" ."#
            )
        },
        restore: {
            $0.shell(#"cd "$3" && "# + borgOnItsOwn + #"borg extract "$2/repository::a""#)
        }
    )

    private static let resticOnRepository =
        #"RESTIC_PASSWORD=benchmark restic -q --no-cache -r "$2" "#

    /// Keeps their caches and lists of repositories out of the person's home.
    private static let borgOnItsOwn =
        #"BORG_BASE_DIR="$2" BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes "#
}
