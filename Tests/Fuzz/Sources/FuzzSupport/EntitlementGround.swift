internal import Foundation
@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationCore
@testable internal import MigrationHosting

/// Places in memory with property lists that name the owner of a container.
public struct EntitlementGround: Sendable {
    private static let entitled = "entitlement of one app"
    private static let recorded = "container that says whose it is"
    private static let bundle = "bundle that says whose it is"

    /// The milestones that the seeds must reach.
    public static let milestones = [entitled, recorded, bundle]

    private let root: URL
    private let known: MigrationDataContainer

    /// Makes the places of this process.
    public init() {
        root = URL(filePath: FuzzTarget.groundPath + "/entitlement")
        do {
            for directory in ["plain", "container", "bundle/AppData"] {
                try FileManager.default.createDirectory(
                    at: root.appending(path: directory),
                    withIntermediateDirectories: true
                )
            }
            known = try MigrationDataContainer(at: root.appending(path: "plain"))
        } catch {
            fatalError("no container: \(error)")
        }
    }

    /// Reads a list as an extension's entitlements, a container's metadata or a bundle's.
    ///
    /// Bits 0 and 1 of the first byte say which; bit 2, that the rest is objects of a binary list.
    public func read(_ bytes: [UInt8]) throws {
        let mode = bytes.first ?? 0
        let material = [UInt8](bytes.dropFirst())
        let list = Data(mode & 4 == 0 ? material : BinaryPropertyList.list(of: material))
        switch mode & 3 {
        case 0, 1: try readEntitlement(list)
        case 2:
            let name = ".com.apple.mobile_container_manager.metadata.plist"
            try readContainer("container", list, in: name, Self.recorded)
        default: try readContainer("bundle", list, in: "AppDataInfo.plist", Self.bundle)
        }
    }

    private func readEntitlement(_ list: Data) throws {
        let file = root.appending(path: "entitlements")
        try list.write(to: file)
        var appExtension = MigrationExtension.executable(at: file)
        appExtension.entitlements = file
        do {
            _ = try Entitlement.check(appExtension, for: known)
            Milestones.reach(Self.entitled)
        } catch let problem as EntitlementProblem {
            _ = problem.error.description
        }
    }

    private func readContainer(
        _ directory: String,
        _ list: Data,
        in name: String,
        _ milestone: String
    ) throws {
        let place = root.appending(path: directory)
        try list.write(to: place.appending(path: name))
        let container = try MigrationDataContainer(at: place)
        if container.knownIdentifier != nil { Milestones.reach(milestone) }
    }
}
