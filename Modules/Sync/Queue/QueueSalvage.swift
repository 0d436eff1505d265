package import TernStorage

/// A row of the write queue that cannot be read, or makes no sense.
public struct DamagedRecord: Hashable, Sendable, Identifiable {
  /// The place it had in the queue; 0 when even that cannot be told.
  public let id: UInt64
  /// The remaining bytes, as they are on the disk; nothing may be concluded from them.
  public let bytes: [UInt8]

  package init(id: UInt64, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }
}

/// The contents of a queue's store, readable even when the queue does not open. Reading changes
/// nothing.
package struct QueueSalvage: Sendable {
  /// The writer id and the position of the queue; `nil` when that record is corrupt or nothing was
  /// ever queued.
  let header: QueueCodec.Header?
  /// The records that can be read, in order.
  package let writes: [QueuedWrite]
  /// Those that cannot, in order; they keep the queue closed.
  package let damaged: [DamagedRecord]
  /// Damaged ones of earlier times that keep nothing closed any more.
  package let setAside: [DamagedRecord]
  /// The keys of ``damaged``.
  let damagedKeys: [[UInt8]]

  /// True when the queue's bookkeeping record is corrupt. It is then unknown which of the pending
  /// writes the server has already.
  package let hasLostClient: Bool
  /// True when the queue opens as it is.
  package var isWell: Bool { !hasLostClient && damaged.isEmpty }

  /// Looks into the store of a queue.
  ///
  /// - Parameters:
  ///   - user: The user of the queue; empty for the queue without one.
  ///   - understands: Whether a record that can be read also makes sense to its owner.
  /// - Throws: ``QueueError/storage(_:)``, and ``QueueError/unreadable(reason:)`` for the queue of
  ///   a later version.
  package init(
    of store: any OrderedStore, user: String = "", understands: (QueuedWrite) -> Bool
  ) throws(QueueError) {
    let keys = QueueKeys(user: user)
    do {
      self = try store.read { view throws(StorageError) in
        Result { () throws(QueueError) in try QueueSalvage(keys, in: view, understands) }
      }.get()
    } catch let error as StorageError {
      throw .storage(error)
    } catch let error as QueueError {
      throw error
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  private init(
    _ keys: QueueKeys, in view: borrowing Snapshot, _ understands: (QueuedWrite) -> Bool
  ) throws(QueueError) {
    do throws(QueueError) {
      header = try QueueCodec.header(keys, in: view)
      hasLostClient = false
    } catch .damagedHeader {
      header = nil
      hasLostClient = true
    }
    var reading = SalvageReading(keys: keys, header: header)
    do throws(StorageError) {
      for row in try RowsAroundDamage(keys.rows, in: view).rows {
        reading.take(row, understands)
      }
      for index in reading.damaged.indices where reading.damaged[index].bytes == nil {
        let key = reading.damaged[index].key
        reading.damaged[index].bytes = try view.damagedValue(for: key) ?? []
      }
      setAside = try view.scan(keys.setAside).map { row in
        DamagedRecord(id: keys.anyID(fromKey: row.key), bytes: row.value)
      }
    } catch {
      throw .storage(error)
    }
    writes = reading.writes
    damagedKeys = reading.damaged.map(\.key)
    damaged = reading.damaged.map {
      DamagedRecord(id: keys.anyID(fromKey: $0.key), bytes: $0.bytes ?? [])
    }
  }
}

/// Sorts the rows of a queue into those that make sense where they are and those that do not.
private struct SalvageReading {
  let keys: QueueKeys
  let header: QueueCodec.Header?
  var writes: [QueuedWrite] = []
  /// By key; the bytes are `nil` when the store has not told them.
  var damaged: [(key: [UInt8], bytes: [UInt8]?)] = []
  private var lastSequence: UInt64?

  init(keys: QueueKeys, header: QueueCodec.Header?) {
    self.keys = keys
    self.header = header
  }

  mutating func take(
    _ row: RowsAroundDamage.Found, _ understands: (QueuedWrite) -> Bool
  ) {
    guard let value = row.value else { return damaged.append((row.key, nil)) }
    guard let id = keys.id(fromKey: row.key),
      let write = try? QueueCodec.decode(value, id: id), fits(write), understands(write)
    else { return damaged.append((row.key, value)) }
    if case .pending(let sequence) = write.state { lastSequence = sequence }
    writes.append(write)
  }

  /// Returns true when the numbers of a write are possible at its position.
  private func fits(_ write: QueuedWrite) -> Bool {
    if let header, write.id >= header.nextID { return false }
    guard case .pending(let sequence) = write.state else { return true }
    if let header, sequence >= header.nextSequence { return false }
    return lastSequence.map { $0 < sequence } ?? true
  }
}

/// All rows of a range, also those behind a damaged one.
private struct RowsAroundDamage {
  struct Found {
    let key: [UInt8]
    /// `nil` when the row's checksum is wrong.
    let value: [UInt8]?
  }

  private(set) var rows: [Found] = []

  init(
    _ range: KeyRange, in view: borrowing Snapshot
  ) throws(StorageError) {
    var rest = range
    while true {
      do throws(StorageError) {
        rows += try view.scan(rest).map { Found(key: $0.key, value: $0.value) }
        return
      } catch {
        guard case .corruptRecord(let key) = error, rest.contains(key.span) else { throw error }
        let before = KeyRange(from: rest.lower, to: key)
        rows += try view.scan(before).map { Found(key: $0.key, value: $0.value) }
        rows.append(Found(key: key, value: nil))
        rest = KeyRange(from: key + [0], to: rest.upper)
      }
    }
  }
}
