/// A program that packs a tree and encrypts it for one key, in the age format.
extension Peer {
    static func encryptingMigrate(_ program: String) -> Peer {
        Peer(
            key: "migrate-age",
            name: "migrate --recipient",
            role: .encrypting,
            programs: [program],
            suffix: ".tar.zst.age",
            usesLevel: true,
            preparation: { [$0.shell(writingKey)] },
            export: { ground in
                [program, "export", "--container", ground.tree, "--out", ground.archive]
                    + [
                        "--level", "\(ground.level)", "--progress", "none", "--recipient",
                        recipient,
                    ]
            },
            restore: { ground in
                [program, "import", ground.archive, "--container", ground.destination]
                    + ["--external-links", "keep", "--progress", "none"]
                    + ["--identity", "\(ground.archive).key"]
            },
            verification: { ground in
                [program, "verify", "--hashes", ground.archive, "--progress", "none"]
                    + ["--identity", "\(ground.archive).key"]
            }
        )
    }

    static let tarAndAge = Peer(
        key: "tar-age",
        name: "tar | zstd | age",
        role: .encrypting,
        programs: ["tar", "zstd", "age"],
        suffix: ".tar.zst.age",
        usesLevel: true,
        preparation: { [$0.shell(writingKey)] },
        export: {
            $0.shell(
                #"tar cf - -C "$1" . | zstd -q -T0 "-$4" | age -r \#(recipient) -o "$2""#
            )
        },
        restore: {
            $0.shell(#"age -d -i "$2.key" "$2" | zstd -q -d | tar -xf - -C "$3""#)
        },
        verification: { $0.shell(#"age -d -i "$2.key" "$2" | zstd -q -t"#) }
    )

    /// A key pair that `age-keygen` made.
    private static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"
    private static let writingKey =
        "echo AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
        + #" >"$2.key""#
}
