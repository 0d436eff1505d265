import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync

// The documents of the client: the same commands, in the other model.

extension TortureClient {
  private var things: DocumentCollection {
    documents.collection(DocumentWorkload.collection)
  }

  /// Begins to listen to all documents.
  func beginDocuments() {
    let things = things
    documentWatch = Task {
      var last: [String: Double] = [:]
      do throws(DocumentsError) {
        for try await result in things.snapshots() {
          for change in result.changes where change.document.key.id.hasPrefix("sum-") {
            let name = change.document.key.id
            guard let number = DocumentNumber(change.document.fields?["last"])?.double else {
              continue
            }
            if let before = last[name], number < before {
              printLine("broken the last batch of \(name) went back from \(before) to \(number)")
            }
            last[name] = number
          }
        }
      } catch {
        if error != .closed { printLine("broken \(error)") }
      }
    }
  }

  /// Makes one write, and says later what became of it.
  func writeDocument(waitingForDisk: Bool) async throws {
    let item = try documentWorkload.make()
    let promise = await documents.session.write(item.mutations)
    promise.stored.then { result in
      switch result {
      case .success: printLine("stored \(item.label)")
      case .failure(let error): printLine("refused \(item.label) \(error)")
      }
    }
    promise.end.then { error in
      switch error {
      case nil: printLine("acked \(item.label)")
      case .closed?, .cancelled?: break
      case let error?: printLine("refused \(item.label) \(error)")
      }
    }
    if waitingForDisk { _ = await promise.stored.value() }
  }

  /// Runs a transaction without waiting for its outcome.
  func transactDocument(_ number: Int) {
    let room = things.document(DocumentWorkload.rooms[number % DocumentWorkload.rooms.count])
    let name = "\(documentWorkload.name)-\(number)"
    let documents = documents
    transactions.append(
      Task {
        do {
          try await documents.transaction { transaction in
            let fields = try await transaction.get(room).data() ?? DocumentMap()
            try transaction.set(
              room, to: DocumentWorkload.count(name, in: fields), merging: true)
          }
          printLine("acked document-transaction \(name)")
        } catch DocumentsError.refused(let status) where status.code == .unavailable {
          // It is unknown if it was committed.
        } catch {
          printLine("failed document-transaction \(name) \(error)")
        }
      })
  }

  /// Waits until the server has answered every batch, those of earlier runs too.
  func settleDocuments() async throws {
    for await status in documents.queue where status.pending.isEmpty { break }
  }

  /// Joins the meeting, and waits until it sees all the others there.
  ///
  /// As with the tree, who sees that another client has come has seen everything it wrote before.
  func meetDocuments(_ names: [String]) async throws {
    try await things.document("meeting-\(documentWorkload.name)").set(["is": true]).acknowledged()
    for try await result in things.snapshots(includingMetadata: true) {
      let ids = Set(result.documents.map(\.id))
      if !result.metadata.isFromCache, !result.metadata.hasPendingWrites,
        names.allSatisfy({ ids.contains("meeting-\($0)") })
      {
        break
      }
    }
  }

  /// Prints all documents as one JSON object of their fields.
  func printDocuments(isOffline: Bool) async throws {
    let values = DocumentValueJSON(.plain, in: documents.database)
    var writer = JSONWriter()
    writer.beginObject()
    for document in try await things.get(from: isOffline ? .cache : .server).documents {
      writer.key(document.id)
      values.write(document.data() ?? DocumentMap(), to: &writer)
    }
    writer.endObject()
    printLine("documents " + String(decoding: writer.bytes, as: UTF8.self))
  }
}
