import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

@testable import IPhoneBackups

@Suite(.scratchDirectory) struct BadPhoneBackupTests {
    private static let flaws: [(String, String, String)] = [
        ("missing", "Documents/missing", "doesn't hold its content"),
        ("cut", "Documents/plants.md", "aren't whole blocks"),
        ("padding", "Documents/plants.md", "don't end as its key makes them end"),
        ("class", "Documents/class", "protection class 99"),
        ("device-class", "Documents/device-class", "protection class 9,"),
        ("digest", "Documents/plants.md", "another hash"),
        ("link", "Documents/plants.md", "can't be opened"),
        ("fifo", "Documents/plants.md", "isn't a file"),
        ("other-identifier", "Documents/other-identifier", "names another stored file"),
        ("climbing-identifier", "Documents/climbing-identifier", "names another stored file"),
        ("two-paths", "Documents/two-paths", "two different paths"),
        ("kind", "Documents/kind", "of kind 2"),
        ("unknown-kind", "Documents/unknown-kind", "kind 16"),
        ("climbing", "Documents/../../climbing", "'..' component"),
        ("absolute", "/etc/absolute", "absolute"),
        ("long-name", "Documents/" + String(repeating: "l", count: 256), "longer than 255"),
        ("below-a-file", "Documents/plants.md/below-a-file", "lies in what is a file"),
        ("below-a-link", "Library/WebKit/v0/below-a-link", "lies in what is a file or a link"),
        ("time", "Documents/time", "out of range"),
        ("attribute", "Documents/attribute", "a name that no file can have"),
        ("cycle", "cycle", "isn't an archive of an object"),
    ]

    @Test(arguments: flaws)
    func `names what is damaged, and writes nothing`(
        _ flaw: String,
        _ path: String,
        _ reason: String
    ) async throws {
        let stage = try PhoneStage()
        try stage.make("encrypted", flaws: [flaw])
        // The hash of a file is known only after reading all of it.
        guard flaw != "digest" else {
            let error = await #expect(throws: ArchiveError.self) { try await stage.convert() }
            #expect(error?.message.contains(reason) == true)
            #expect(!FileManager.default.fileExists(atPath: stage.url("out").path))
            return
        }
        let report = try await stage.convert()
        #expect(report.summary == nil)
        #expect(report.lost.items.map(\.path) == [path])
        #expect(report.lost.items.first?.reason.contains(reason) == true, "\(report.lost.items)")
        #expect(!FileManager.default.fileExists(atPath: stage.url("out").path))
        let rest = try await stage.convert(keepsGoing: true)
        #expect(rest.lost == report.lost)
        let inspection = try await ArchiveSource.file(stage.url("out")).inspect()
        #expect((inspection.totals?.files ?? 0) >= 20)
    }

    @Test func `names a row of iOS 10.0 that another password encrypts`() async throws {
        let stage = try PhoneStage()
        try stage.make("ios10.0", flaws: ["other-object"])
        let report = try await stage.convert()
        #expect(report.summary == nil)
        #expect(report.lost.items.map(\.path) == ["Documents/other-object"])
        #expect(report.lost.items.first?.reason.contains("as the password makes it end") == true)
    }

    private static let refusals: [(String, [String], ArchiveError.Code, String)] = [
        ("plain", ["unfinished"], .truncated, "uploading"),
        ("encrypted", ["rounds"], .damaged, "100000000 rounds"),
        ("encrypted", ["one-class"], .damaged, "1 of its classes can't be opened"),
        ("encrypted", ["keybag"], .damaged, "longer than the keybag"),
        ("encrypted", ["not-encrypted"], .damaged, "looks encrypted"),
        ("mbdb", ["cut-list"], .damaged, "cut short"),
        ("plain", ["view"], .damaged, "no table of files"),
        ("plain", ["huge-row"], .damaged, "too big"),
        ("plain", ["tables"], .damaged, "more tables than any backup has"),
        ("plain", ["circle"], .damaged, "lie within each other"),
        ("ios10.0", ["other-password"], .damaged, "made with another one"),
    ]

    @Test(arguments: refusals)
    func `refuses a backup that isn't whole or honest`(
        _ form: String,
        _ flaws: [String],
        _ code: ArchiveError.Code,
        _ reason: String
    ) async throws {
        let stage = try PhoneStage()
        try stage.make(form, flaws: flaws)
        let error = await #expect(throws: ArchiveError.self) { try await stage.convert() }
        #expect(error?.code == code)
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["encrypted", "ios10.1", "ios10.0", "mbdb-encrypted"])
    func `tells a wrong password from damage`(_ form: String) async throws {
        let stage = try PhoneStage()
        try stage.make(form)
        let wrong = await #expect(throws: ArchiveError.self) {
            try await stage.convert(password: "wrong")
        }
        #expect(wrong?.code == .passphraseWrong)
        let missing = await #expect(throws: ArchiveError.self) {
            try await stage.convert(password: nil)
        }
        #expect(missing?.code == .keyMissing)
    }

    @Test(arguments: ["Manifest.db", "Manifest.plist"], [true, false])
    func `tells an unfinished backup from no backup`(_ name: String, _ isEmpty: Bool) async throws {
        let stage = try PhoneStage()
        try stage.make("plain")
        let file = stage.url("backup/\(name)")
        try FileManager.default.removeItem(at: file)
        if isEmpty { try Data().write(to: file) }
        if name == "Manifest.plist", isEmpty {
            // A plain backup needs nothing of it.
            #expect(try await stage.convert().lost.count == 0)
            return
        }
        let error = await #expect(throws: ArchiveError.self) { try await stage.convert() }
        #expect(error?.code == (name == "Manifest.db" ? .truncated : .notAnArchive))
    }

    @Test func `says that no backup is there, or which of several it may be`() async throws {
        let stage = try PhoneStage()
        let place = stage.url("backup")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        for (count, words) in [
            (0, "neither it nor a directory in it holds a Manifest.plist"), (1, nil),
            (2, "it holds 2 backups, and one has to be named: 1, 2"),
        ] {
            if count > 0 { try stage.make("plain", as: "backup/\(count)") }
            guard let words else {
                #expect(try await stage.convert().lost.count == 0)
                try FileManager.default.removeItem(at: stage.url("out"))
                continue
            }
            let error = await #expect(throws: ArchiveError.self) { try await stage.convert() }
            #expect(error?.code == .notAnArchive && error?.message.contains(words) == true)
        }
    }

    @Test(arguments: [("plain", "Manifest.db"), ("mbdb", "Manifest.mbdb")])
    func `refuses a manifest that isn't a file`(_ form: String, _ name: String) async throws {
        let stage = try PhoneStage()
        try stage.make(form)
        let manifest = stage.path("backup/\(name)")
        try manifest.removeFile()
        try manifest.makeDirectory()
        let error = await #expect(throws: ArchiveError.self) { try await stage.convert() }
        #expect(error?.code == .damaged)
        #expect(error?.message == "the backup's manifest isn't a file")
    }

    @Test func `notices that the list becomes shorter while it is read`() throws {
        let stage = try PhoneStage()
        try stage.make("mbdb")
        let manifest = stage.path("backup/Manifest.mbdb")
        let file = OpenFile(try FileDescriptor.open(manifest, .reading))
        let list = try ManifestList(file, on: MigrationOperation())
        _ = try list.row(at: 6)
        try manifest.truncate(to: 100)
        let error = #expect(throws: ArchiveError.self) { try list.row(at: 6) }
        #expect(error?.code == .sourceChanged)
    }

    @Test func `a file that claims an absurd size takes no memory for it`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain", flaws: ["huge-size"])
        let report = try await stage.convert()
        #expect(report.lost.count == 0)
        #expect(report.resized.items.contains { $0.path == "Documents/huge-size" })
    }

    @Test func `ends well whatever byte of a manifest is changed`() async throws {
        let stage = try PhoneStage()
        try stage.make("plain")
        let place = stage.url("backup/Manifest.db")
        let sound = try Data(contentsOf: place)
        for index in stride(from: 0, to: sound.count, by: sound.count / 61) {
            var changed = sound
            changed[index] ^= 0xFF
            try changed.write(to: place)
            // Any answer will do, but there must be one.
            _ = try? await stage.convert(keepsGoing: true)
            try? FileManager.default.removeItem(at: stage.url("out"))
        }
    }
}

struct KeybagTests {
    private func record(_ tag: String, _ value: [UInt8]) -> [UInt8] {
        [UInt8](tag.utf8) + [0, 0, 0, UInt8(value.count)] + value
    }

    private func bag(classes: Int = 2, rounds: [UInt8] = [0, 0, 0, 1]) -> [UInt8] {
        var bytes = record("TYPE", [0, 0, 0, 1]) + record("UUID", [UInt8](repeating: 1, count: 16))
        bytes += record("SALT", [UInt8](repeating: 2, count: 20)) + record("ITER", rounds)
        for number in 0..<classes {
            bytes += record("UUID", [UInt8](repeating: 3, count: 16))
            bytes += record("CLAS", [0, 0, 0, UInt8(number)]) + record("WRAP", [0, 0, 0, 2])
            bytes += record("WPKY", [UInt8](repeating: 4, count: 40))
        }
        return bytes
    }

    @Test func `reads a sound bag, and no key with a wrong password`() throws {
        let bag = try Keybag(bag())
        var password = [UInt8]("x".utf8)
        let secret = Secret(wiping: &password)
        let error = #expect(throws: ArchiveError.self) { try bag.open(with: secret) }
        #expect(error?.code == .passphraseWrong)
    }

    @Test func `refuses a bag that is cut, or with bytes behind it`() throws {
        let whole = bag()
        let ends = [60 + 26 + 12, whole.count]
        for count in 0..<whole.count where !ends.contains(count) {
            // A bag that ends between two records of a class has a class without a key.
            _ = try? Keybag([UInt8](whole.prefix(count)))
        }
        #expect(throws: ArchiveError.self) { try Keybag(whole + [0]) }
        #expect(throws: ArchiveError.self) { try Keybag([]) }
    }

    @Test func `refuses too many classes, and one that comes twice`() throws {
        _ = try Keybag(bag(classes: 64))
        #expect(throws: ArchiveError.self) { try Keybag(bag(classes: 65)) }
        let twice = bag() + bag().suffix(24 + 12 + 12 + 48)
        #expect(throws: ArchiveError.self) { try Keybag(twice) }
    }

    @Test(arguments: [[0, 0, 0, 0], [0, 15, 66, 65], [0xFF, 0xFF, 0xFF, 0xFF], [0, 1]])
    func `refuses rounds that would keep a processor busy`(_ rounds: [UInt8]) {
        let error = #expect(throws: ArchiveError.self) { try Keybag(bag(rounds: rounds)) }
        #expect(error?.code == .damaged)
    }
}
