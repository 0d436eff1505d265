import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// What the server says.

extension TreeMachine {
  /// Takes the frames of one read, in order; the cache is stored once for all of them.
  package mutating func received(_ frames: [[UInt8]], on link: Int) {
    guard connection.isCurrent(link) else { return }
    connectionEvent(.received(link))
    for frame in frames where connection.isCurrent(link) {
      do throws(WireError) {
        receive(try TreeServerMessage.decode(frame), on: link)
      } catch {
        connectionEvent(.failed)
      }
    }
  }

  private mutating func receive(_ message: TreeServerMessage, on link: Int) {
    switch message {
    case .handshake(let handshake): greeted(handshake, on: link)
    case .inquiry: inquired(on: link)
    case .redirect: connectionEvent(.redirected)
    case .shutdown: connectionEvent(.interrupt(.serverShutdown))
    case .response(let number, let response): answered(number, response)
    case .put(let push):
      apply(.overwrite(push.path, push.content), tag: push.tag)
    case .merge(let push):
      apply(.merge(push.path, push.content.entries), tag: push.tag)
    case .rangeMerge(let push):
      apply(.rangeMerge(push.path, push.content), tag: push.tag)
    case .listenRevoked(let path, let query, let status, let detail):
      let text = detail.isEmpty ? "Permission denied" : detail
      revoke(path, query, Rejection(status: status.rawValue, detail: text))
    case .authRevoked(_, let detail): credentialEnded(detail)
    case .fatal: connectionEvent(.failed)
    case .error(let text): notice(.serverSays(text))
    case .pong, .appCheckRevoked, .trace, .unknown: break
    }
  }

  /// The server does not know whether this link or another one is the last: this one is.
  private mutating func inquired(on link: Int) {
    guard connection.phase == .greeting(link) else { return connectionEvent(.failed) }
    greet()
  }

  private mutating func greeted(_ handshake: TreeHandshake, on link: Int) {
    lastSession = handshake.session
    // The server's time lies between the two: halfway, it is wrong by half of the way at most.
    let now = ambient.millisecondsSinceEpoch()
    let roundTrip = max(0, now - (openingSentAt ?? now))
    serverTimeOffset = handshake.time - (now - roundTrip / 2)
    lastAnswered = announcedClient == book.client ? handshake.lastSequence ?? 0 : 0
    connectionEvent(.greeted(link))
  }
}
