import TernCore
import TernDocumentWire
import TernSync

/// One of the two streams that are opened again when they end.
struct DocumentStream: Sendable {
  /// True when the replica requests it.
  var isWanted = false
  /// The call it is; `nil` while there is none.
  private(set) var call: UInt32?
  private let method: DocumentMethod
  /// The timer that has to run out before it is opened again.
  private let timer: DocumentTimer
  private var pause: RetryPause

  init(_ method: DocumentMethod, retriedAfter timer: DocumentTimer, _ backoff: Backoff.Limits) {
    self.method = method
    self.timer = timer
    pause = RetryPause(backoff)
  }

  /// Returns true when nothing keeps it from being opened.
  func canOpen(_ channel: DocumentChannel) -> Bool {
    channel.connection.isOnline && call == nil && !pause.isActive && !channel.holdsBack
  }

  mutating func open(_ channel: inout DocumentChannel) { call = channel.open(method) }

  /// Sends a message; does nothing while the stream is not open.
  func send(_ body: DocumentRequest.Body, _ channel: inout DocumentChannel) {
    if let call { channel.send(body, in: call) }
  }

  /// Notes that the server has sent a message: the next pause is the shortest.
  mutating func heard() { pause.succeeded() }

  /// Ends the stream because it is not wanted any more.
  mutating func close(_ channel: inout DocumentChannel) {
    isWanted = false
    cancel(&channel)
    call = nil
  }

  /// Tells the server that the stream is given up.
  func cancel(_ channel: inout DocumentChannel) {
    if let call { channel.send(.cancel(stream: call)) }
  }

  /// The call has ended: rests before the next one.
  mutating func ended(_ status: DocumentStatus?, _ channel: inout DocumentChannel) {
    isWanted = false
    call = nil
    if status?.code == .resourceExhausted { pause.exhaust() }
    channel.emit(.startTimer(timer, pause.begin(unit: channel.ambient.randomUnit())))
  }

  /// The link is gone: the replica asks again for what it needs.
  mutating func disconnected() { (call, isWanted) = (nil, false) }

  /// The pause is over.
  ///
  /// - Returns: Whether the stream is to be opened now.
  mutating func rested() -> Bool {
    pause.end()
    return isWanted
  }

  /// Forgets past failures: what is opened next is opened at once.
  mutating func forgetPause(_ channel: inout DocumentChannel) {
    pause.reset()
    channel.emit(.stopTimer(timer))
  }
}
