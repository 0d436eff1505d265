import TernCore
import TernDocumentReplica
import TernDocumentWire
package import TernSync

// The connection: opened by the first use, greeted by a ping, survived when lost.

extension DocumentMachine {
  /// Returns true when a link is the one in use.
  package func isCurrentLink(_ link: Int) -> Bool { channel.connection.isCurrent(link) }

  /// The state of the connection for applications.
  var connectionState: ConnectionState { channel.connection.state }

  /// Something happened to the link.
  package mutating func connectionEvent(_ event: Connection.Event) {
    let before = connectionState
    let isFailedAttempt = channel.connection.isFailedAttempt(event)
    let actions = channel.connection.handle(event, channel.ambient)
    if channel.connection.isOpening(event) { channel.send(.ping) }
    for action in actions {
      if case .openLink = action { channel.restartNumbers() }
      switch channel.connection.perform(action) {
      case .pingDue: channel.send(.ping)
      case .online: wentOnline()
      case .offline: wentOffline()
      case nil: break
      }
    }
    // While another address is tried, the server is not away yet.
    if isFailedAttempt, connectionState != .connecting { attemptFailed() }
    channel.connection.reportState(since: before)
  }

  /// The first use of the documents is what opens the connection.
  mutating func use() {
    if channel.connection.isUnused { connectionEvent(.resume(.unused)) }
  }

  private mutating func wentOnline() {
    if outbox.stream.isWanted { openWriting() }
    if listening.isWanted { openListening() }
    calls.sendWaiting(&channel)
  }

  private mutating func wentOffline() {
    // The replica asks again for what it needs.
    listening.disconnected()
    outbox.disconnected()
    run(replica.writeStreamClosed(nil))
    run(replica.watchStreamClosed(isFailure: !channel.isLeaving))
    if channel.isLeaving {
      // The caller of a read has no part in it that another credential is shown.
      calls.makeReadsAgain(&channel)
    } else {
      calls.failAll(.unreachable, &channel)
    }
  }

  /// Another attempt to connect came to nothing.
  private mutating func attemptFailed() {
    run(replica.watchStreamClosed())
    calls.failAll(.unreachable, &channel)
  }

  /// Stops or resumes all traffic.
  package mutating func setNetwork(isEnabled: Bool) {
    if isEnabled {
      connectionEvent(.resume(.requested))
      run(replica.setNetwork(isEnabled: true))
    } else {
      run(replica.setNetwork(isEnabled: false))
      forgetPauses()
      connectionEvent(.interrupt(.requested))
      calls.failAll(.unreachable, &channel)
    }
  }

  /// Clears the pauses of the streams: their end is deliberate.
  private mutating func forgetPauses() {
    listening.forgetPause(&channel)
    outbox.forgetPause(&channel)
  }
}

// MARK: - Frames

extension DocumentMachine {
  /// Frames of a link, in order.
  package mutating func received(_ frames: [[UInt8]], on link: Int) {
    guard isCurrentLink(link) else { return }
    connectionEvent(.received(link))
    for frame in frames {
      guard isCurrentLink(link) else { return }
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
    } else if call == outbox.stream.call {
      answered(message)
    } else {
      calls.take(message, of: call, channel.names)
    }
    if isLast { ended(call, nil) }
  }

  private mutating func ended(_ call: UInt32, _ status: DocumentStatus?) {
    if status?.code == .unauthenticated { channel.credentialRefused(status?.message ?? "") }
    if call == listening.call {
      listeningEnded(status)
    } else if call == outbox.stream.call {
      writingEnded(status)
    } else {
      calls.ended(call, status, &channel)
    }
  }
}

// MARK: - Users

extension DocumentMachine {
  /// Shows the server another credential, or the same one once more after the server has rejected
  /// it: everything that is open begins anew with it.
  package mutating func setCredential(_ credential: String?) {
    guard credential != channel.token || channel.holdsBack else { return }
    channel.setCredential(credential)
    leaveLink()
  }

  /// Goes on over another link, with what is shown now.
  private mutating func leaveLink() {
    guard channel.connection.isOnline else { return }
    channel.isLeaving = true
    connectionEvent(.redirected)
    channel.isLeaving = false
  }

  /// Switches to another user, or none: their writes take the place of the former user's, which
  /// wait for their return, and everything is requested anew.
  ///
  /// - Parameters:
  ///   - credential: What shows the server who it is.
  ///   - opened: What their queue holds; `nil` when it was opened before in this run, and a
  ///     failure when it does not open: then what they write is not taken.
  /// - Returns: Why their queue makes no sense.
  package mutating func switchUser(
    to user: QueueUser, showing credential: String?, _ opened: Result<OpenedQueue, QueueError>?
  ) -> QueueError? {
    guard user != self.user else {
      setCredential(credential)
      return nil
    }
    channel.setCredential(credential)
    // Nothing of the former user's may meet the credential of the next one on this link.
    leaveLink()
    // Calls that were not sent or only read must not run under another identity.
    calls.failAll(.otherUser, &channel)
    forgetPauses()
    outbox.leave(for: user)
    let (batches, failure) = outbox.takeUp(opened, in: channel.database)
    run(replica.switchUser(to: user.id, restoring: batches))
    emit(.queueChanged)
    return failure
  }
}
