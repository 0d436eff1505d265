import TernCore

/// Answers other nodes with large data piece by piece, over links for requests without a session.
/// Lives and is used on the server's executor only.
///
/// A link has one such answer at a time. Pieces leave no faster than the link takes them, so an
/// answer holds no more than ``TreeExport/aheadBytes`` beside what waits in the link.
final class DirectExports {
  /// One answer that is being sent in pieces.
  ///
  /// The export continues when its bytes are taken, so `untakenBytes` is the back-pressure of one
  /// answer.
  private struct Answer {
    let events: PieceEvents
    let export: TreeExport
    /// The bytes of pieces that were sent while the link had not taken what was sent before.
    var untakenBytes = 0
  }

  /// The longest time, in milliseconds, without progress of a reader for which its link is taken to
  /// be alive. Readers over HTTP are given no more.
  ///
  /// Long enough for a reader behind a slow network, short enough to give its place to another
  /// export in the end.
  private static let patience: Int64 = 300_000

  /// By the slots of links.
  private var answers: [Int: Answer] = [:]

  /// Begins to answer a request of ``DirectRequest/Operation/review(_:)`` that the rules allow, by
  /// what is at its path as of now.
  ///
  /// - Parameter number: The request's number on its link.
  func begin(
    _ request: DirectRequest, _ form: TreeNode.JSONForm, _ number: UInt64,
    to origin: DirectLinks.Origin, at server: isolated TernServer
  ) {
    let events = PieceEvents(number, to: origin)
    guard case .review(let path) = request.operation, answers[origin.slot] == nil,
      server.links[origin.slot]?.number == origin.link,
      let export = server.export(
        path, form, of: request.namespace, for: request, at: origin.address,
        tell: { events.pass($0, to: server) })
    else {
      let refusal = DirectRefusal.unavailable("Too much is being read already. Try again.")
      return DirectLinks.send(.refused(refusal), number, to: origin, at: server)
    }
    answers[origin.slot] = Answer(events: events, export: export)
  }

  /// Sends what was read.
  fileprivate func take(
    _ event: TreeExport.Event, of events: PieceEvents, at server: isolated TernServer
  ) {
    let (slot, number) = (events.origin.slot, events.number)
    guard let answer = answers[slot], answer.events === events else { return }
    switch event {
    case .piece(let bytes):
      server.perform([.send(slot: slot, DirectFrame.piece(bytes, number))])
      if server.links[slot]?.leavesAnswers == true {
        answers[slot]?.untakenBytes += bytes.count
      } else {
        answer.export.take(bytes.count)
      }
    case .end:
      answers[slot] = nil
      DirectLinks.send(DirectFrame.lastPiece(number), to: events.origin, at: server)
    case .refused(let refusal):
      answers[slot] = nil
      DirectLinks.send(.refused(refusal), number, to: events.origin, at: server)
    case .failed, .withdrawn:
      answers[slot] = nil
      let refusal = DirectRefusal.unavailable("The data cannot be read to their end.")
      DirectLinks.send(.refused(refusal), number, to: events.origin, at: server)
    }
  }

  /// A link has taken most of what it was sent.
  func drained(_ slot: Int) {
    guard let answer = answers[slot], answer.untakenBytes > 0 else { return }
    answers[slot]?.untakenBytes = 0
    answer.export.take(answer.untakenBytes)
  }

  /// Counts the links of answers as heard: the other node only listens, and its reader may be slow.
  /// One that takes nothing gives its place up to the next, as all exports do.
  func tick(at server: isolated TernServer) {
    for (slot, answer) in answers where answer.export.stalledMilliseconds <= Self.patience {
      server.batches.machine.sessions[slot]?.lastHeard = server.uptime()
    }
  }

  /// Ends the answer over a link that has ended.
  func forget(_ slot: Int) { answers.removeValue(forKey: slot)?.export.cancel() }
}

/// The events of one answer in pieces, on their way to the server.
private final class PieceEvents: Sendable {
  let number: UInt64
  let origin: DirectLinks.Origin
  private let events = Mailbox<TreeExport.Event>()

  init(_ number: UInt64, to origin: DirectLinks.Origin) {
    self.number = number
    self.origin = origin
  }

  /// Hands an event over to the server, from the thread of the export.
  func pass(_ event: TreeExport.Event, to server: TernServer) {
    if events.add(event) { Task { await Self.handOver(self, to: server) } }
  }

  private static func handOver(_ answer: PieceEvents, to server: isolated TernServer) {
    for event in answer.events.takeAll() { server.part.exports.take(event, of: answer, at: server) }
  }
}
