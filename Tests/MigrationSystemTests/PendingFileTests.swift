import Glibc
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct PendingFileTests {
    private func write(_ bytes: [UInt8], to file: borrowing PendingFile) throws {
        try file.file.descriptor.writeAll(bytes.span)
    }

    @Test func `appears under its name only when it is complete`() throws {
        let place = try Place()
        let file = try PendingFile.make(at: place.path("a"), replacesExisting: false)
        try write([1, 2], to: file)
        #expect(try place.names() == [[UInt8]("a.partial".utf8)])
        #expect(try place.directory.status(of: [UInt8]("a.partial".utf8)).permissions == 0o600)
        try file.commit()
        #expect(try place.names() == [[0x61]])
        #expect(try place.content("a") == [1, 2])
    }

    @Test func `refuses a name that is its own temporary one`() throws {
        let place = try Place()
        let name = String(repeating: "n", count: 240) + ".partial"
        try place.makeFile(name, [7])
        let path = place.path(name)
        let error = systemError {
            let file = try PendingFile.make(at: path, replacesExisting: true)
            file.discard()
        }
        #expect(error?.code == ENAMETOOLONG)
        #expect(try place.content(name) == [7])
    }

    @Test func `leaves nothing where it is discarded`() throws {
        let place = try Place()
        try place.makeFile("a", [7])
        let file = try PendingFile.make(at: place.path("a"), replacesExisting: true)
        try write([1], to: file)
        file.discard()
        #expect(try place.names() == [[0x61]])
        #expect(try place.content("a") == [7])
    }

    @Test func `replaces a file only on request`() throws {
        let place = try Place()
        try place.makeFile("a", [7])
        let path = place.path("a")
        #expect(
            systemError {
                let file = try PendingFile.make(at: path, replacesExisting: false)
                file.discard()
            }?.isExisting == true
        )
        #expect(try place.names() == [[0x61]])
        let file = try PendingFile.make(at: path, replacesExisting: true)
        try write([1], to: file)
        try file.commit()
        #expect(try place.content("a") == [1])
    }

    @Test func `keeps a file that came while it was written`() throws {
        let place = try Place()
        let file = try PendingFile.make(at: place.path("a"), replacesExisting: false)
        try place.makeFile("a", [7])
        do {
            try file.commit()
            Issue.record("the file was replaced")
        } catch {
            #expect(error.isExisting)
        }
        #expect(try place.names() == [[0x61]])
        #expect(try place.content("a") == [7])
    }

    @Test func `is busy while another one is written`() throws {
        let place = try Place()
        let path = place.path("a")
        let first = try PendingFile.make(at: path, replacesExisting: false)
        try write([1], to: first)
        let error = systemError {
            let second = try PendingFile.make(at: path, replacesExisting: true)
            second.discard()
        }
        #expect(error?.isBusy == true)
        try first.commit()
        #expect(try place.content("a") == [1])
    }

    @Test func `belongs to one of many who begin it at the same moment`() throws {
        let path = try Place().path("a")
        let partial = try Place().path("a.partial")
        let strangers = Monitor<[String]>([])
        let threads = try WorkerThreads(count: 4, named: "writers") {
            for number in 0..<1000 {
                do {
                    let file = try PendingFile.make(
                        at: path,
                        replacesExisting: true,
                        resumes: number.isMultiple(of: 3)
                    )
                    let named = try FileDescriptor.statusIfPresent(atPath: partial)
                    if try named?.identity != file.file.descriptor.status().identity {
                        strangers.withLock { $0.append("another file has the name") }
                    }
                    if number.isMultiple(of: 2) { file.discard() } else { file.leave() }
                } catch {
                    let isBusy = (error as? SystemError)?.isBusy == true
                    if !isBusy { strangers.withLock { $0.append("\(error)") } }
                }
            }
        }
        threads.join()
        let found = strangers.withLock { $0 }
        #expect(found == [])
    }

    @Test func `takes over what a dead process left`() throws {
        let place = try Place()
        try place.makeFile("a.partial", [9, 9, 9, 9])
        let file = try PendingFile.make(at: place.path("a"), replacesExisting: false)
        try write([1], to: file)
        try file.commit()
        #expect(try place.names() == [[0x61]])
        #expect(try place.content("a") == [1])
    }

    @Test func `goes on with a file of this user that has one name, and makes it private`() throws {
        let place = try Place()
        try place.makeFile("a.partial", [9, 9])
        try place.directory.setPermissions(0o644, of: [UInt8]("a.partial".utf8))
        let file = try PendingFile.make(
            at: place.path("a"),
            replacesExisting: false,
            resumes: true
        )
        #expect(try file.file.descriptor.status().size == 2)
        #expect(try file.file.descriptor.status().permissions == 0o600)
        file.leave()
        try place.path("a.partial").rename(to: place.path("other"))
        try place.path("b.partial").makeHardLink(to: place.path("other"))
        let another = try PendingFile.make(
            at: place.path("b"),
            replacesExisting: false,
            resumes: true
        )
        #expect(try another.file.descriptor.status().size == 0)
        another.discard()
        #expect(try place.content("other") == [9, 9])
    }

    @Test func `never writes through a link in its way`() throws {
        let place = try Place()
        try place.makeFile("victim", [7])
        try place.directory.makeSymbolicLink(
            [UInt8]("a.partial".utf8),
            to: [UInt8]("victim".utf8)
        )
        let path = place.path("a")
        #expect(
            systemError {
                let file = try PendingFile.make(at: path, replacesExisting: false)
                file.discard()
            } != nil
        )
        #expect(try place.content("victim") == [7])
    }

    @Test func `takes names of 255 bytes`() throws {
        let place = try Place()
        let name = String(repeating: "n", count: 255)
        let file = try PendingFile.make(at: place.path(name), replacesExisting: false)
        try file.commit()
        #expect(try place.names() == [[UInt8](name.utf8)])
    }

    @Test func `says that its directory is missing`() throws {
        let place = try Place()
        let path = place.path / "no" / "a"
        let error = systemError {
            let file = try PendingFile.make(at: path, replacesExisting: false)
            file.discard()
        }
        #expect(error?.isMissing == true)
    }
}

@Suite(.scratchDirectory)
struct DirectoryLockTests {
    @Test func `is shared with others who share it and with nobody else`() throws {
        let place = try Place()
        let path = place.path
        let first = try FileDescriptor.open(path, .directory)
        let second = try FileDescriptor.open(path, .directory)
        let third = try FileDescriptor.open(path, .directory)
        try first.lock(.shared)
        try second.lock(.shared)
        do {
            try third.lock(.exclusive)
            Issue.record("a shared lock was had alone")
        } catch {
            #expect(error.isBusy)
        }
        try first.close()
        try second.close()
        try third.lock(.exclusive)
        let fourth = try FileDescriptor.open(path, .directory)
        do {
            try fourth.lock(.shared)
            Issue.record("a lock was shared with who has it alone")
        } catch {
            #expect(error.isBusy)
        }
    }

    @Test func `ends with the last copy of the descriptor`() throws {
        let path = try Place().path
        let first = try FileDescriptor.open(path, .directory)
        try first.lock(.exclusive)
        let copy = try first.duplicate()
        try first.close()
        let other = try FileDescriptor.open(path, .directory)
        do {
            try other.lock(.exclusive)
            Issue.record("the lock ended too early")
        } catch {
            #expect(error.isBusy)
        }
        try copy.close()
        // A child that another test has just forked holds a copy until it runs its program.
        while true {
            do {
                return try other.lock(.exclusive)
            } catch {
                try #require(error.isBusy)
                usleep(1000)
            }
        }
    }
}
