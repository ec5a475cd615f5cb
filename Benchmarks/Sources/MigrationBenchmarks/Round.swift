/// A measurement of ours and one of theirs, taken one right after the other.
struct Pair<Value> {
    let ours: Value
    let theirs: Value
}

/// One run of every command.
struct Round {
    let export: Pair<Usage>
    let restore: Pair<Usage>
    let archiveSize: Pair<Int>
}
