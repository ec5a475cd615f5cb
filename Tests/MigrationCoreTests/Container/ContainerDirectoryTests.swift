import Foundation
import Glibc
import MigrationCore
import TestSupport
import Testing

/// The container's own directory, which belongs to the place and is in no archive.
@Suite(.scratchDirectory, .injectingFaults)
struct ContainerDirectoryTests {
    private struct State: Equatable {
        let permissions: mode_t
        let owner: uid_t
        let group: gid_t
        let attributes: [String: [UInt8]]
        let inode: ino_t
        /// The owners of the metadata, the bookkeeping and the status, if they exist.
        let owners: [BytePath: uid_t]

        static let metadataName: BytePath = ".com.apple.mobile_container_manager.metadata.plist"

        init(_ places: Places) throws {
            var status = stat()
            guard places.destination.withPointer({ lstat($0, &status) }) == 0 else {
                throw CallFailure("lstat")
            }
            permissions = status.st_mode & 0o7777
            (owner, group, inode) = (status.st_uid, status.st_gid, status.st_ino)
            let node = try TreeSnapshot(of: places.root).nodes["destination"]
            attributes = try #require(node).attributes
            var owners: [BytePath: uid_t] = [:]
            for name in [Self.metadataName, ".migration", ".migration/import-status.json"] {
                let path = places.destination / name
                guard path.withPointer({ lstat($0, &status) }) == 0 else { continue }
                owners[name] = status.st_uid
            }
            self.owners = owners
        }

        func isLike(_ other: State) -> Bool {
            permissions == other.permissions && owner == other.owner && group == other.group
                && attributes == other.attributes
                && owners[Self.metadataName] == other.owners[Self.metadataName]
        }
    }

    /// Makes a destination that differs from any directory that an import would make.
    private func makeDestination(_ places: Places) throws -> State {
        try places.makeOldDestination()
        let metadata = places.destination / State.metadataName
        try metadata.write("<plist version=\"1.0\"><dict/></plist>")
        for path in [places.destination, metadata] where geteuid() == 0 {
            guard path.withPointer({ chown($0, 1000, 1001) }) == 0 else {
                throw CallFailure("chown")
            }
        }
        try places.destination.setMode(0o2751)
        try places.destination.setAttribute("user.place", [1, 2, 3])
        return try State(places)
    }

    @Test(arguments: [false, true])
    func `keeps owner, permissions and attributes`(_ withoutExchange: Bool) async throws {
        let places = try await Places.withSmallArchive()
        let old = try makeDestination(places)
        let run = try places.runImport(
            injector: FaultInjector(.nothing),
            withoutExchange: withoutExchange
        )
        #expect(run.end == .exited(0))
        let new = try State(places)
        #expect(new.isLike(old), "\(new), not \(old)")
        #expect(new.owners.count == 3)
        #expect(new.owners.values.allSatisfy { $0 == old.owner })
        #expect((new.inode == old.inode) == withoutExchange)
    }

    @Test(arguments: [("fsetxattr", EPERM), ("fsetxattr", ENOSPC), ("flistxattr", E2BIG)])
    func `stays itself where no other can be made like it`(
        _ call: String,
        _ code: Int32
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try makeDestination(places)
        guard !old.attributes.isEmpty else { try Test.cancel("attributes can't be set here") }
        let injector = FaultInjector(.error(code), at: call, 1...Int(Int32.max))
        let run = try places.runImport(injector: injector, withoutExchange: false)
        #expect(run.end == .exited(0))
        #expect(run.faults > 0)
        let new = try State(places)
        #expect(new.isLike(old) && new.inode == old.inode, "\(new), not \(old)")
        let expected = try TreeSnapshot(of: places.source)
        let imported = try TreeSnapshot(
            of: places.destination,
            excluding: [".migration", State.metadataName]
        )
        #expect(imported.differences(from: expected) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
    }
}
