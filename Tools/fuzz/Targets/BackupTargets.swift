import TernLedger
import TernStorage
import TernStorageMemory

extension FuzzTarget {
  /// A backup: to verify, and to restore when it is whole. The first byte says whether its sections
  /// get new checksums, so that damage reaches what lies behind these.
  static let backups = FuzzTarget(
    "backups", samples: backupSamples, words: ["tern backup\n", "H", "R", "X", "E"]
  ) { input in
    guard let kind = input.first else { return nil }
    let rest = Array(input.dropFirst())
    let bytes = kind & 1 == 0 ? rest : resealed(rest)
    guard let index = verified(bytes) else { return nil }
    if BackupIndex(index.encode()) != index { return "its index is not read as it was written" }
    let store = MemoryStore()
    do throws(BackupError) {
      var restorer = try BackupRestorer(into: store)
      try restorer.write(reading(bytes))
      try restorer.finish()
    } catch {
      switch error {
      // An increment is refused without its base; keys of a store are bounded.
      case .wrongBase, .storage: return nil
      default: return "it verifies, and is not restored: \(error)"
      }
    }
    return kind & 1 == 0 ? nil : backedUpAgain(store)
  }

  /// Backs up and verifies what was restored, if there is a ledger in it.
  private static func backedUpAgain(_ store: MemoryStore) -> String? {
    guard let again = try? backup(of: store) else { return nil }
    return verified(again) == nil ? "a backup of what was restored does not verify" : nil
  }

  // MARK: - Bytes

  private static func reading(
    _ bytes: [UInt8]
  ) -> (Int) throws(BackupError) -> [UInt8] {
    var rest = bytes[...]
    return { count throws(BackupError) in
      let piece = Array(rest.prefix(count))
      rest = rest.dropFirst(piece.count)
      return piece
    }
  }

  private static func verified(_ bytes: [UInt8]) -> BackupIndex? {
    do throws(BackupError) { return try BackupReader.verify(reading(bytes)).index } catch {
      return nil
    }
  }

  /// The same sections with checksums that fit them.
  ///
  /// Source: Docs/Formats/backup.md, sections 1 and 5.
  private static func resealed(_ bytes: [UInt8]) -> [UInt8] {
    let magicBytes = 13
    var sealed = Array(bytes.prefix(magicBytes))
    var rest = bytes.dropFirst(magicBytes)
    var checksum: UInt64 = 0
    while rest.count >= 13 {
      let head = Array(rest.prefix(13))
      let count = head[1..<5].reduce(0) { $0 << 8 | Int($1) }
      let payload = Array(rest.dropFirst(13).prefix(count))
      rest = rest.dropFirst(13 + payload.count)
      checksum = Self.checksum(head[0], payload, after: checksum)
      var writer = ByteWriter()
      writer.append(head[0])
      writer.append(bigEndian: UInt32(payload.count))
      writer.append(bigEndian: checksum)
      sealed += writer.bytes + payload
    }
    return sealed + rest
  }

  private static func checksum(
    _ kind: UInt8, _ payload: [UInt8], after previous: UInt64
  ) -> UInt64 {
    [UInt8(0), 1].reduce(0) { sum, half in
      var seed = ByteWriter()
      seed.append(half)
      seed.append(kind)
      seed.append(bigEndian: previous)
      // Safe: both buffers live through the call, which keeps no pointer.
      let part = unsafe seed.bytes.withUnsafeBytes { seed in
        unsafe payload.withUnsafeBytes { unsafe RecordChecksum.of(key: seed, value: $0) }
      }
      return sum << 32 | UInt64(part)
    }
  }

  // MARK: - Samples

  private static func backup(
    of store: MemoryStore, on base: BackupIndex? = nil
  ) throws(LedgerError) -> [UInt8] {
    var bytes: [UInt8] = []
    _ = try EmbeddedLedger.backUp(store, at: 1_000, on: base) { piece throws(StorageError) in
      bytes += piece
    }
    return bytes
  }

  private static var backupSamples: [[UInt8]] {
    let store = MemoryStore()
    do {
      let ledger = try EmbeddedLedger(store: store) { 0 }
      func write(_ numbers: Range<UInt8>, _ value: UInt8) throws {
        let mutations = numbers.map {
          Mutation.put(key: [0x20, 7, $0], value: [value, value, $0])
        }
        _ = try ledger.commit([Commit(mutations: mutations, record: [value])])
      }
      try write(0..<40, 1)
      let whole = try backup(of: store)
      try write(10..<12, 2)
      let increment = try backup(of: store, on: verified(whole))
      return [whole, increment].flatMap { [[0] + $0, [1] + $0] }
    } catch { preconditionFailure("a store in memory is backed up: \(error)") }
  }
}
