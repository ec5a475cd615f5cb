import AppMigrationKit
import Foundation
import NotesModel

struct NotesMigration: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int { 0 }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let granted = GrantedResource.all.first?.url
        _ = granted?.startAccessingSecurityScopedResource()
        try await archiver.appendItem(at: appContainer.documentsDirectory)
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let version = request.sourceVersion
        guard version == "1.0" else { throw MigrationError.incompatibleVersion(version) }
        let record = ImportRecord()
        let layout = ContainerLayout.flat
        print(record.count, layout)
    }
}

extension NotesMigration: ResumeActivityExporting {
    var resumeActivity: ResumeActivity? { try? ResumeActivity(activityType: "com.example.edit") }
}

func noticeImport() {
    if case .failure(let error)? = MigrationStatus.importStatus { print(error) }
    _ = MigrationStatus.takeResumeActivity()
    MigrationStatus.clearImportStatus()
}

func test(_ container: MigrationDataContainer) async throws {
    let tester = try await AppMigrationTester(platform: .android)
    let result = try await tester.exportController.exportResources()
    try await tester.importController.importResources(from: result.extractedResourcesURL)
    print(await tester.findings.map(\.message))
}
