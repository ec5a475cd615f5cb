extension Peer {
    /// The program that is measured, or with `number` another build of it.
    static func migrate(_ program: String, beside number: Int? = nil) -> Peer {
        Peer(
            key: number.map { "beside-\($0)" } ?? "migrate",
            name: number == nil ? "migrate" : program,
            role: number == nil ? .ours : .rival,
            programs: [program],
            suffix: ".tar.zst",
            usesLevel: true,
            export: { ground in
                [program, "export", "--container", ground.tree, "--out", ground.archive]
                    + ["--level", "\(ground.level)", "--progress", "none"]
            },
            restore: { ground in
                [program, "import", ground.archive, "--container", ground.destination]
                    + ["--external-links", "keep", "--progress", "none"]
            },
            verification: { [program, "verify", "--hashes", $0.archive, "--progress", "none"] }
        )
    }

    static let tarAndZstd = Peer(
        key: "tar-zstd",
        name: "tar | zstd",
        role: .baseline,
        programs: ["tar", "zstd"],
        suffix: ".tar.zst",
        usesLevel: true,
        export: { $0.shell(#"tar cf - -C "$1" . | zstd -q -T0 "-$4" -o "$2""#) },
        restore: { ["tar", "-I", "zstd", "-xf", $0.archive, "-C", $0.destination] },
        verification: { ["zstd", "-q", "-t", $0.archive] }
    )

    /// Carries what migrate carries: long names, times in nanoseconds and attributes.
    static let paxTarAndZstd = Peer(
        key: "pax-tar-zstd",
        name: "tar --format=posix --xattrs | zstd",
        programs: ["tar", "zstd"],
        suffix: ".tar.zst",
        usesLevel: true,
        export: {
            $0.shell(
                #"tar --format=posix --xattrs -cf - -C "$1" . | zstd -q -T0 "-$4" -o "$2""#
            )
        },
        restore: { ["tar", "--xattrs", "-I", "zstd", "-xf", $0.archive, "-C", $0.destination] },
        verification: { ["zstd", "-q", "-t", $0.archive] }
    )

    static let bsdtar = Peer(
        key: "bsdtar",
        name: "bsdtar --zstd",
        programs: ["bsdtar"],
        suffix: ".tar.zst",
        usesLevel: true,
        export: { ground in
            // Its 0 threads are one in some versions.
            let threads = Machine.current.processors
            let options = "zstd:compression-level=\(ground.level),zstd:threads=\(threads)"
            return ["bsdtar", "--zstd", "--options", options, "-cf", ground.archive]
                + ["-C", ground.tree, "."]
        },
        restore: { ["bsdtar", "-xf", $0.archive, "-C", $0.destination] }
    )

    static let squashfs = Peer(
        key: "squashfs",
        name: "mksquashfs",
        programs: ["mksquashfs", "unsquashfs"],
        suffix: ".squashfs",
        usesLevel: true,
        export: { ground in
            ["mksquashfs", ground.tree, ground.archive, "-comp", "zstd"]
                + ["-Xcompression-level", "\(ground.level)", "-noappend", "-no-progress"]
        },
        restore: { ["unsquashfs", "-f", "-no-progress", "-d", $0.destination, $0.archive] }
    )

    static let zip = Peer(
        key: "zip",
        name: "zip",
        programs: ["zip", "unzip"],
        suffix: ".zip",
        export: { $0.shell(#"cd "$1" && zip -q -r -y "$2" ."#) },
        restore: { ["unzip", "-q", $0.archive, "-d", $0.destination] },
        verification: { ["unzip", "-q", "-t", $0.archive] }
    )

    /// 7-Zip at its fastest: at its usual level it takes minutes for what others do in seconds.
    static func sevenZip(_ program: String) -> Peer {
        Peer(
            key: "7z",
            name: "7z -mx=1",
            programs: [program],
            suffix: ".7z",
            export: {
                $0.shell(#"cd "$1" && \#(program) a -bd -bso0 -snl -t7z -mx=1 "$2" ."#)
            },
            restore: { ground in
                // Links that lead out are kept, as the other programs keep them.
                [program, "x", "-bd", "-bso0", "-y", "-snld20", "-o\(ground.destination)"]
                    + [ground.archive]
            },
            verification: { [program, "t", "-bd", "-bso0", $0.archive] }
        )
    }
}
