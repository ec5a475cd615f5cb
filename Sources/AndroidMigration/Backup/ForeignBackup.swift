internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Other programs' backups of Android apps, recognized for errors that say what to do.
enum ForeignBackup {
    private static let gzip: [UInt8] = [0x1F, 0x8B]
    private static let zstd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    private static let zip: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
    private static let marks = ["TWRP", "MIUI BACKUP", "ANDROID BACKUP\r\n"]
        .map { [UInt8]($0.utf8) }

    /// The maximum size of MIUI's lines before Android's own header.
    private static let startLimit = 4096

    /// Whether a tar file that begins like this must be decompressed first.
    static func isCompressed(_ start: ArraySlice<UInt8>) -> Bool {
        start.starts(with: gzip) || start.starts(with: zstd)
            || (start.count >= 4 && start.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
                && start[start.startIndex] & 0xF0 == 0x50)
    }

    /// Whether the first bytes are those of another program's backup.
    static func isKnown(_ start: ArraySlice<UInt8>) -> Bool {
        marks.contains { start.starts(with: $0) }
    }

    /// The error that names the backup in `input`; `nil` if it may be an Android backup.
    static func error(
        for input: ArchiveInput,
        named name: BytePath?
    ) throws -> AndroidMigrationError? {
        _ = try input.lookAhead(startLimit)
        let start = input.ahead
        if start.starts(with: marks[1]) { return miui(start) }
        let message: String? =
            if start.starts(with: marks[0]) {
                "a backup of TWRP's 'adb backup --twrp', which shares nothing but its suffix with "
                    + "Android's: take it apart with a tool for TWRP"
            } else if start.starts(with: marks[2]) {
                "the backup's line ends were converted, which damages it beyond repair, as 'adb "
                    + "shell' does on Windows: make it again with 'adb backup' or 'adb exec-out'"
            } else {
                name.flatMap { named($0, start) }
            }
        return message.map { AndroidMigrationError(.unsupported, $0) }
    }

    private static func miui(_ start: ArraySlice<UInt8>) -> AndroidMigrationError {
        let name = "a backup of MIUI, which writes lines of its own before Android's"
        guard let mark = Data(start).firstRange(of: Data(BackupHeader.mark)) else {
            let message = name + ": Android's are not within its first \(startLimit) bytes"
            return AndroidMigrationError(.unsupported, message)
        }
        return AndroidMigrationError(.unsupported, name, remedy: .skipStart(mark.lowerBound))
    }

    /// Recognizes the backup by the file names that its program uses.
    private static func named(_ path: BytePath, _ start: ArraySlice<UInt8>) -> String? {
        let names = String(decoding: path.bytes, as: UTF8.self).split(separator: "/")
        let name = names.last.map { String($0) } ?? ""
        let stem = name.split(separator: ".").first ?? ""
        let isHash = stem.utf8.count == 64 && stem.allSatisfy { $0.isHexDigit && !$0.isUppercase }
        if names.contains(".SeedVaultAndroidBackup")
            || (isHash && start.first.map { $0 <= 2 } ?? false)
        {
            return "a file of Seedvault's backup, whose parts are encrypted and belong together: "
                + "restore it on a device or an emulator, and back the app up from there"
        }
        if name.hasSuffix(".enc") {
            return "an encrypted file of Neo Backup's: back the app up again without encryption"
        }
        let suffixes = [".dat", ".extdat", ".expansion", ".splits", ".app"]
        if start.starts(with: zip) {
            return suffixes.contains(where: name.hasSuffix)
                ? "a file of Swift Backup's, a zip file, which may have a password: unpack it with "
                    + "'unzip' or '7z', and convert the directory"
                : "a zip file: unpack it, and convert the directory or the backup in it"
        }
        return nil
    }
}
