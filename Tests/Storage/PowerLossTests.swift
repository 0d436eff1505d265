import Foundation
import TernStorage
import TernStorageSQLite
import TernTestKit
import Testing

/// The number of states; the environment variable `TERN_POWER_LOSSES` asks for more.
private let states =
  ProcessInfo.processInfo.environment["TERN_POWER_LOSSES"].flatMap { Int($0) } ?? 40
private let seed =
  ProcessInfo.processInfo.environment["TERN_SEED"].flatMap { UInt64($0) }
  ?? UInt64.random(in: 1..<1_000_000)

/// The disk keeps any part of what was not synced: no commit is lost, and none is taken for damage.
///
/// The states are made from the files after each commit. Between two of them the log was written
/// and synced, then the database; the witness is never synced, so any earlier one may be there.
@Suite("loss of power")
struct PowerLossTests {
  private static let (database, log, witness) = ("rows.sqlite", "rows.sqlite-wal", "witness")

  /// The files and the rows after each commit; the last is a clean end.
  private static func record() throws -> [StoreImage] {
    let directory = TemporaryDirectory()
    var generator = SeededGenerator(seed: seed)
    let store = try SQLiteStore(path: directory.path)
    var images: [StoreImage] = []
    for commit in 0..<45 {
      try store.write { transaction throws(StorageError) in
        for _ in 0..<(commit % 9 == 8 ? 1 : 16) {
          let key = Array("key-\(Int.random(in: 0..<60, using: &generator))".utf8)
          let value = [UInt8](repeating: UInt8(commit), count: 10 + generator.roll(25_000))
          try transaction.put(value, for: key)
        }
      }
      images.append(
        StoreImage(
          files: try StoreImage.files(in: directory.path), rows: try store.scan(), isKilled: true))
      // What lies between the two is not recorded.
      if commit == 30 {
        try store.compact()
        images.append(
          StoreImage(
            files: try StoreImage.files(in: directory.path), rows: try store.scan(),
            isKilled: true))
      }
    }
    let rows = try store.scan()
    store.close()
    images.append(
      StoreImage(files: try StoreImage.files(in: directory.path), rows: rows, isKilled: false))
    return images
  }

  @Test("no commit is lost, and none is taken for damage")
  func losses() throws {
    let images = try Self.record()
    var generator = SeededGenerator(seed: seed)
    let directory = TemporaryDirectory()
    var counts: [String: Int] = [:]
    for _ in 0..<states {
      var next = 1 + generator.roll(images.count - 1)
      if next == 31 { next = images.count - 1 }
      let older = generator.roll(next)
      let (phase, state, isLater) = Self.state(images, next, older, &generator)
      counts[phase, default: 0] += 1
      try state.write(to: directory.path)
      do throws(StorageError) {
        let store = try SQLiteStore(path: directory.path)
        defer { store.close() }
        let rows = try store.scan()
        let isRight = rows == images[next].rows || (!isLater && rows == images[next - 1].rows)
        #expect(isRight, "\(phase) \(next), witness \(older), seed \(seed): rows are lost")
      } catch {
        Issue.record("\(phase) \(next), witness \(older), seed \(seed): \(error)")
      }
    }
    print("losses of power, seed \(seed): \(counts.sorted { $0.key < $1.key })")
  }

  /// A state of the disk on the way to image `next`, with the witness of `older`, and whether the
  /// commit of `next` has to be there.
  private static func state(
    _ images: [StoreImage], _ next: Int, _ older: Int, _ generator: inout SeededGenerator
  ) -> (String, StoreImage, Bool) {
    let (before, after) = (images[next - 1], images[next])
    let (old, new) = (before.files[log] ?? Data(), after.files[log] ?? Data())
    var state = before
    state.files[witness] = images[older].files[witness]
    let isCut = new.count < old.count || new.isEmpty
    if isCut {
      // The database is written and synced, then the witness, and the log goes last.
      if generator.roll(2) == 0 {
        state.files[database] = torn(before.files[database], after.files[database], &generator)
        return ("move", state, false)
      }
      state.files[database] = after.files[database]
      state.files[witness] = after.files[witness]
      return ("cut", state, false)
    }
    let isRestarted = old.prefix(32) != new.prefix(32)
    if isRestarted, generator.roll(4) == 0 {
      // A new header was synced before any frame behind it.
      state.files[log] = new.prefix(32) + old.dropFirst(32)
      return ("header", state, false)
    }
    if generator.roll(2) == 0 {
      let base = isRestarted ? new.prefix(32) + old.dropFirst(32) : old
      state.files[log] = torn(base, new, &generator)
      return ("commit", state, false)
    }
    state.files[log] = new
    state.files[database] = torn(before.files[database], after.files[database], &generator)
    return ("checkpoint", state, true)
  }

  /// A file on the way from one state to another: any of the sectors, and any length.
  private static func torn(
    _ old: Data?, _ new: Data?, _ generator: inout SeededGenerator
  ) -> Data {
    let (old, new) = ([UInt8](old ?? Data()), [UInt8](new ?? Data()))
    let sector = generator.roll(2) == 0 ? 512 : 4_096
    let kept = [0, 30, 70, 100][generator.roll(4)]
    var data = old
    if new.count > data.count, generator.roll(3) > 0 {
      data += [UInt8](repeating: 0, count: new.count - data.count)
    }
    for start in stride(from: 0, to: min(data.count, new.count), by: sector)
    where generator.roll(100) < kept {
      let end = min(start + sector, data.count, new.count)
      data.replaceSubrange(start..<end, with: new[start..<end])
    }
    return Data(data)
  }
}
