import TernClient
import TernCore
import TernDocumentReplica
import TernSync

// A device that changes hands: each user signs in, and writes under their own name.

extension TortureClient {
  /// The user of the device.
  var user: String { auth.currentUser?.uid ?? "nobody" }

  /// Signs a user in with a token, or out without one.
  func signIn(_ token: String?) throws {
    if let token { try auth.signIn(token: token) } else { try auth.signOut() }
    printLine("user \(user)")
  }

  /// Counts, for each of that many numbers, `marks/USER/N` and the document `mark-USER-N` up by
  /// one, without waiting for the disk in between.
  func mark(_ count: Int) async throws {
    for _ in 0..<count {
      let (user, number) = (user, nextMark)
      nextMark += 1
      let one = TreeNode(.serverValue(.increment(.integer(1))))
      let written = await tree.session.write(.set(try TreePath("marks/\(user)/\(number)"), one))
      let label = "mark \(user) \(number)"
      written.stored.then { result in
        switch result {
        case .success: printLine("stored \(label)")
        case .failure(let error): printLine("refused \(label) \(error)")
        }
      }
      written.end.then { end in
        if end == .accepted { printLine("acked \(label)") } else { printLine("\(end) \(label)") }
      }
      try await markDocument(user, number)
    }
  }

  private func markDocument(_ user: String, _ number: Int) async throws {
    let key = try DocumentKey("\(DocumentWorkload.collection)/mark-\(user)-\(number)")
    let made = try await documents.session.write([.merge(key, with: [DocumentWorkload.one])])
    let label = "document-mark \(user) \(number)"
    made.stored.then { result in
      switch result {
      case .success: printLine("stored \(label)")
      case .failure(let error): printLine("refused \(label) \(error)")
      }
    }
    made.end.then { error in
      switch error {
      case nil: printLine("acked \(label)")
      case .closed?, .cancelled?: break
      case let error?: printLine("refused \(label) \(error)")
      }
    }
  }

  /// Waits until the server has answered all writes of the current user.
  func drain() async throws {
    for await status in tree.queue where status.pending.isEmpty { break }
    try await settleDocuments()
    printLine("drained \(user)")
  }
}
