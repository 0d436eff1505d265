import Foundation
import TernStorage
import TernStorageLMDB
import TernTestKit
import Testing

/// No honest end is taken for damage: LMDB writes pages, syncs, writes the meta page and syncs it;
/// then the witness is written, and never synced.
@Suite("power lost under an LMDB store")
struct LMDBPowerLossTests {
  private static let sector = 512
  private let directory = TemporaryDirectory()
  private var file: URL { URL(filePath: directory.path + "/rows.mdb") }
  private var witness: URL { URL(filePath: directory.path + "/witness") }

  private struct Image {
    var file: Data
    var witness: Data
    var rows: [Row]
  }

  /// The files after every commit.
  private func images(
    _ durability: Durability, _ random: inout SeededGenerator
  ) throws -> [Image] {
    let store = try LMDBStore(path: directory.path, durability: durability)
    defer { store.close() }
    var images: [Image] = []
    for number in 0..<8 {
      try store.write { transaction throws(StorageError) in
        for _ in 0..<20 {
          let key = Array("row \(Int.random(in: 0..<60, using: &random))".utf8)
          let count = Int.random(in: 0..<20, using: &random) == 0 ? 6_000 : 50
          try transaction.put([UInt8](repeating: UInt8(number), count: count), for: key)
        }
        try transaction.remove(Array("row \(number)".utf8))
      }
      images.append(
        Image(
          file: try Data(contentsOf: file), witness: try Data(contentsOf: witness),
          rows: try store.scan()))
    }
    return images
  }

  /// Returns the possible pages on the disk before the sync of `new`: any of their sectors.
  private func torn(_ old: Data, _ new: Data, _ random: inout SeededGenerator) -> Data {
    var data = old
    if data.count < new.count { data.append(Data(count: new.count - data.count)) }
    let share = Int.random(in: 0...4, using: &random)
    for start in stride(from: 2 * 4_096, to: new.count, by: Self.sector)
    where Int.random(in: 0..<4, using: &random) < share {
      data[start..<(start + Self.sector)] = new[start..<(start + Self.sector)]
    }
    return data
  }

  private func check(_ file: Data, _ witness: Data?, _ rows: [Row], _ state: String) throws {
    try file.write(to: self.file)
    try? FileManager.default.removeItem(at: self.witness)
    if let witness { try witness.write(to: self.witness) }
    do throws(StorageError) {
      let store = try LMDBStore(path: directory.path)
      defer { store.close() }
      #expect(try store.scan() == rows, "\(state)")
    } catch { Issue.record("\(state): \(error)") }
  }

  @Test("no state is taken for damage, and no synced commit is missed", arguments: [true, false])
  func states(isDurable: Bool) throws {
    let seed = freshSeed()
    print("power lost under LMDB, seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let images = try images(isDurable ? .durable : .relaxed, &random)
    for number in 1..<images.count {
      let (old, new) = (images[number - 1], images[number])
      let state = "seed \(seed), commit \(number)"
      // Of the witness, which is never synced, the disk has any earlier one, or part of it.
      let earlier = images[Int.random(in: 0..<number, using: &random)].witness
      for witness in [old.witness, earlier, earlier.prefix(30), Data(), nil] {
        try check(torn(old.file, new.file, &random), witness, old.rows, state + " before the sync")
        try check(new.file, witness, new.rows, state + " after the sync")
      }
      try check(new.file, new.witness, new.rows, state + " with its witness")
      if !isDurable {
        // The pages are synced, the meta page is not.
        let file = old.file.prefix(2 * 4_096) + new.file.dropFirst(2 * 4_096)
        try check(Data(file), new.witness, old.rows, state + " without its meta page")
      }
    }
  }
}
