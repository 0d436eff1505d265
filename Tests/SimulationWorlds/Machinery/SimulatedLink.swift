import TernSync

/// A link between one client and one run of the server.
///
/// Each direction delivers in order. A cut link accepts nothing more; data in flight may still
/// arrive, separately for each direction. A silent link loses all later data without notice. The
/// side that closes a link still sees its end, and until then the data that arrived before.
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
  /// `true` while the client uses it, or will once it is open.
  var isOpenAtClient = true
  /// `true` once the client's process has seen its end, the last event of a link.
  var isOverAtClient = false
  var isCut = false
  /// `true` if data in flight to the server, or to the client, is lost.
  var losesUp = false
  var losesDown = false
  /// The reason for which the server closes it, once it does.
  var isClosedByServer = false
  /// The arrival time of the data sent last, for each direction.
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0
  /// `true` while both ends consider it open, and nothing arrives.
  private(set) var isSilent = false
  /// `true` if data sent from now on arrives nowhere.
  var isLost: Bool { isCut || isSilent }

  /// Loses all data from now on, without notice.
  func fallSilent() {
    isSilent = true
    losesUp = true
    losesDown = true
  }

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

/// The frames of one server batch for one link, or a part of them.
struct Chunk {
  var frames: [[UInt8]]
  /// The server's version before the batch.
  let before: UInt64
  /// Its version after it.
  let after: UInt64
  /// `true` if it ends the batch's frames for the link.
  var isLast: Bool
}
