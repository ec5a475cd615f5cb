internal import MigrationArchive
internal import MigrationSystem

extension ItemArchiver {
    /// Appends the files of `run` but those that `reason` returns a reason for.
    ///
    /// They are read in batches, the next ones by other threads while one is being archived.
    func append(
        _ run: FileRun,
        leavingOut reason: (ByteString, _ isDirectory: Bool) -> Omission.Reason?
    ) throws {
        var next = run.range.lowerBound
        var ahead: [FileBatch] = []
        defer { if !ahead.isEmpty { readAhead.dropWaiting() } }
        while next < run.range.upperBound || !ahead.isEmpty {
            while next < run.range.upperBound, ahead.count < FileReadAhead.depth {
                let batch = readAhead.takeBatch()
                batch.fill(from: run, at: &next, leavingOut: reason)
                ahead.append(batch)
                // A batch that is the only one is read here and now.
                let isAlone = ahead.count == 1 && next == run.range.upperBound
                if isAlone { batch.read(cancellation) } else { readAhead.submit(batch) }
            }
            let batch = ahead[0]
            readAhead.finishReading(batch)
            for file in batch.files {
                try cancellation.check()
                try append(file, of: batch, in: run)
            }
            ahead.removeFirst()
            readAhead.putBack(batch)
        }
    }

    private func append(_ file: FileBatch.File, of batch: FileBatch, in run: FileRun) throws {
        if let reason = file.reason {
            let status = try run.item(at: file.index).status
            return omit(file.path.bytes, reason, bytes: status.kind == .regular ? status.size : 0)
        }
        try Self.checkIsRepresentable(file.path)
        switch file.reading {
        case .read(let status, let attributes, let range):
            if try appendFurtherName(status, at: file.path) { return }
            try append(batch.content(range).span, attributes, of: status, at: file.path)
        case .opened(let opened, let status):
            if try appendFurtherName(status, at: file.path) { return }
            try appendContent(of: opened, status, at: file.path)
        case .changed:
            throw Self.changed(file.path)
        case .none:
            let item = try run.item(at: file.index)
            guard item.status.kind == .regular else { throw Self.changed(file.path) }
            try append(item)
        }
    }
}
