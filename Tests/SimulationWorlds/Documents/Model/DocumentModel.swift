import TernCore
import TernDocumentAuthority
import TernLedger
import TernSync

/// The expected state of the documents: a plain replay of the server's log, and the origin of every
/// write in it.
struct DocumentModel {
  /// All documents after one commit.
  struct Moment {
    let version: DocumentVersion
    let documents: [DocumentKey: NaiveDocument]
  }

  /// A batch as its client made it durable.
  struct DurableBatch {
    let user: QueueUser
    let mutations: [DocumentMutation]
    /// The last moment before it was durable.
    let since: Int
    var isSettled = false
    /// `true` once a run of its client has received the outcome.
    var isAnswered = false
    /// `true` once a rejection could not be written into the queue: the next run may not know it.
    var hasLostRejection = false
    /// `true` once an application was told that it was rejected.
    var wasToldRejected = false
  }

  /// The outcome of a batch in the log.
  struct Applied {
    let version: DocumentVersion
    /// For each write the version of its document afterwards, `nil` for a delete, and what its
    /// transforms came to.
    let results: [(version: DocumentVersion?, values: [DocumentValue])]
  }

  /// The rules that were in force from a moment on.
  struct Epoch {
    let rules: RulesInForce
    /// The index of the newest moment when they came into force.
    let since: Int
  }

  /// The user and the writes of a transaction.
  struct Transaction {
    let user: QueueUser
    let mutations: [DocumentMutation]
  }

  /// All moments there were, ascending.
  private(set) var moments = [Moment(version: .none, documents: [:])]
  /// The different states of each document, beginning with none.
  private(set) var histories: [DocumentKey: [NaiveDocument]] = [:]
  private(set) var applied: [CommitID: Applied] = [:]
  var durable: [CommitID: DurableBatch] = [:]
  /// The names of the batches in rows, by queue.
  var rows: [QueueName: [UInt64: CommitID]] = [:]
  /// The rows of the documents begin with this.
  private(set) var prefix: [UInt8]?
  /// The transactions, by the name of the commit.
  var transactions: [CommitID: Transaction] = [:]
  /// All rules there were, ascending.
  private(set) var epochs = [Epoch(rules: .fixed, since: 0)]
  /// The rows of batches that were rejected and are kept, by queue.
  var rejectedRows: [QueueName: Set<UInt64>] = [:]
  /// The bounds of the transactions' counter.
  var tally = ServerModel.CounterBounds()

  var truth: Moment { moments[moments.count - 1] }

  /// The rules in force.
  var rules: RulesInForce { epochs[epochs.count - 1].rules }

  /// Other rules are in force from now on.
  mutating func adopt(_ rules: RulesInForce) {
    epochs.append(Epoch(rules: rules, since: moments.count - 1))
  }

  /// The last moment at a time.
  func index(at version: DocumentVersion) -> Int {
    var (low, high) = (0, moments.count)
    while low < high {
      let middle = (low + high) / 2
      if moments[middle].version <= version { low = middle + 1 } else { high = middle }
    }
    return max(low - 1, 0)
  }

  func moment(at version: DocumentVersion) -> Moment { moments[index(at: version)] }

  /// Every state a document ever had; the first one is that there was none.
  func history(of key: DocumentKey) -> [NaiveDocument] { histories[key] ?? [.missing] }
}

// MARK: - Following the log

extension DocumentModel {
  /// Takes in what was committed since the last time.
  ///
  /// - Returns: What is wrong with it, and which documents changed.
  mutating func follow(_ entries: [LogEntry]) -> (wrong: [String], changed: Set<DocumentKey>) {
    var wrong: [String] = []
    var changed: Set<DocumentKey> = []
    for entry in entries {
      guard let record = DocumentRecord(entry.record) else { continue }
      prefix = record.prefix
      if record.version <= truth.version {
        wrong.append("the commit of \(record.version) follows that of \(truth.version)")
      }
      var state = truth.documents
      for document in record.documents {
        changed.insert(document.key)
        let next = NaiveDocument(fields: document.fields, version: document.version)
        state[document.key] = document.isFound ? next : nil
        histories[document.key, default: [.missing]].append(
          document.isFound ? next : NaiveDocument(fields: nil, version: record.version))
      }
      if let id = entry.id {
        if applied[id] != nil { wrong.append("\(id) was applied twice") }
        wrong += check(id, record, state)
      }
      wrong += checkTally(state)
      moments.append(Moment(version: record.version, documents: state))
    }
    return (wrong, changed)
  }

  /// Checks that a batch of the log is the one its client asked for, computed on what was there.
  private mutating func check(
    _ id: CommitID, _ record: DocumentRecord, _ made: [DocumentKey: NaiveDocument]
  ) -> [String] {
    let batch = durable[id]
    guard let asked = batch?.mutations ?? transactions[id]?.mutations else {
      applied[id] = Applied(version: record.version, results: [])
      return []
    }
    if batch?.wasToldRejected == true { return ["\(id) was made after its user was told that not"] }
    let user = batch?.user ?? transactions[id]?.user ?? .nobody
    let expected = outcome(
      of: asked, by: user, on: truth.documents, at: record.version, under: rules)
    guard case .success(let (documents, results)) = expected else {
      return ["\(id) was rejected by the model, and applied: \(asked.map { words($0) })"]
    }
    applied[id] = Applied(version: record.version, results: results)
    if documents != made {
      let keys = Set(documents.keys).union(made.keys).filter { documents[$0] != made[$0] }
      return keys.sorted().map {
        "\(id) left \(words(made[$0])) at \($0), expected \(words(documents[$0]))"
      }
    }
    return []
  }

  /// Transactions add one at a time to what they have read.
  private func checkTally(_ state: [DocumentKey: NaiveDocument]) -> [String] {
    let key = DocumentWorkloadSpace.tally
    let (old, new) = (count(in: truth.documents[key]), count(in: state[key]))
    return old == new || new == old + 1 ? [] : ["the tally goes from \(old) to \(new)"]
  }
}

/// The number in the field `n` of a document, or 0.
func count(in document: NaiveDocument?) -> Int64 {
  if case .integer(let count)? = document?.fields?[DocumentWorkloadSpace.path("n")] { return count }
  return 0
}

/// A few words about a document.
func words(_ document: NaiveDocument?) -> String {
  guard let document, let fields = document.fields else { return "nothing" }
  return "v\(document.version.microseconds) \(words(fields))"
}

func words(_ fields: DocumentFields) -> String { words(.map(fields.map)) }

private func words(_ value: DocumentValue) -> String {
  switch value {
  case .map(let map):
    "{\(map.entries.map { "\($0.name):\(words($0.value))" }.joined(separator: " "))}"
  case .array(let values): "[\(values.map { words($0) }.joined(separator: " "))]"
  case .integer(let number): "\(number)"
  case .double(let number): "\(number)"
  case .string(let text): "'\(text)'"
  case .boolean(let isTrue): "\(isTrue)"
  case .null: "null"
  case .timestamp(let time): "@\(time.microseconds)"
  case .pendingTimestamp(let time): "@@\(time.localWriteTime.microseconds)"
  default: "\(value)"
  }
}
