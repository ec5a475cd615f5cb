internal import AppMigrationKit
internal import Foundation
internal import Glibc

/// One run of a script.
///
/// Paths are relative to the container; `tmp:`, `in:`, `group:ID/` and `grant:NAME/` at their start mean
/// the temporary directory, the import directory, an app group and a granted resource; absolute ones are taken as they are. `documents:` is
/// the container's own URL of that directory, `relative:` and `encoded:` make wrong ones of files in it.
struct ScriptRun {
    /// The item to append.
    struct Append: Equatable {
        let url: URL
        let name: String?
        let isCaught: Bool
    }

    let container: MigrationDataContainer
    let progress: Progress
    let state: ScriptState
    var resources: URL?

    /// The result of the last bookmark.
    private var resolved: URL?

    /// Memory that it keeps and never uses.
    private var taken: [UInt8] = []

    /// Its observations, one line each, for a test to read.
    private(set) var notes: [String] = []

    init(
        container: MigrationDataContainer,
        progress: Progress,
        state: ScriptState,
        resources: URL? = nil
    ) {
        self.state = state
        self.container = container
        self.progress = progress
        self.resources = resources
    }

    mutating func note(_ text: String) {
        notes.append(text)
    }

    /// Performs a command; returns the item that it appends.
    mutating func perform(_ command: [String]) async throws -> Append? {
        let words = Array(command.dropFirst())
        switch command[0] {
        case "append": return Append(url: url(words[0]), name: name(words), isCaught: false)
        case "try-append": return Append(url: url(words[0]), name: name(words), isCaught: true)
        case "sleep": try await Task.sleep(for: .milliseconds(number(words[0])))
        case "sleep-on": sleepOn(number(words[0]))
        case "wait": try wait(for: url(words[0]))
        case "progress":
            progress.totalUnitCount = Int64(number(words[1]))
            progress.completedUnitCount = Int64(number(words[0]))
        case "describe": describe()
        case "identity": note("identity \(Attempts.identity())")
        case "new-progress": state.progressForm = .new
        case "copied-progress": state.progressForm = .copied
        case "notes": try write(notes.joined(separator: "\n"), to: words[0])
        case "write": try write(words.dropFirst().joined(separator: " "), to: words[0])
        case "fill": try write(String(repeating: "x", count: number(words[1])), to: words[0])
        case "directory": mkdir(url(words[0]).path, 0o755)
        case "fifo": mkfifo(url(words[0]).path, 0o600)
        case "move": try FileManager.default.moveItem(at: url(words[0]), to: url(words[1]))
        case "link": try FileManager.default.linkItem(at: url(words[0]), to: url(words[1]))
        case "remove": try FileManager.default.removeItem(at: url(words[0]))
        case "strip":
            let directory = url(words[0])
            let path = directory.appending(path: "data.bin").path()
            note("strip \(words[0]) \(path.replacing(directory.path(), with: ""))")
        case "look": look(at: words[0])
        case "inode":
            let attributes = try FileManager.default.attributesOfItem(atPath: url(words[0]).path)
            note("inode \(attributes[.systemFileNumber] ?? "none")")
        case "start":
            note("start \(words[0]) \(url(words[0]).startAccessingSecurityScopedResource())")
        case "stop": url(words[0]).stopAccessingSecurityScopedResource()
        case "grants":
            let grants = GrantedResource.all.map { "\($0.name) \($0.isWritable)" }
            note("grants \(grants.joined(separator: ", "))")
        case "bookmark": try url(words[0]).bookmarkData().write(to: url(words[1]))
        case "try-bookmark":
            do {
                _ = try url(words[0]).bookmarkData()
            } catch let error as CocoaError {
                note("try-bookmark \(words[0]) CocoaError \(error.errorCode)")
            }
        case "resolve": try resolve(words[0])
        case "read": note("read \(words[0]) \(Attempts.read(url(words[0]).path))")
        case "attempt": note("attempt \(words.joined(separator: " ")) \(attempt(words))")
        default:
            if try Occupation.perform(command[0], words, with: progress, url) { return nil }
            try await end(command[0], words)
        }
        return nil
    }

    /// Notes which ways to a directory and into it work.
    private mutating func look(at path: String) {
        let (url, files) = (url(path), FileManager.default)
        let urls = [
            ("encoded", url), ("standardized", url.standardizedFileURL),
            ("resolved", url.resolvingSymlinksInPath()),
        ]
        var ways = urls.filter { files.fileExists(atPath: $0.1.path()) }.map(\.0)
        let enumerator = files.enumerator(at: url, includingPropertiesForKeys: nil)
        let enumerated = enumerator?.allObjects ?? []
        let listed = try? files.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        let reached = enumerated.compactMap { $0 as? URL }
            .filter { files.fileExists(atPath: $0.path()) }
        let counts = [enumerated.count, reached.count, listed?.count ?? 0]
        ways += counts.map(String.init)
        ways.append("\(files.subpaths(atPath: url.path())?.count ?? 0)")
        note("look \(path) \(ways.joined(separator: " "))")
    }

    /// Notes the result of a bookmark.
    private mutating func resolve(_ bookmark: String) throws {
        var isStale = false
        let data = try Data(contentsOf: url(bookmark))
        let resolved = try URL(resolvingBookmarkData: data, bookmarkDataIsStale: &isStale)
        let opens = resolved.startAccessingSecurityScopedResource()
        self.resolved = resolved
        note("resolve \(resolved.lastPathComponent) stale \(isStale) opens \(opens)")
    }

    private mutating func describe() {
        note("identifier \(container.bundleIdentifier)")
        note("root \(container.containerRootDirectory.path)")
        note("documents \(container.documentsDirectory.path)")
        note("support \(container.applicationSupportDirectory.path)")
    }

    /// Performs a command by which the extension goes wrong.
    private mutating func end(_ command: String, _ words: [String]) async throws {
        switch command {
        case "print":
            FileHandle.standardError.write(Data((words.joined(separator: " ") + "\n").utf8))
        case "flood":
            let line = Data((words.dropFirst().joined(separator: " ") + "\n").utf8)
            let lines = Data(repeatElement(line, count: 1000).joined())
            for _ in 0..<number(words[0]) { FileHandle.standardError.write(lines) }
        case "take": taken = [UInt8](repeating: 1, count: number(words[0]))
        case "say": print(words.joined(separator: " "))
        case "say-on": print(words.joined(separator: " "), terminator: "")
        case "exit": exit(Int32(number(words[0])))
        case "kill":
            _ = kill(getpid(), Int32(number(words[0])))
            // It may end another thread.
            usleep(2_000_000)
        case "crash": fatalError(words.joined(separator: " "))
        case "out-of-band":
            var byte: UInt8 = 120
            // The session's socket, by the number that a host gives it.
            guard send(3, &byte, 1, CInt(MSG_OOB)) == 1 else {
                throw ScriptError("no byte was sent out of band")
            }
        case "daemon": note("daemon \(Attempts.startDaemon(marker: words[0]))")
        case "throw":
            throw NSError(
                domain: words[0],
                code: number(words[1]),
                userInfo: [
                    NSLocalizedDescriptionKey: words.dropFirst(2).joined(separator: " ")
                ]
            )
        case "throw-all": throw ScriptedFailure.everything
        case "throw-localized": throw ScriptedFailure.tooOld
        case "throw-cancellation": throw CancellationError()
        default: throw ScriptError("no command is called \(command)")
        }
    }

    private func attempt(_ words: [String]) -> String {
        switch words[0] {
        case "write": Attempts.write(url(words[1]).path)
        case "list": Attempts.list(url(words[1]).path)
        case "chmod": Attempts.chmod(url(words[1]).path)
        case "keep-mode": Attempts.keepMode(url(words[1]).path)
        case "utimes": Attempts.setTimes(url(words[1]).path)
        case "chown": Attempts.chown(url(words[1]).path)
        case "stat": Attempts.status(url(words[1]).path)
        case "readlink": Attempts.readLink(url(words[1]).path)
        case "processes": Attempts.startMany(number(words[1]))
        case "connect": Attempts.connect()
        case "signal": Attempts.signal(Int32(number(words[1])))
        case "end-supervisor": Attempts.endSupervisor()
        default: "unknown"
        }
    }

    private func url(_ path: String) -> URL {
        if path.hasPrefix("/") { return URL(filePath: path) }
        if path == "." { return container.containerRootDirectory }
        guard let colon = path.firstIndex(of: ":") else {
            return container.containerRootDirectory.appending(path: path)
        }
        let rest = String(path[path.index(after: colon)...])
        switch path[..<colon] {
        case "relative": return URL(filePath: rest, relativeTo: container.documentsDirectory)
        case "encoded":
            return URL(filePath: container.documentsDirectory.appending(path: rest).path())
        case "escaped":
            let documents = container.documentsDirectory.absoluteString
            return URL(string: documents + "/" + rest) ?? URL(filePath: "/nowhere")
        case "documents": return container.documentsDirectory
        case "resolved": return resolved ?? URL(filePath: "/nowhere")
        case "tmp": return temporaryDirectory.appending(path: rest)
        case "grant":
            let parts = rest.split(separator: "/", maxSplits: 1).map(String.init)
            let grant = GrantedResource.all.first { $0.name == parts[0] }
            let url = grant?.url ?? URL(filePath: "/nowhere")
            return parts.count > 1 ? url.appending(path: parts[1]) : url
        case "in": return (resources ?? URL(filePath: "/nowhere")).appending(path: rest)
        default:
            let parts = rest.split(separator: "/", maxSplits: 1).map(String.init)
            let group = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: parts[0]
            )
            let directory = group ?? URL(filePath: "/nowhere")
            return parts.count > 1 ? directory.appending(path: parts[1]) : directory
        }
    }

    /// A directory of this run's own, since extensions in one process share the temporary directory.
    private var temporaryDirectory: URL {
        let name = container.containerRootDirectory.path.replacing("/", with: "-")
        return FileManager.default.temporaryDirectory.appending(path: "scripted\(name)")
    }

    /// Makes the temporary directory.
    func begin() throws {
        try FileManager.default.createDirectory(
            at: temporaryDirectory,
            withIntermediateDirectories: false
        )
    }

    /// Removes the temporary directory.
    func end() {
        try? FileManager.default.removeItem(at: temporaryDirectory)
    }

    private func name(_ words: [String]) -> String? {
        guard words.count > 1, words[1] == "as" else { return nil }
        return words.count > 2 ? words[2] : ""
    }

    private func number(_ word: String) -> Int { Int(word) ?? 0 }

    /// Sleeps even if the task is cancelled.
    private func sleepOn(_ milliseconds: Int) {
        usleep(UInt32(milliseconds) * 1_000)
    }

    /// Waits for a file that the test makes.
    private func wait(for url: URL) throws {
        for _ in 0..<120_000 {
            if FileManager.default.fileExists(atPath: url.path) { return }
            usleep(5_000)
        }
        throw ScriptError("nobody made \(url.path)")
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: url(path))
    }
}
