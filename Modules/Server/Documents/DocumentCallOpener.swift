import TernCore
import TernDocumentWire
import TernSecurity

/// Opens the calls of a link of documents: finds out what is called, and by which user.
struct DocumentCallOpener {
  let context: ServerContext

  /// Adds a call to its link.
  ///
  /// - Throws: The status with which the call ends: the method is unknown, the link carries as many
  ///   calls as it may, or the credential is not accepted.
  func open(
    _ opening: DocumentCallOpening, _ number: UInt32, on link: DocumentLink,
    _ credentials: CredentialChecker, _ batch: borrowing ServerBatch
  ) throws(DocumentStatus) -> DocumentCall {
    guard let method = DocumentMethod(rawValue: opening.method) else {
      let name = "\(DocumentMethod.service)/\(opening.method)"
      throw DocumentStatus(.unimplemented, "Method \(name) is unimplemented")
    }
    let limit = context.options.limits.documentCalls
    guard link.calls.count < limit else {
      throw DocumentStatus(
        .resourceExhausted, "A link carries at most \(limit) calls at once.")
    }
    let accepted = try accept(opening, on: link, credentials, batch)
    let call = DocumentCall(
      number, method, accepted?.authentication.identity ?? .anonymous, accepted, link,
      ListenCharge(
        context.budget, address: link.address, user: accepted?.authentication.identity.userID))
    link.calls[number] = call
    return call
  }

  /// Returns the credential of a call; `nil` for an anonymous one.
  private func accept(
    _ opening: DocumentCallOpening, on link: DocumentLink, _ credentials: CredentialChecker,
    _ batch: borrowing ServerBatch
  ) throws(DocumentStatus) -> AcceptedCredential? {
    do throws(AuthenticationError) {
      guard let shown = try Self.credential(in: opening, isLocal: link.isLocal) else { return nil }
      return AcceptedCredential(try credentials.recognize(shown, batch), batch)
    } catch {
      switch error {
      case .invalid(let reason), .expired(let reason):
        throw DocumentStatus(.unauthenticated, reason)
      }
    }
  }

  /// Returns the credential in the metadata of a call; `nil` without one.
  ///
  /// The last `authorization` entry counts. Other schemes than `Bearer` are an error rather than an
  /// anonymous call, so that a client notices.
  private static func credential(
    in opening: DocumentCallOpening, isLocal: Bool
  ) throws(AuthenticationError) -> Credential? {
    guard let entry = opening.metadata.last(where: { $0.name == "authorization" }) else {
      return nil
    }
    let words = entry.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .invalid(reason: "Only bearer tokens are taken.")
    }
    return Credential(.user, token: String(words[1]), isLocal: isLocal)
  }
}
