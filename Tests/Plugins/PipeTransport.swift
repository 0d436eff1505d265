import Synchronization
import TernTransport
import TernTransportLoopback

/// Opens a ``PipeTransport`` for `{"kind": "pipe"}`.
enum PipePlugin: TransportPlugin {
  struct Options: Decodable, Sendable {
    var frameLimitBytes: Int?
  }

  static let kind = "pipe"

  static func open(_ options: Options) throws(TransportError) -> any Transport {
    PipeTransport(limit: options.frameLimitBytes.map(FrameLimit.init) ?? .standard)
  }
}

/// Links between the users of one object; frames wait in two queues for each.
final class PipeTransport: Transport {
  private struct State {
    var accept: LinkOpening?
    var pipes: [Pipe] = []
    var isShutDown = false
  }

  private let limit: FrameLimit
  private let state = Mutex(State())
  /// Only its executor is used.
  private let loop = LoopbackTransport()

  init(limit: FrameLimit) { self.limit = limit }

  var executor: any SerialExecutor { loop.executor }

  func enqueue(_ work: @escaping @Sendable () -> Void) { loop.enqueue(work) }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    guard let accept = try accepting() else { throw .refused(host: "pipe", port: 0) }
    let pipe = Pipe(limit: limit) { [loop] in loop.enqueue($0) }
    state.withLock { $0.pipes.append(pipe) }
    let (near, far) = (PipeEnd(pipe, 0), PipeEnd(pipe, 1))
    await turn { pipe.start([open(near), accept(far)]) }
    return near
  }

  func listen(_ accept: @escaping LinkOpening) async throws(TransportError)
    -> any TransportListener
  {
    if try accepting() != nil { throw .addressInUse(host: "pipe", port: 0) }
    state.withLock { $0.accept = accept }
    return PipeListener { [weak self] in self?.state.withLock { $0.accept = nil } }
  }

  func shutdown() async {
    let pipes = state.withLock { state in
      state.isShutDown = true
      defer { state.pipes = [] }
      return state.pipes
    }
    for pipe in pipes { for side in 0...1 { pipe.close(side, .closedHere) } }
    await turn {}
  }

  /// Runs `body` on the executor, behind all that waits there.
  private func turn(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      enqueue {
        body()
        continuation.resume()
      }
    }
  }

  private func accepting() throws(TransportError) -> LinkOpening? {
    let (accept, isShutDown) = state.withLock { ($0.accept, $0.isShutDown) }
    if isShutDown { throw .shutDown }
    return accept
  }
}

private struct PipeListener: TransportListener {
  let stop: @Sendable () -> Void
  var address: String { "pipe" }
  func close() async { stop() }
}

/// One end of a pipe, as its users hold it.
private final class PipeEnd: Link {
  private let pipe: Pipe
  private let side: Int

  init(_ pipe: Pipe, _ side: Int) { (self.pipe, self.side) = (pipe, side) }

  var peer: String { "pipe" }
  var queuedBytes: Int { pipe.ends.withLock { $0[side].unsent.bytes + $0[1 - side].inbox.bytes } }
  func send(_ frame: [UInt8]) { pipe.send(frame, side) }
  func flush() { pipe.flush(side) }
  func setReading(_ on: Bool) { pipe.setReading(on, side) }
  func close() { pipe.close(side, .closedHere) }
}
