extension OrderedStore {
  /// Examines nothing below the rows: for stores without files of their own.
  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    inspection.stage = .rows(after: nil)
  }

  /// Examines the next slice of the store, about `bytes` bytes of it.
  ///
  /// Corrupt bytes are findings, not errors. Commits between two slices are allowed.
  ///
  /// - Throws: Errors that say nothing about the bytes stored, such as ``StorageError/closed``.
  public func inspect(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    switch inspection.stage {
    case .files: try inspectFiles(&inspection, bytes: bytes)
    case .rows(let key): try inspectRows(&inspection, after: key, bytes: bytes)
    case .complete: return
    }
  }

  /// Examines the whole store with every check there is.
  ///
  /// - Parameter onProgress: Called after each slice of about 1 MiB.
  /// - Returns: The completed examination.
  public func verify(
    onProgress: (StoreInspection) -> Void = { _ in }
  ) throws(StorageError) -> StoreInspection {
    var inspection = StoreInspection(isThorough: true)
    while !inspection.isComplete {
      try inspect(&inspection, bytes: 1 << 20)
      onProgress(inspection)
    }
    return inspection
  }

  /// Reads rows behind `key` until there are enough bytes, a corrupt one, or none.
  private func inspectRows(
    _ inspection: inout StoreInspection, after key: [UInt8]?, bytes: Int
  ) throws(StorageError) {
    // A key's successor is the key with a zero behind it.
    var range = KeyRange(from: key.map { $0 + [0] } ?? [])
    var walk = RowWalk(inspection, bytes: bytes)
    defer { inspection = walk.inspection }
    for isSecond in [false, true] {
      do throws(StorageError) {
        return try read { snapshot throws(StorageError) in try walk.visit(range, of: snapshot) }
      } catch {
        switch error {
        case .corruptRecord(let found) where range.contains(found.span) && !isSecond:
          // Rows come in pages: those before the corrupt one are visited again, without it.
          walk = RowWalk(inspection, bytes: bytes)
          walk.corrupt = found
          range.upper = found
        case .corruptRecord(let found):
          walk.inspection.report(.row(found), "its record does not match its checksum")
          walk.skip()
        case .corruptStore(let reason):
          walk.inspection.report(.structure, "rows behind \(walk.last.hexText): \(reason)")
          walk.skip()
        default: throw error
        }
      }
    }
  }
}

/// A walk over rows that checks their order and counts them.
private struct RowWalk {
  var inspection: StoreInspection
  private var left: Int
  /// The last key visited.
  private(set) var last: [UInt8] = []
  private var isFirst = true
  /// The corrupt row that ends the walk.
  var corrupt: [UInt8]?

  init(_ inspection: StoreInspection, bytes: Int) {
    self.inspection = inspection
    left = max(1, bytes)
  }

  /// Goes on behind the corrupt row, or gives up without one.
  mutating func skip() {
    guard let corrupt else {
      inspection.stage = .complete
      return
    }
    inspection.report(.row(corrupt), "its record does not match its checksum")
    inspection.stage = .rows(after: corrupt)
  }

  mutating func visit(
    _ range: KeyRange, of snapshot: borrowing Snapshot
  ) throws(StorageError) {
    var cursor = snapshot.cursor(over: range)
    while try cursor.next() {
      let (key, value) = (cursor.key, cursor.value)
      guard isFirst || compareBytes(last.span, key) < 0, range.contains(key) else {
        inspection.report(.row([UInt8](copying: key)), "its key is out of order")
        inspection.stage = .complete
        return
      }
      isFirst = false
      last = [UInt8](copying: key)
      inspection.rows += 1
      inspection.bytes += key.count + value.count
      left -= key.count + value.count + 1
      if left <= 0 {
        inspection.stage = .rows(after: last)
        return
      }
    }
    skip()
  }
}
