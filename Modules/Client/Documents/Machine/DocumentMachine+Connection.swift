import TernCore
import TernDocumentReplica
import TernDocumentWire
package import TernSync

// The connection: opened by the first use, greeted by a ping, survived when lost.

extension DocumentMachine {
  /// Returns true when a link is the one in use.
  package func isCurrentLink(_ link: Int) -> Bool { connection.isCurrent(link) }

  /// Something happened to the link.
  package mutating func connectionEvent(_ event: Connection.Event) {
    let before = connectionState
    var isFailedAttempt = false
    // A link that was left may tell of its end while the next one is being opened.
    if case .linkClosed(let link) = event {
      isFailedAttempt = connection.isCurrent(link) && !connection.isOnline
    }
    let actions = connection.handle(event, unit: ambient.randomUnit)
    if case .linkOpened(let link) = event, connection.isCurrent(link) { send(.ping) }
    for action in actions { perform(action) }
    if isFailedAttempt { attemptFailed() }
    if connectionState != before { emit(.connectionChanged(connectionState)) }
  }

  /// The state of the connection for applications.
  var connectionState: ConnectionState { ConnectionState(connection.phase) }

  /// A timer ran out.
  package mutating func timerFired(_ timer: DocumentTimer) {
    switch timer {
    case .connection(let timer): connectionEvent(.timerFired(timer))
    case .online: run(replica.onlineTimerFired())
    case .listenRetry:
      listening.isResting = false
      if listening.isWanted { openListening() }
    case .writeRetry:
      writing.isResting = false
      if writing.isWanted { openWriting() }
    case .evict:
      // What others have written and not sent must stay cached.
      if knowsAllUsers { _ = replica.cache.evict() } else { emit(.findOthers) }
      emit(.startTimer(.evict, Housekeeping.eviction))
    case .index:
      let count = replica.cache.backfillIndexes(limit: Housekeeping.indexedDocuments)
      let isBusy = count >= Housekeeping.indexedDocuments
      emit(.startTimer(.index, isBusy ? Housekeeping.busyIndexing : Housekeeping.indexing))
    }
  }

  /// Frames of a link, in order.
  package mutating func received(_ frames: [[UInt8]], on link: Int) {
    guard connection.isCurrent(link) else { return }
    connectionEvent(.received(link))
    for frame in frames {
      guard connection.isCurrent(link) else { return }
      do throws(DocumentWireError) {
        try take(DocumentServerFrame.decode(frame), link)
      } catch {
        // What cannot be read is no server of documents, or no longer one.
        return connectionEvent(.failed)
      }
    }
  }

  private mutating func take(_ frame: DocumentServerFrame, _ link: Int) {
    switch frame {
    case .pong: connectionEvent(.greeted(link))
    case .message(let call, let message): take(message, of: call, isLast: false)
    case .answer(let call, let message): take(message, of: call, isLast: true)
    case .end(let call, let status): ended(call, status)
    }
  }

  private mutating func take(_ message: [UInt8], of call: UInt32, isLast: Bool) {
    if call == listening.call {
      heard(message)
    } else if call == writing.call {
      answered(message)
    } else {
      calls.take(message, of: call, names)
    }
    if isLast { ended(call, nil) }
  }

  private mutating func ended(_ call: UInt32, _ status: DocumentStatus?) {
    if status?.code == .unauthenticated { credentialRefused(status?.message ?? "") }
    if call == listening.call {
      listeningEnded(status)
    } else if call == writing.call {
      writingEnded(status)
    } else if let (id, result) = calls.end(call, status) {
      emit(.called(id, result))
    }
  }

  /// Shows the server another credential: everything that is open begins anew with it.
  package mutating func setCredential(_ credential: String?) {
    guard credential != self.credential else { return }
    self.credential = credential
    refusedCredential = nil
    leaveLink()
  }

  /// Goes on over another link, with what is shown now.
  mutating func leaveLink() {
    guard connection.isOnline else { return }
    isLeaving = true
    connectionEvent(.redirected)
    isLeaving = false
  }

  /// True while everything waits for another credential.
  var holdsBack: Bool { credential != nil && credential == refusedCredential }

  /// A call was refused for who asks. All calls of a link show what is shown now.
  private mutating func credentialRefused(_ reason: String) {
    guard let credential, credential != refusedCredential else { return }
    refusedCredential = credential
    emit(.credential(.refused(credential, reason: reason)))
  }

  /// Stops or resumes all traffic.
  package mutating func setNetwork(isEnabled: Bool) {
    if isEnabled {
      connectionEvent(.resume(.requested))
      run(replica.setNetwork(isEnabled: true))
    } else {
      run(replica.setNetwork(isEnabled: false))
      forgetRests()
      connectionEvent(.interrupt(.requested))
      failCalls()
    }
  }

  /// Clears the pauses of the streams: their end is deliberate.
  mutating func forgetRests() {
    listening.forgetRest()
    writing.forgetRest()
    emit(.stopTimer(.listenRetry))
    emit(.stopTimer(.writeRetry))
  }

  /// Ends the connection for good.
  package mutating func close() {
    connectionEvent(.interrupt(.closed))
    failCalls()
    emit(.stopTimer(.evict))
    emit(.stopTimer(.index))
  }

  /// The first use of the documents is what opens the connection.
  mutating func use() {
    guard connection.interruptions.contains(.unused) else { return }
    connectionEvent(.resume(.unused))
  }

  mutating func send(_ frame: DocumentClientFrame) {
    emit(.send(frame.encode()))
    _ = connection.handle(.sent, unit: ambient.randomUnit)
  }

  /// Begins a call.
  mutating func open(_ method: DocumentMethod, _ message: [UInt8]? = nil) -> UInt32 {
    lastCall += 1
    var metadata = [
      DocumentCallOpening.Entry("google-cloud-resource-prefix", database.resourceName)
    ]
    if let credential { metadata.append(.init("authorization", "Bearer " + credential)) }
    send(
      .open(
        stream: lastCall,
        DocumentCallOpening(method, metadata: metadata, message: message)))
    return lastCall
  }

  private mutating func perform(_ action: Connection.Action) {
    switch action {
    case .openLink(let link):
      lastCall = 0
      emit(.openLink(link))
    case .closeLink(let link): emit(.closeLink(link))
    case .startTimer(let timer, let delay): emit(.startTimer(.connection(timer), delay))
    case .stopTimer(let timer): emit(.stopTimer(.connection(timer)))
    case .sendPing: send(.ping)
    case .goOnline: wentOnline()
    case .goOffline: wentOffline()
    }
  }

  private mutating func wentOnline() {
    if writing.isWanted { openWriting() }
    if listening.isWanted { openListening() }
    for (id, request) in calls.takeWaiting() { begin(id, request) }
  }

  private mutating func wentOffline() {
    // The replica asks again for what it needs.
    (listening.call, listening.isWanted) = (nil, false)
    (writing.call, writing.isWanted) = (nil, false)
    writes.streamEnded()
    run(replica.writeStreamClosed(nil))
    run(replica.watchStreamClosed(isFailure: !isLeaving))
    guard isLeaving else { return failCalls() }
    // The caller of a read has no part in it that another credential is shown.
    fail(calls.makeReadsAgain(), DocumentMachine.unreachable)
  }

  /// Another attempt to connect came to nothing.
  private mutating func attemptFailed() {
    run(replica.watchStreamClosed())
    failCalls()
  }

  private static let unreachable = DocumentStatus(
    .unavailable, "there is no connection to the server")

  mutating func failCalls() { fail(calls.failAll(), DocumentMachine.unreachable) }

  /// Fails the calls of the former user that were not sent or only read: they must not run under
  /// another identity.
  mutating func failCallsOfFormerUser() { fail(calls.failAll(), DocumentMachine.otherUser) }

  /// The status of calls whose user is gone.
  static let otherUser = DocumentStatus(.cancelled, "somebody else uses the device now")

  private mutating func fail(_ ids: [DocumentCallID], _ status: DocumentStatus) {
    for id in ids { emit(.called(id, .failure(status))) }
  }
}

extension DocumentMachine.StreamState {
  /// The call has ended: notes it, and says how long to rest before the next one.
  mutating func ended(_ status: DocumentStatus?, unit: Double) -> Duration {
    call = nil
    isResting = true
    if status?.code == .resourceExhausted { backoff.exhaust() }
    return backoff.next(unit: unit)
  }
}
