extension RandomAccessCollection {
    /// The first index whose element meets `condition`, which all elements after it meet too; the
    /// end if none does.
    @inlinable
    package func partitionPoint(where condition: (Element) -> Bool) -> Index {
        var (start, count) = (startIndex, count)
        while count > 0 {
            let half = count / 2
            let middle = index(start, offsetBy: half)
            if condition(self[middle]) {
                count = half
            } else {
                start = index(after: middle)
                count -= half + 1
            }
        }
        return start
    }
}
