import Synchronization
import TernCore
import TernQuery

/// A denial of access to documents, for the log of an operator; clients must not see it.
public struct DocumentDenial: Sendable, CustomStringConvertible {
  /// Sixteen hexadecimal digits, which the client is told; the same for the same rules, request and
  /// time.
  public let id: String
  /// The address of the request's origin; empty when it is unknown.
  ///
  /// The sampler counts denials by it.
  let address: String
  /// The request in words, with paths but without data.
  private let subject: String
  /// The time of the request, in microseconds since 1970.
  private let time: Int64
  /// The result of every statement that was asked; `nil` for a request that no rule can allow.
  private let verdict: DocumentRulesVerdict?

  /// - Parameters:
  ///   - access: The part of the request that was denied.
  ///   - verdict: The result of the rules; `nil` when no rule applies to such an access.
  ///   - requester: The origin of the request.
  ///   - rules: The fingerprint of the rules in force.
  ///   - time: The time of the request.
  init(
    _ access: DocumentAccess, _ verdict: DocumentRulesVerdict?, by requester: Requester,
    rules: UInt64, at time: DocumentTimestamp
  ) {
    let subject = Self.text(of: access)
    var sum = Fingerprint()
    sum.add(rules)
    sum.add(UInt64(bitPattern: time.microseconds))
    sum.add(requester.namespace.utf8)
    sum.add(Self.publicText(of: access).utf8)
    id = sum.text
    address = requester.address
    self.subject = subject
    self.time = time.microseconds
    self.verdict = verdict
  }

  /// Milliseconds since 1970.
  var milliseconds: Int64 { time / 1_000 }

  /// The reasons as the emulator tells them.
  var reason: String { verdict?.denialText ?? "\nNo rule can allow this to users." }

  /// One line: the request and the id.
  var line: String { "denied: \(subject) [\(id)]" }

  /// Several lines: the request, the id, and what every statement came to.
  public var description: String {
    guard let verdict else { return line + "\n  no rule can allow this" }
    return line + "\n" + verdict.description
  }

  /// The request in the words that the id is made from.
  ///
  /// A write that is no deletion is a creation or an update by whether its document exists, which
  /// the id must not tell.
  private static func publicText(of access: DocumentAccess) -> String {
    guard case .write(let write) = access, write.method != .delete else { return text(of: access) }
    return "write of \(PrintedText.path(write.before.key.text))"
  }

  /// The request in words, without data.
  private static func text(of access: DocumentAccess) -> String {
    switch access {
    case .get(let document): "get of \(PrintedText.path(document.key.text))"
    case .list(let query): "list of \(text(of: query.source))"
    case .listCollections(let parent):
      "list of collections below \(PrintedText.path(parent?.text ?? ""))"
    case .write(let write):
      "\(write.method.rawValue) of \(PrintedText.path(write.before.key.text))"
    case .privileged(.readWriteTransaction): "transaction that writes"
    case .privileged(.batchWrite): "batch of single writes"
    case .privileged(.partition): "partition of a query"
    }
  }
}

extension DocumentDenial {
  private static func text(of source: DocumentQuery.Source) -> String {
    if case .collection(let path) = source { return PrintedText.path(path.text) }
    if case .group(let id) = source { return "the group " + PrintedText.path(id) }
    if case .document(let key) = source { return PrintedText.path(key.text) }
    return "several collections"
  }
}

/// A rate-limited report of denials, and the words for clients.
final class DocumentDenialReporter: Sendable {
  let showsReasons: Bool
  private let onDenial: (@Sendable (DocumentDenial) -> Void)?
  private let onOmitted: (@Sendable (OmittedDenials) -> Void)?
  private let sampler = Mutex(DenialSampler())

  init(
    showsReasons: Bool, onDenial: (@Sendable (DocumentDenial) -> Void)?,
    onOmitted: (@Sendable (OmittedDenials) -> Void)?
  ) {
    self.showsReasons = showsReasons
    self.onDenial = onDenial
    self.onOmitted = onOmitted
  }

  /// Reports a denial as far as its address has tokens left, and returns it for the client.
  ///
  /// Unlike ``DenialLog``, it needs no second judgment: the verdict on documents has its findings
  /// already. A denial beyond the detailed ones is reported in full for the same reason.
  func refusal(_ denial: DocumentDenial) -> AccessRefusal {
    let refusal = AccessRefusal(id: denial.id, reason: showsReasons ? denial.reason : nil)
    guard let onDenial else { return refusal }
    let address = onOmitted == nil ? nil : denial.address
    let decision = sampler.withLock { $0.take(address, at: denial.milliseconds) }
    for summary in decision.summaries { onOmitted?(summary) }
    if decision.detail != .omitted { onDenial(denial) }
    return refusal
  }
}
