import TernTransport

/// One end of a loopback pair, as its handler's owner holds it.
///
/// It holds no state of its own: both ends are kept by the pair, under one lock.
final class LoopbackLink: Link {
  private let pair: LoopbackPair
  private let side: LoopbackPair.Side

  init(pair: LoopbackPair, side: LoopbackPair.Side) {
    self.pair = pair
    self.side = side
  }

  var peer: String { "loopback#\(pair.number)" }
  var queuedBytes: Int { pair.queuedBytes(of: side) }

  func send(_ frame: [UInt8]) { pair.send(frame, from: side) }
  func flush() { pair.flush(side) }
  func setReading(_ on: Bool) { pair.setReading(on, at: side) }
  func close() { pair.close(side, .closedHere) }
}
