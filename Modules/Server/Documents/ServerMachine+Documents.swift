import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernSecurity
import TernStorage

// Links that speak about documents: frames in, calls out of them.
extension ServerMachine {
  /// Takes a frame of a link of documents.
  mutating func receiveDocuments(
    _ frame: [UInt8], from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let link = session.documents ?? DocumentLink(slot: session.slot, isLocal: session.isLocal)
    session.documents = link
    if let farewell = options.farewell { return try sendAway(session, farewell, &batch) }
    let message: DocumentClientFrame
    do throws(DocumentWireError) {
      message = try DocumentClientFrame.decode(frame)
    } catch {
      return try expel(session, .malformedFrame(error.status.message), &batch)
    }
    switch message {
    case .open(let number, _) where isTooMuch(number, session, &batch): break
    case .message(let number, _) where isTooMuch(number, session, &batch): break
    case .open(let number, let opening):
      if let last = link.lastCall, number <= last {
        return try expel(session, .outOfTurn("call \(number) after \(last)"), &batch)
      }
      link.lastCall = number
      try begin(opening, number, link, &batch)
    // What is said in a call that has ended was on its way when it did.
    case .message(let number, let message):
      if let call = link.calls[number] { try take(message, call, &batch) }
    case .halfClose(let number):
      if let call = link.calls[number] { halfClose(call, &batch) }
    case .cancel(let number):
      if let call = link.calls[number] { close(call) }
    case .ping: batch.add(.send(slot: link.slot, DocumentServerFrame.pong.encode()))
    }
  }

  /// Counts a frame; ends its call when its client asks too much.
  private mutating func isTooMuch(
    _ number: UInt32, _ session: Session, _ batch: inout ServerBatch
  ) -> Bool {
    guard let excess = count(session, "", batch) else { return false }
    if let call = session.documents?.calls[number] { close(call) }
    let status = DocumentStatus(.resourceExhausted, excess.text)
    batch.add(
      .send(slot: session.slot, DocumentServerFrame.end(stream: number, status).encode()))
    return true
  }

  private mutating func begin(
    _ opening: DocumentCallOpening, _ number: UInt32, _ link: DocumentLink,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    func refuse(_ status: DocumentStatus) {
      batch.add(
        .send(slot: link.slot, DocumentServerFrame.end(stream: number, status).encode()))
    }
    guard let method = DocumentMethod(rawValue: opening.method) else {
      return refuse(DocumentStatus(.unimplemented, "There is no method \(opening.method)."))
    }
    guard link.calls.count < options.limits.documentCalls else {
      let text = "A link carries at most \(options.limits.documentCalls) calls at once."
      return refuse(DocumentStatus(.resourceExhausted, text))
    }
    let authentication: Authentication?
    do throws(AuthenticationError) {
      authentication = try self.authentication(in: opening, isLocal: link.isLocal, batch)
    } catch {
      switch error {
      case .invalid(let reason), .expired(let reason):
        return refuse(DocumentStatus(.unauthenticated, reason))
      }
    }
    let call = DocumentCall(
      number, method, authentication?.identity ?? .anonymous,
      authentication.map { AcceptedCredential($0, batch) }, link)
    link.calls[number] = call
    guard let message = opening.message else { return }
    try take(message, call, &batch)
    if link.calls[number] === call { halfClose(call, &batch) }
  }

  private func authentication(
    in opening: DocumentCallOpening, isLocal: Bool, _ batch: borrowing ServerBatch
  ) throws(AuthenticationError) -> Authentication? {
    guard let entry = opening.metadata.last(where: { $0.name == "authorization" }) else {
      return nil
    }
    let words = entry.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .invalid(reason: "Only bearer tokens are taken.")
    }
    let credential = Credential(.user, token: String(words[1]), isLocal: isLocal)
    return try recognize(credential, batch)
  }

  private mutating func take(
    _ message: [UInt8], _ call: DocumentCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let request: DocumentRequest
    do throws(DocumentWireError) {
      request = try DocumentRequest.decode(call.method, message, in: call.room?.database)
    } catch {
      return try refuseUnread(message, error.status, call, &batch)
    }
    do throws(StorageError) {
      try carryOut(request, call, &batch)
    } catch {
      finish(call, try DocumentStatus(damage: error), &batch)
    }
  }

  /// Answers a message that cannot be read, or is too large.
  private mutating func refuseUnread(
    _ message: [UInt8], _ status: DocumentStatus, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    // A target that cannot be watched is refused; the others of the stream go on.
    if call.method == .listen, let target = DocumentRequest.addedTarget(in: message) {
      return refuse(target, status, call, &batch)
    }
    // So does a stream whose batches are numbered: without an outcome, the batch would be sent
    // again and again.
    if call.method == .write, let unread = DocumentRequest.unreadWrite(in: message) {
      guard diskRoom == .ample else { return finish(call, Self.fullStatus, &batch) }
      do throws(StorageError) {
        if try refuse(unread, status, call, &batch) { return }
      } catch {
        return finish(call, try DocumentStatus(damage: error), &batch)
      }
    }
    finish(call, status, &batch)
  }

  private mutating func carryOut(
    _ request: DocumentRequest, _ call: DocumentCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let room: DocumentRoom
    if let known = call.room {
      room = known
    } else {
      room = try documents.room(request.database, in: batch.reader)
      room.callCount += 1
      call.room = room
    }
    switch request.body {
    case .listen(let request): try listen(request, call, room, &batch)
    case .write(let request): try write(request, call, room, &batch)
    case .get, .list, .create, .update, .delete, .batchGet, .begin, .commit, .rollback, .query,
      .aggregate, .partition, .listCollections, .batchWrite:
      switch try answer(request.body, call, room, &batch) {
      case .success(let responses): deliver(responses, call, room, &batch)
      case .failure(let status): finish(call, status, &batch)
      }
    }
  }

  private func deliver(
    _ responses: [DocumentResponse], _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) {
    var size = 0
    for response in responses {
      let bytes = response.encode(room.names)
      size += bytes.count
      if size > options.limits.answerBytes {
        return finish(call, AnswerSize.tooLarge(options.limits.answerBytes), &batch)
      }
      if !call.method.streamsResponses {
        if size > DocumentWireLimits.messageBytes {
          return finish(call, AnswerSize.tooLarge(DocumentWireLimits.messageBytes), &batch)
        }
        let frame = DocumentServerFrame.answer(stream: call.number, bytes)
        batch.add(.send(slot: call.slot, frame.encode()))
        return close(call)
      }
      send(bytes, call, &batch)
    }
    finish(call, nil, &batch)
  }

  private func halfClose(_ call: DocumentCall, _ batch: inout ServerBatch) {
    let isStream = call.method.streamsRequests
    finish(call, isStream ? nil : DocumentStatus(.invalidArgument, "No message came."), &batch)
  }

  /// Sends one message of a call.
  func send(_ message: [UInt8], _ call: DocumentCall, _ batch: inout ServerBatch) {
    let frame = DocumentServerFrame.message(stream: call.number, message)
    batch.add(.send(slot: call.slot, frame.encode()))
  }

  /// Ends a call from this side.
  func finish(_ call: DocumentCall, _ status: DocumentStatus?, _ batch: inout ServerBatch) {
    let frame = DocumentServerFrame.end(stream: call.number, status)
    batch.add(.send(slot: call.slot, frame.encode()))
    close(call)
  }

  /// Forgets a call and what it watches.
  func close(_ call: DocumentCall) {
    guard call.link.calls.removeValue(forKey: call.number) != nil else { return }
    call.room?.callCount -= 1
    guard let stream = call.stream else { return }
    call.room?.watch.closeStream(stream)
    documents.close(stream)
    call.stream = nil
  }

  /// Forgets all calls of a link that has ended.
  func closeDocuments(of session: Session) {
    guard let link = session.documents else { return }
    for call in link.calls.values { close(call) }
    session.documents = nil
  }
}
