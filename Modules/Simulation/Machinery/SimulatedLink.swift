import TernSync

/// A link between one client and one run of the server.
///
/// What is sent one way arrives in order. A cut link takes nothing more; what is on its way when it
/// is cut may arrive, each way for itself. Silence loses everything from then on, and tells nobody.
/// Who leaves a link hears of its end all the same, and until then of what had come over it.
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
  /// Whether the client uses it, or will once it is open.
  var isOpenAtClient = true
  /// Whether the client's process has been told of its end, the last it hears of a link.
  var isOverAtClient = false
  var isCut = false
  /// Whether what is on its way to the server, or to the client, is lost.
  var losesUp = false
  var losesDown = false
  /// Why the server closes it, once it does.
  var isClosedByServer = false
  /// When the last thing sent arrives, each way.
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0
  /// Whether both ends believe in it, and nothing arrives.
  private(set) var isSilent = false
  /// Whether what is sent from now on arrives nowhere.
  var isLost: Bool { isCut || isSilent }

  /// From now on nothing arrives, and nobody is told.
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
