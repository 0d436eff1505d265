import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernQuery
import TernSync

// What is listened to and read, and the stream that brings it.

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

  mutating func openListening() {
    listening.isWanted = true
    use()
    guard connection.isOnline, listening.call == nil, !listening.isResting, !holdsBack else {
      return
    }
    listening.call = open(.listen)
    run(replica.watchStreamOpened())
  }

  mutating func closeListening() {
    listening.isWanted = false
    if let call = listening.call { send(.cancel(stream: call)) }
    listening.call = nil
  }

  mutating func listen(_ request: DocumentListenRequest) {
    guard let call = listening.call else { return }
    let message = DocumentRequest(.listen(request), in: database).encode()
    send(.message(stream: call, message))
  }

  /// A message of the listen stream.
  mutating func heard(_ message: [UInt8]) {
    do throws(DocumentWireError) {
      guard case .listen(let change) = try DocumentResponse.decode(.listen, message, names) else {
        return
      }
      listening.backoff.reset()
      run(replica.applyServer(change))
    } catch {
      if let call = listening.call { send(.cancel(stream: call)) }
      listeningEnded(error.status)
    }
  }

  mutating func listeningEnded(_ status: DocumentStatus?) {
    listening.isWanted = false
    let delay = listening.ended(status, unit: ambient.randomUnit())
    emit(.startTimer(.listenRetry, delay))
    run(replica.watchStreamClosed())
  }
}
