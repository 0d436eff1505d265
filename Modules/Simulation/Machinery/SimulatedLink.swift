import TernSync

/// A link between one client and one run of the server.
///
/// What is sent one way arrives in order. A cut loses what is on its way; silence loses everything
/// from then on, and tells nobody.
final class SimulatedLink {
  let id: Int
  /// The run of the client's process that it belongs to.
  let process: any ClientProcess
  /// The client's own number of it.
  let number: Int
  let slot: Int
  let run: ServerRun
  let latency: ClosedRange<Int64>
  var isOpenAtServer = true
  var isOpenAtClient = true
  var isCut = false
  var isSilent = false
  /// Why the server closes it, once it does.
  var isClosedByServer = false
  /// When the last thing sent arrives, each way.
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0
  /// The version the server was at when the last frame that arrived had been sent.
  var isLost: Bool { isCut || isSilent }

  /// Of a link that speaks of a tree: the stream of its greeting, and who was shown last.
  var stream: UInt128?
  var shown = QueueUser.nobody

  init(
    id: Int, process: any ClientProcess, number: Int, slot: Int, run: ServerRun,
    latency: ClosedRange<Int64>
  ) {
    self.id = id
    self.process = process
    self.number = number
    self.slot = slot
    self.run = run
    self.latency = latency
  }
}

/// What one batch of the server has for one link, or a part of it.
struct Chunk {
  var frames: [[UInt8]]
  /// The server's version before the batch.
  let before: UInt64
  /// Its version after it.
  let after: UInt64
  /// Whether all the batch has for the link has come with it.
  var isLast: Bool
}
