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

    init() {
      let (told, feed) = AsyncStream.makeStream(of: TreeExport.Event.self)
      self.told = told
      let ends = self.ends
      remote = RemoteExport([7], tell: { feed.yield($0) }, whenOver: { ends.add() })
      export = remote.reading { 0 }
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
    func add() { state.withLock { $0 += 1 } }
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

  @Test("a refusal, another frame, and the end of the link end the data before their end")
  func failures() async throws {
    let number = RemoteExport.number
    let ends: [[UInt8]] = [
      try DirectFrame(.refused(.permissionDenied()), number).encoded(),
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
