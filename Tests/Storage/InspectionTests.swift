import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@Suite("examining a store")
struct InspectionTests {
  private func fill(_ store: any OrderedStore) throws {
    try store.write { transaction throws(StorageError) in
      for number in 0..<700 {
        try transaction.put(
          [UInt8](repeating: 1, count: number % 50 == 0 ? 4_000 : 10),
          for: [UInt8(number >> 8), UInt8(number & 255)])
      }
    }
  }

  @Test("every row is visited once, whatever the size of the slices", arguments: [1, 100, 5_000])
  func slices(bytes: Int) throws {
    let store = MemoryStore()
    try fill(store)
    var inspection = StoreInspection()
    while !inspection.isComplete { try store.inspect(&inspection, bytes: bytes) }
    #expect(inspection.rows == 700)
    #expect(inspection.isWell)
    #expect(try store.verify().bytes == inspection.bytes)
  }

  @Test("corrupt rows are found, and the rows between them are visited")
  func corruption() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    try fill(store)
    for key: [UInt8] in [[0, 0], [0, 7], [0, 8], [1, 200], [2, 187]] { disk.corrupt(key) }
    let inspection = try store.verify()
    #expect(inspection.foundCount == 5)
    #expect(
      inspection.found.map(\.place) == [
        .row([0, 0]), .row([0, 7]), .row([0, 8]), .row([1, 200]), .row([2, 187]),
      ])
    #expect(inspection.rows == 695)
  }
}
