import TernLedger
import TernStorage

/// The changes that move a checkpoint over several batches: of each key the newest value.
struct CheckpointFold {
  private var rows = PendingRows()
  /// The streams that the batches write to.
  private(set) var streams: Set<UInt128> = []
  /// The version behind the last batch.
  private(set) var version: Version = 0
  private var bytes = 0
  private let plantedFault: PlantedFault?

  init(_ plantedFault: PlantedFault? = nil) { self.plantedFault = plantedFault }

  /// True when the changes are to be made before more are added.
  var isFull: Bool {
    bytes > SharedLedgerLimits.checkpointBytes
      || rows.puts.count + rows.removed.count + streams.count
        > SharedLedgerLimits.checkpointChanges
  }

  /// Adds the next batch.
  mutating func add(_ batch: ReplicatedBatch) {
    for commit in batch.commits {
      rows.apply(commit.mutations)
      for case .put(let key, let value) in commit.mutations { bytes += key.count + value.count }
    }
    streams.formUnion(batch.streams)
    version = batch.versionAfter
  }

  /// Returns the changes in portions that a log takes in one call each. The version is in the last.
  ///
  /// - Parameter rowOf: Returns the row of a stream's state, at the last batch or later.
  func portions(
    _ rowOf: (UInt128) throws(StorageError) -> Row?
  ) throws(StorageError) -> [[Mutation]] {
    var portions: [[Mutation]] = [[]]
    var bytes = 0
    func add(_ mutation: Mutation, _ size: Int) {
      let isFull =
        portions[portions.count - 1].count >= SharedLedgerLimits.checkpointChanges
        || bytes > 0 && bytes + size > SharedLedgerLimits.checkpointBytes * 4
      if isFull {
        portions.append([])
        bytes = 0
      }
      portions[portions.count - 1].append(mutation)
      bytes += size
    }
    for range in rows.removed where plantedFault != .forgetsRemovals {
      add(.remove(range), range.lower.count + (range.upper?.count ?? 0))
    }
    for row in rows.puts {
      add(.put(key: row.key, value: row.value), row.key.count + row.value.count)
    }
    for stream in streams.sorted() where plantedFault != .forgetsWriters {
      if let row = try rowOf(stream) {
        add(.put(key: row.key, value: row.value), row.key.count + row.value.count)
      } else {
        add(.remove(KeyRange(only: EmbeddedLedger.streamKey(stream))), 17)
      }
    }
    add(.put(key: CheckpointVersion.key, value: CheckpointVersion.value(version)), 9)
    return portions
  }
}

/// The row of a checkpoint that says which version the state has.
enum CheckpointVersion {
  static let key = LedgerKey.replica
  /// The value of the row while an import into the checkpoint is not finished.
  static let partial: [UInt8] = [0]

  static func value(_ version: Version) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: version)
    return writer.bytes
  }

  static func version(of row: Row) -> Version? {
    guard row.key == key else { return nil }
    var reader = ByteReader(row.value)
    return reader.bigEndian(Version.self)
  }
}
