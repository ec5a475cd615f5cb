import Foundation
import TestTrees

/// Moves large encrypted archives between `migrate` and `age`, both ways.
struct Encryption {
    private let tools: Tools
    private let megabytes: Int
    private let key: BytePath
    private let recipient: String

    init(_ tools: Tools, _ options: inout Options) throws {
        self.tools = tools
        megabytes = try options.number("megabytes") ?? 5120
        key = tools.scratch / "key"
        try Tools.call(["age-keygen", "-o", key.text])
        recipient = try Tools.call(["age-keygen", "-y", key.text])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns how many archives were changed on the way.
    func run() throws -> Int {
        try reading() + writing()
    }

    /// Imports a sparse file that `tar` and `age` packed, from a file and from a pipe.
    private func reading() throws -> Int {
        let archive = tools.scratch / "sparse.age"
        let original = tools.scratch / "sparse" / "Documents" / "large"
        try call(
            """
            mkdir -p sparse/Documents
            truncate -s \(megabytes)M sparse/Documents/large
            echo end >> sparse/Documents/large
            tar cf - -C sparse . | age -r "$RECIPIENT" -o sparse.age
            """
        )
        let imports = [
            ("file", "\"$MIGRATE\" import sparse.age --container target --identity key"),
            ("pipe", "\"$MIGRATE\" import - --container target --identity key < sparse.age"),
        ]
        var failures = 0
        for (source, command) in imports {
            try call("\(command) --progress none")
            let restored = tools.scratch / "target" / "Documents" / "large"
            let isSame =
                try Tools.run(["cmp", original.text, restored.text], scratch: tools.scratch).code
                == 0
            let kilobytes = Int(try Tools.call(["du", "-k", restored.text]).prefix { $0.isNumber })
            let hasHoles = kilobytes.map { $0 < 1024 } ?? false
            if !isSame || !hasHoles { failures += 1 }
            print(
                "from age, out of a \(source): \(try size(of: archive)) bytes, "
                    + (isSame ? "as they were" : "CHANGED") + (hasHoles ? "" : ", HOLES ARE GONE")
            )
            try (tools.scratch / "target").removeAll()
        }
        for name in ["sparse", "sparse.age"] { try (tools.scratch / BytePath(name)).removeAll() }
        return failures
    }

    /// Exports incompressible bytes, and compares the archive that `age` decrypts with the same
    /// export without encryption.
    private func writing() throws -> Int {
        // The cipher ends with an error when `head` has read enough.
        try call(
            """
            mkdir -p noise/Documents
            openssl enc -aes-128-ctr -nosalt -K 00 -iv 00 < /dev/zero 2>/dev/null |
                head -c \(megabytes)M > noise/Documents/large || true
            test "$(stat -c %s noise/Documents/large)" -eq \(megabytes << 20)
            """
        )
        let export = "\"$MIGRATE\" export --container noise --out - --progress none"
        let plain = try call("\(export) | sha256sum")
        var failures = 0
        for form in ["", " --armor"] {
            let decrypted = try call(
                """
                \(export)\(form) --recipient "$RECIPIENT" | tee encrypted | age -d -i key | sha256sum
                """
            )
            let isSame = decrypted == plain
            if !isSame { failures += 1 }
            print(
                "to age\(form.isEmpty ? "" : ", armored"): "
                    + "\(try size(of: tools.scratch / "encrypted")) bytes, "
                    + (isSame ? "the same" : "SOMETHING ELSE") + " as without encryption"
            )
        }
        for name in ["noise", "encrypted"] { try (tools.scratch / BytePath(name)).removeAll() }
        return failures
    }

    /// Runs a script in the scratch directory, where each of its commands must succeed.
    @discardableResult
    private func call(_ script: String) throws -> String {
        let ended = try Tools.run(
            ["bash", "-c", "set -euo pipefail\n" + script],
            environment: [
                "MIGRATE": tools.migrate, "RECIPIENT": recipient, "SWIFT_BACKTRACE": "enable=no",
            ],
            in: tools.scratch,
            limit: 3600,
            scratch: tools.scratch
        )
        guard ended.code == 0 else { throw ProofError(ended.description) }
        return ended.output
    }

    private func size(of file: BytePath) throws -> String {
        try Tools.call(["stat", "-c", "%s", file.text]).trimmingCharacters(in: .newlines)
    }
}
