/// Makes one kind of tree, the same on every run.
protocol TreeMaker {
    /// Fills the empty directory `path`.
    func make(at path: String) throws(BenchmarkError)
}
