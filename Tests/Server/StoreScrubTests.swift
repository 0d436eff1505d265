import TernServer
import TernStorage
import TernTestKit
import Testing

@Suite("the scrub of a served store")
struct StoreScrubTests {
  @Test("corrupt rows are found and reported, and a closed store ends it", .timeLimit(.minutes(10)))
  func finding() async throws {
    let disk = FaultyDisk()
    let store = disk.open()
    try store.write { transaction throws(StorageError) in
      for number in UInt8(0)..<200 {
        try transaction.put([UInt8](repeating: 7, count: 5_000), for: [number])
      }
    }
    disk.corrupt([10])
    disk.corrupt([150])
    let (found, continuation) = AsyncStream.makeStream(of: StoreCorruption.self)
    let scrub = StoreScrub(store, bytesPerSecond: 1 << 40, clock: ContinuousClock()) {
      continuation.yield($0)
    }
    let task = Task.detached { await scrub.run() }
    var places: [StoreCorruption.Place] = []
    for await corruption in found {
      places.append(corruption.place)
      if places.count == 2 { break }
    }
    #expect(places == [.row([10]), .row([150])])
    task.cancel()
    await task.value
  }

  @Test("with a rate of 0 nothing is examined")
  func off() async throws {
    let store = FaultyDisk().open()
    await StoreScrub(store, bytesPerSecond: 0, clock: ManualClock()) { _ in
      Issue.record("something was found")
    }.run()
  }
}
