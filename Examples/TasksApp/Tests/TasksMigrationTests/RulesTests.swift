import Foundation
import Testing

/// The rules of the app on Android, read by `migrate` and followed by the emulator's stand-in.
@Suite struct RulesTests {
    @Test
    func `the rules have no mistakes`() async throws {
        try await withAndroidDevice { device in
            let run = try device.lint()
            #expect(run.status == 0)
            #expect(run.output.contains(": 0 errors, 0 warnings"), "\(run.output)")
        }
    }

    @Test
    func `an emulator sends what the preview says`() async throws {
        try await withAndroidDevice { device in
            let preview = try device.preview()
            #expect(preview.eligible)
            let resources = try device.resources()
            let sent = try FileManager.default.subpathsOfDirectory(atPath: resources.path).filter {
                !AndroidStorageDirectories.all.contains($0)
            }
            #expect(sent.sorted() == preview.included.map(\.iosPath).sorted())
            #expect(try resources.files.count == 10)
        }
    }

    @Test
    func `keeps caches, secrets and the device's number back`() async throws {
        try await withAndroidDevice { device in
            let paths = try device.resources().files.keys
            for name in ["feed.json", "session.xml", "device-id", "1.webp", "profileInstalled"] {
                #expect(!paths.contains { $0.hasSuffix(name) })
            }
        }
    }

    @Test
    func `the wrong app on iOS gets nothing`() async throws {
        try await withAndroidDevice { device in
            try device.backUp()
            let run = try device.convert(for: "ABCDE12345.com.example.rival")
            #expect(run.status != 0)
            #expect(run.errors.contains("com.example.rival"))
            #expect(!FileManager.default.fileExists(atPath: device.archive.path))
        }
    }

    @Test
    func `without the parameters for iOS nothing is sent`() async throws {
        try await withAndroidDevice { device in
            try device.replaceInRules("platform=\"ios\"", with: "platform=\"iOS\"")
            #expect(try device.lint().output.contains("[unknown-platform]"))
            #expect(try device.preview().eligible == false)
            #expect(try device.backUp().status != 0)
        }
    }
}

/// The directories that stand for the nine places; Android's backup has no entries for them.
private enum AndroidStorageDirectories {
    static let all: Set<String> = [
        "app", "app/files", "app/databases", "app/shared_prefs", "device", "device/app",
        "device/app/files", "device/app/databases", "device/app/shared_prefs", "external",
        "external/files",
    ]
}
