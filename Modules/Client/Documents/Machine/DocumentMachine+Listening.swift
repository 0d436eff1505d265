import TernCore
package import TernDocumentReplica
package import TernDocumentWire
package import TernQuery
import TernSync

// What is listened to, read and called, and the stream that brings it.

extension DocumentMachine {
  /// Starts to listen; the first event follows at once when the cache can give it.
  package mutating func listen(
    _ query: DocumentQuery, options: DocumentListenOptions
  ) -> DocumentListenerID {
    let (id, effects) = replica.listen(query, options: options)
    run(effects)
    return id
  }

  /// Stops a listener or a read.
  package mutating func unlisten(_ id: DocumentListenerID) { run(replica.unlisten(id)) }

  /// Reads once.
  package mutating func get(
    _ query: DocumentQuery, from source: DocumentGetSource
  ) -> DocumentListenerID {
    let (id, effects) = replica.get(query, from: source)
    run(effects)
    return id
  }

  /// Asks to hear whenever all listeners have heard the same.
  package mutating func listenInSync() -> DocumentListenerID {
    let (id, effects) = replica.listenInSync()
    run(effects)
    return id
  }

  /// Takes in documents that came in a bundle.
  package mutating func load(_ bundle: DocumentBundle) { run(replica.load(bundle)) }

  /// Calls the server. Without a connection the call waits for the attempt under way, and fails
  /// with it.
  package mutating func call(_ body: DocumentRequest.Body) -> DocumentCallID {
    let id = calls.nextID()
    if let status = refusalOfCalls {
      calls.fail(id, status, &channel)
      return id
    }
    use()
    calls.call(id, DocumentRequest(body, in: channel.database), &channel)
    return id
  }

  /// The reason for which no call is made now; `nil` for none.
  private var refusalOfCalls: DocumentStatus? {
    if !replica.isNetworkEnabled {
      DocumentStatus(.unavailable, "the network is switched off")
    } else if channel.holdsBack {
      DocumentStatus(.unauthenticated, "the user has to sign in again")
    } else if calls.isFull {
      DocumentStatus(.resourceExhausted, "\(calls.limit) calls are under way already")
    } else {
      nil
    }
  }
}

// MARK: - The stream

extension DocumentMachine {
  mutating func openListening() {
    listening.isWanted = true
    use()
    guard listening.canOpen(channel) else { return }
    listening.open(&channel)
    run(replica.watchStreamOpened())
  }

  /// A message of the listen stream.
  mutating func heard(_ message: [UInt8]) {
    do throws(DocumentWireError) {
      let response = try DocumentResponse.decode(.listen, message, channel.names)
      guard case .listen(let change) = response else { return }
      listening.heard()
      run(replica.applyServer(change))
    } catch {
      listening.cancel(&channel)
      listeningEnded(error.status)
    }
  }

  mutating func listeningEnded(_ status: DocumentStatus?) {
    listening.ended(status, &channel)
    run(replica.watchStreamClosed())
  }
}
