import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTreeAuthority
import TernTreeWire
import Testing

@testable import TernServer

/// The reads of a store: lookups of single rows and rows of scans, with their bytes.
struct ReadWork: Equatable {
  var lookups = 0
  var foundBytes = 0
  var rows = 0
  var rowBytes = 0
  /// The large nodes whose hashes were worked out and kept; those of others are of bytes read here.
  var hashedNodes = 0
}

/// Counts the reads that pass through it.
private final class CountingReader: StoreReader {
  private let inner: any StoreReader
  private(set) var work = ReadWork()

  init(_ inner: any StoreReader) { self.inner = inner }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    work.lookups += 1
    var count = 0
    let result = try inner.withValue(for: key) { value throws(StorageError) in
      count = value.count
      return try body(value)
    }
    work.foundBytes += count
    return result
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let before = page.count
    try inner.fill(&page, from: scan)
    work.rows += page.count - before
    for row in before..<page.count {
      work.rowBytes += page.key(at: row).count + page.value(at: row).count
    }
  }
}

/// Takes the token `chief` for an administrator.
struct ChiefAuthenticator: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    guard credential.token == "chief" else { throw .invalid(reason: "unknown") }
    return Authentication(.administrator)
  }
}

/// Lets every client read and write the documents of the collection `open`, and no others.
struct OpenCollectionAuthorizer: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    if requester.identity == .administrator { return true }
    return switch access {
    case .get(let document): document.key.text.hasPrefix("open/")
    case .write(let write): write.before.key.text.hasPrefix("open/")
    case .list(let query):
      query.target == DocumentQuery.collection(CollectionPath(unchecked: "open")).target
    case .privileged(let privilege): privilege == .readWriteTransaction
    case .listCollections: false
    }
  }
}

/// A server with hidden data, and one client without rights that tries things in it.
final class HiddenWorld {
  /// The hidden parts of one world: a node of the tree, and documents of the collection `hidden`.
  struct Secret: Sendable {
    let name: String
    let node: TreeNode
    let documents: [(key: String, fields: DocumentFields)]
  }

  private let ledger: EmbeddedLedger
  private var machine: ServerMachine
  /// The reads of the last batch.
  private(set) var work = ReadWork()
  /// The frames of the last batch.
  private(set) var frames: [[UInt8]] = []

  init(
    _ secret: Secret, _ rules: TreeRules,
    documents: any DocumentAuthorizer = AllowAdministrators()
  ) throws {
    ledger = try EmbeddedLedger(store: MemoryStore(), options: LedgerOptions()) { 0 }
    let counter = Counter(7)
    machine = ServerMachine(
      options: ServerOptions(), authorizer: RulesAuthorizer(rules),
      documentAuthorizer: documents, authenticator: ChiefAuthenticator(),
      randomBits: { counter.next() })
    // One commit of each model, whatever is hidden.
    let tree = TreeMerge(unchecked: [
      .init(path: "drop", node: secret.node), .init(path: "hidden", node: secret.node),
      .init(path: "public/seed", node: 1),
    ])
    _ = try run([
      .direct(ticket: 1, direct(.write(.merge(.root, tree), expectedHash: nil), "chief"))
    ])
    var writes = secret.documents.map {
      DocumentMutation(DocumentKey(stringLiteral: $0.key), .set($0.fields))
    }
    writes.append(DocumentMutation("open/seed", .set([:])))
    _ = try run([.opened(slot: 9, isLocal: true)])
    _ = try run([call(.commit(writes, transaction: [], nil), slot: 9, token: "chief")])
    _ = try run([.opened(slot: 1, isLocal: true), .opened(slot: 2, isLocal: true)])
    let opening = TreeClientMessage.open(TreeOpening(namespace: "default", stream: 5))
    _ = try run([.frame(slot: 1, opening.encode())])
  }

  /// Decides a batch, and describes everything that leaves the server for it.
  func run(_ inputs: [ServerInput]) throws -> [String] {
    var seen = ReadWork()
    let plan = try ledger.read { snapshot throws(StorageError) in
      let counting = CountingReader(snapshot.reader)
      let reader: any StoreReader = counting
      defer { seen = counting.work }
      return try machine.plan(
        inputs, in: LedgerSnapshot(reader, version: snapshot.version), now: 1_000_000, uptime: 0)
    }
    work = seen
    work.hashedNodes = machine.tree.hashes.values.reduce(0) { $0 + $1.count }
    _ = try ledger.commit(plan.commits)
    frames = plan.outputs.compactMap { if case .send(_, let frame) = $0 { frame } else { nil } }
    return plan.outputs.map { output in
      switch output {
      case .send(let slot, let frame): "\(slot) \(String(decoding: frame, as: UTF8.self))"
      case .broadcast(let slots, let frame): "\(slots) \(String(decoding: frame, as: UTF8.self))"
      case .answer(_, let answer): "\(answer)"
      case .close(let slot, let reason): "\(slot) closed: \(reason)"
      }
    }
  }

  /// A message of a call that is open.
  func message(_ body: DocumentRequest.Body, slot: Int = 2, number: UInt32) -> ServerInput {
    let request = DocumentRequest(body, in: benchDatabase)
    return .frame(
      slot: slot, DocumentClientFrame.message(stream: number, request.encode()).encode())
  }

  /// Opens a stream.
  func open(_ method: DocumentMethod, slot: Int = 2, number: UInt32) -> ServerInput {
    let opening = DocumentCallOpening(method)
    return .frame(slot: slot, DocumentClientFrame.open(stream: number, opening).encode())
  }

  func loseLink(_ slot: Int) { machine.loseLink(slot) }

  func direct(_ operation: DirectRequest.Operation, _ token: String? = nil) -> DirectRequest {
    DirectRequest(
      namespace: "default", isLocal: true,
      credential: token.map { Credential(.service, token: $0, isLocal: true) }, operation)
  }

  func call(
    _ body: DocumentRequest.Body, slot: Int = 2, number: UInt32 = 1, token: String? = nil
  ) -> ServerInput {
    let request = DocumentRequest(body, in: benchDatabase)
    let metadata = token.map { [DocumentCallOpening.Entry("authorization", "Bearer " + $0)] }
    let opening = DocumentCallOpening(
      request.method, metadata: metadata ?? [], message: request.encode())
    return .frame(
      slot: slot, DocumentClientFrame.open(stream: number, opening).encode())
  }
}
