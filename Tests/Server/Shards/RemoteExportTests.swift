import Synchronization
import TernCore
import TernTransport
import Testing

@testable import TernServer

/// The link to the other node, in the test's hand.
private final class PieceLink: Link {
  private struct State {
    var frames: [[UInt8]] = []
    var isRead = true
    var isClosed = false
  }

  private let state = Mutex(State())

  var peer: String { "other" }
  var queuedBytes: Int { 0 }
  var frames: [[UInt8]] { state.withLock { $0.frames } }
  var isRead: Bool { state.withLock { $0.isRead } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func send(_ frame: [UInt8]) { state.withLock { $0.frames.append(frame) } }
  func flush() {}
  func setReading(_ on: Bool) { state.withLock { $0.isRead = on } }
  func close() { state.withLock { $0.isClosed = true } }
}

/// Opens that link, or none.
private struct PieceLinks: LeaderLinks {
  let link: PieceLink?

  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    guard let link else { throw .refused(host: address, port: 1) }
    _ = open(link)
    return link
  }
}

@Suite("large data of another shard", .timeLimit(.minutes(1)))
struct RemoteExportTests {
  /// A reading, and what it has told.
  private struct Reading {
    let link = PieceLink()
    let told: AsyncStream<TreeExport.Event>
    let remote: RemoteExport
    let export: TreeExport
    let ends = Counter()
    let time = Counter()

    init() {
      let (told, feed) = AsyncStream.makeStream(of: TreeExport.Event.self)
      self.told = told
      let (ends, time) = (self.ends, self.time)
      remote = RemoteExport(
        [7], uptime: { Int64(time.value) }, tell: { feed.yield($0) }, whenOver: { ends.add() })
      export = remote.reading()
    }

    /// Opens the link, and waits until the request was sent.
    func open() async {
      remote.open(to: "other", over: PieceLinks(link: link), for: "client")
      while link.frames.isEmpty { await Task.yield() }
    }

    /// The next events.
    func next(_ count: Int) async -> [String] {
      var events: [String] = []
      for await event in told {
        switch event {
        case .piece(let bytes): events.append("\(bytes.count)")
        case .end: events.append("end")
        case .failed: events.append("failed")
        case .refused(let refusal): events.append("\(refusal == .tooBig(limitBytes: 9))")
        case .withdrawn: events.append("withdrawn")
        }
        if events.count == count { break }
      }
      return events
    }
  }

  private final class Counter: Sendable {
    private let state = Mutex(0)
    var value: Int { state.withLock { $0 } }
    func add(_ more: Int = 1) { state.withLock { $0 += more } }
  }

  private func piece(_ count: Int) -> [UInt8] {
    DirectFrame.piece([UInt8](repeating: 1, count: count), RemoteExport.number)
  }

  @Test("the link is not read from while the reader leaves much untaken")
  func pressure() async {
    let reading = Reading()
    await reading.open()
    #expect(reading.link.frames == [[7]])
    reading.remote.linkDidReceive([piece(TreeExport.aheadBytes - 1)])
    #expect(reading.link.isRead)
    reading.remote.linkDidReceive([piece(10), piece(20)])
    #expect(!reading.link.isRead)
    reading.export.take(29)
    #expect(!reading.link.isRead)
    reading.export.take(1)
    #expect(reading.link.isRead && !reading.link.isClosed)
    reading.remote.linkDidReceive([DirectFrame.lastPiece(RemoteExport.number)])
    #expect(reading.link.isClosed && reading.ends.value == 1)
    #expect(
      await reading.next(4) == ["\(TreeExport.aheadBytes - 1)", "10", "20", "end"])
    // The end of the link is not the end of the data once more.
    reading.remote.linkDidClose(.closedHere)
    #expect(reading.ends.value == 1)
  }

  @Test("a reader that is gone ends the link, and hears nothing more")
  func cancellation() async {
    let reading = Reading()
    await reading.open()
    reading.export.cancel()
    #expect(reading.link.isClosed && reading.ends.value == 1)
    reading.remote.linkDidReceive([piece(1)])
    reading.remote.fail("late")
    #expect(reading.ends.value == 1)
    // One that goes before the link is there closes it when it comes.
    let early = Reading()
    early.export.cancel()
    early.remote.open(to: "other", over: PieceLinks(link: early.link), for: "client")
    while !early.link.isClosed { await Task.yield() }
    #expect(early.link.frames.isEmpty && early.ends.value == 1)
  }

  @Test("the refusal of the other node is told as it is")
  func refusal() async throws {
    let reading = Reading()
    await reading.open()
    let refusal = DirectRefusal.tooBig(limitBytes: 9)
    reading.remote.linkDidReceive([
      try DirectFrame(.refused(refusal), RemoteExport.number).encoded(), piece(1),
    ])
    #expect(await reading.next(1) == ["true"])
    #expect(reading.link.isClosed && reading.ends.value == 1)
  }

  @Test("a node that is silent is waited for only so long, while its reader can take more")
  func silence() async {
    let deadline = Int(RemoteExport.deadline)
    #expect(deadline == 30_000)
    let reading = Reading()
    // Its leader is not even known.
    reading.time.add(deadline)
    #expect(!reading.remote.isOverdue)
    reading.time.add(1)
    #expect(reading.remote.isOverdue)
    await reading.open()
    #expect(reading.remote.isOverdue)
    reading.remote.linkDidReceive([piece(1)])
    #expect(!reading.remote.isOverdue)
    reading.time.add(deadline)
    reading.remote.linkDidReceive([piece(TreeExport.aheadBytes)])
    // The reader takes its time.
    reading.time.add(10 * deadline)
    #expect(!reading.remote.isOverdue)
    #expect(reading.remote.stalledMilliseconds == Int64(10 * deadline))
    reading.export.take(TreeExport.aheadBytes)
    #expect(!reading.remote.isOverdue && reading.remote.stalledMilliseconds == 0)
    reading.time.add(deadline)
    reading.export.take(1)
    #expect(!reading.remote.isOverdue)
    reading.time.add(1)
    #expect(reading.remote.isOverdue)
  }

  /// Several readings of one table.
  private struct Table {
    let exports = RemoteExports()
    let time = Counter()
    let ends = Counter()

    /// A reading whose reader was told as much as it may be; `nil` when there is no place.
    func begin(
      _ shard: UInt32 = 1, at address: String
    ) -> (remote: RemoteExport, export: TreeExport)? {
      let (time, ends) = (time, ends)
      let remote = exports.begin(
        [7], of: shard, at: address, ServerLimits(), uptime: { Int64(time.value) },
        tell: { event in
          if case .failed = event { ends.add() }
        })
      return remote.map { ($0, $0.reading()) }
    }

    func fill(_ remote: RemoteExport) {
      remote.linkDidReceive([
        DirectFrame.piece(
          [UInt8](repeating: 1, count: TreeExport.aheadBytes), RemoteExport.number)
      ])
    }
  }

  @Test("readers that take nothing give their places up, by shard and fairly by address")
  func places() throws {
    let table = Table()
    let greedy = try (0..<16).map { _ in try #require(table.begin(at: "greedy")) }
    table.time.add(5_000)
    // Data that come late do not make a reader a slow one.
    for open in greedy { table.fill(open.remote) }
    #expect(table.begin(at: "other") == nil)
    // Another shard has places of its own.
    let apart = try #require(table.begin(2, at: "other"))
    table.time.add(201)
    let other = try #require(table.begin(at: "other"))
    #expect(table.ends.value == 1)
    #expect(table.begin(at: "greedy") == nil)
    table.time.add(1_800)
    let more = try #require(table.begin(at: "greedy"))
    #expect(table.ends.value == 2)
    for open in greedy + [apart, other] { open.export.cancel() }
    #expect(table.ends.value == 2 && !table.exports.isIdle)
    more.export.cancel()
    #expect(table.exports.isIdle)
  }

  @Test("silent nodes, readers that are gone, and a stop end readings")
  func ends() throws {
    let table = Table()
    let silent = try #require(table.begin(at: "a"))
    let full = try #require(table.begin(at: "b"))
    table.fill(full.remote)
    _ = table.begin(at: "c")
    table.exports.endSilent()
    #expect(table.ends.value == 1)
    table.time.add(30_001)
    table.exports.endSilent()
    #expect(table.ends.value == 2)
    table.exports.endAll()
    #expect(table.ends.value == 3 && table.exports.isIdle)
    #expect(table.begin(at: "d") == nil)
    silent.export.cancel()
    full.export.cancel()
    #expect(table.ends.value == 3)
  }

  @Test("another frame and the end of the link end the data before their end")
  func failures() async throws {
    let number = RemoteExport.number
    let ends: [[UInt8]] = [
      try DirectFrame(.done, number).encoded(), DirectFrame.lastPiece(number + 1), [1, 2],
    ]
    for end in ends {
      let reading = Reading()
      await reading.open()
      reading.remote.linkDidReceive([piece(3), end, piece(4)])
      #expect(await reading.next(2) == ["3", "failed"])
      #expect(reading.link.isClosed && reading.ends.value == 1)
    }
    let lost = Reading()
    await lost.open()
    lost.remote.linkDidClose(.closedHere)
    #expect(await lost.next(1) == ["failed"])
    let unreached = Reading()
    unreached.remote.open(to: "other", over: PieceLinks(link: nil), for: "client")
    #expect(await unreached.next(1) == ["failed"])
    #expect(unreached.ends.value == 1)
  }
}
