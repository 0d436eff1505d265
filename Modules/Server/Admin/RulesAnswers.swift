import TernCore
import TernSecurity
import TernStorage

/// Answers questions about rules: mistakes in a text, and what rules say to a request.
///
/// Questions change nothing and are answered over the data as they are. They serve the console, the
/// command line and tests of rules.
struct RulesAnswers {
  /// The reason a question has no answer.
  struct Objection: Error { let text: String }

  let admin: AdminService
  let documents: DocumentService

  /// Answers a question of an administrator.
  func answer(
    _ request: RulesRequest, _ namespace: Namespace, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    switch request {
    case .check(let text, .tree): return .report(Self.checkTree(text))
    case .check(let text, .documents): return .report(Self.checkDocuments(text))
    case .readDocuments:
      let rules = documents.authorizers.rules(named: namespace.name)
      return .rules(rules?.source ?? Array(Self.noDocumentRules.utf8))
    case .explain(let question):
      do {
        return .report(
          question.language == .tree
            ? try explainTree(question, namespace, batch)
            : try explainDocuments(question, namespace.name, batch))
      } catch let objection as Objection {
        return .refused(.invalid(objection.text))
      } catch let error as StorageError {
        if error.isCorruption { return .refused(.damaged) }
        throw error
      } catch {
        return .refused(.invalid("\(error)"))
      }
    }
  }

  /// The text for documents without rules.
  static let noDocumentRules = """
    // No rules are in force here. These deny everything to all but administrators:
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /{document=**} {
          allow read, write: if false;
        }
      }
    }

    """
}

// MARK: - Checking

extension RulesAnswers {
  private static func checkTree(_ text: [UInt8]) -> JSONValue {
    do throws(RulesFileError) {
      return report([], count: try TreeRules(text).count)
    } catch {
      return report(
        error.problems.map { issue("error", $0.position, $0.message, rule: $0.rule) }, count: 0)
    }
  }

  private static func checkDocuments(_ text: [UInt8]) -> JSONValue {
    do throws(DocumentRulesError) {
      let rules = try DocumentRules(source: text)
      return report(
        rules.warnings.map { issue("warning", $0.position, $0.message) }, count: rules.allowCount)
    } catch {
      return report(error.problems.map { issue("error", $0.position, $0.message) }, count: 0)
    }
  }

  /// The most mistakes that are told.
  ///
  /// A text of another language would otherwise produce a report larger than itself.
  private static let mostIssues = 200

  /// Returns the report about a text of rules.
  ///
  /// The object has `rules`, the number of rules that grant something, and `issues`.
  private static func report(_ issues: [JSONValue], count: Int) -> JSONValue {
    .object([
      .init("rules", .integer(Int64(count))),
      .init("issues", .array(Array(issues.prefix(mostIssues)))),
    ])
  }

  /// Returns one finding of a report.
  ///
  /// Lines and columns count from 1.
  private static func issue(
    _ severity: String, _ position: RulesPosition, _ message: String, rule: String? = nil
  ) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("severity", .string(severity)), .init("line", .integer(Int64(position.line))),
      .init("column", .integer(Int64(position.column))), .init("message", .string(message)),
    ]
    if let rule { members.append(.init("rule", .string(rule))) }
    return .object(members)
  }
}

// MARK: - Explaining

extension RulesAnswers {
  private static func verdict(_ isAllowed: Bool, _ text: String) -> JSONValue {
    .object([.init("allowed", .bool(isAllowed)), .init("text", .string(text))])
  }

  /// Judges a hypothetical request about the tree.
  ///
  /// - Parameter question: Its rules are those to judge by; without any, those in force.
  /// - Throws: An ``Objection`` for questions that have no answer, such as an invalid path; storage
  ///   errors that the rules met.
  private func explainTree(
    _ question: RulesQuestion, _ namespace: Namespace, _ batch: borrowing ServerBatch
  ) throws -> JSONValue {
    let rules: TreeRules
    if let text = question.rules {
      rules = try TreeRules(text)
    } else {
      guard let inForce = admin.rules(of: namespace) else {
        throw Objection(text: "No rules are in force here: how the server was started decides.")
      }
      rules = inForce
    }
    let path: TreePath
    let node: TreeNode
    do throws(TreeError) {
      path = try TreePath(writable: question.path)
      node = question.operation == "write" ? try TreeNode(json: question.value.bytes) : .empty
    } catch {
      throw Objection(text: error.text)
    }
    let reading = TreeReading(namespace.rows, batch.reader)
    let caller = RulesCaller(auth: question.auth, now: batch.now)
    let explanation: RulesExplanation
    switch question.operation {
    case "read": explanation = try rules.explainRead(path, by: caller, in: reading)
    case "write", "delete":
      let write = TreeWrite.set(path, node).resolvingServerValues(now: batch.now) {
        reading.node(at: $0)
      }
      let entries = write.assignments
      explanation = try rules.explainWrite(
        entries.map(\.path), by: caller, from: reading,
        to: ProposedSnapshot(entries, over: reading))
    default: throw Objection(text: "The operation is read, write or delete.")
    }
    try reading.finish()
    return Self.verdict(explanation.verdict.isAllowed, explanation.description)
  }

  /// Judges a hypothetical request about a document.
  ///
  /// The write is judged alone: `getAfter` sees the new fields of this document, and the present
  /// ones of all others.
  private func explainDocuments(
    _ question: RulesQuestion, _ name: String, _ batch: borrowing ServerBatch
  ) throws -> JSONValue {
    let rules: DocumentRules
    if let text = question.rules {
      rules = try DocumentRules(source: text)
    } else {
      guard let inForce = documents.authorizers.rules(named: name) else {
        throw Objection(text: "No rules are in force here: how the server was started decides.")
      }
      rules = inForce
    }
    guard let database = DocumentDatabase(resourceName: name) else {
      throw Objection(text: "The database is projects/P/databases/D.")
    }
    let key: DocumentKey
    var fields: DocumentFields?
    do {
      key = try DocumentKey(question.path)
      if ["create", "update"].contains(question.operation) {
        let json = question.value == .null ? JSONValue.object([]) : question.value
        fields = DocumentFields(try DocumentValueJSON(.plain, in: database).fields(json))
      }
    } catch { throw Objection(text: "\(error)") }
    let lookup = try documents.lookup(in: database, batch)
    guard let request = Self.request(question, key, database, fields, lookup, batch.now) else {
      throw Objection(text: "The operation is get, create, update or delete.")
    }
    let after = fields
    let isWrite = question.operation != "get"
    let state = DocumentRulesState(
      before: { lookup.document($0).fields },
      after: { isWrite && $0 == key ? after : lookup.document($0).fields })
    var budget = DocumentRulesBudget.single
    let verdict = rules.judge(request, state: state, budget: &budget)
    try lookup.finish()
    return Self.verdict(verdict.isAllowed, verdict.description)
  }

  /// Returns the request that a question describes.
  ///
  /// - Returns: `nil` for an unknown operation.
  private static func request(
    _ question: RulesQuestion, _ key: DocumentKey, _ database: DocumentDatabase,
    _ fields: DocumentFields?, _ lookup: DocumentLookup, _ now: Int64
  ) -> DocumentRulesRequest? {
    let methods: [String: DocumentRuleMethods] = [
      "get": .get, "create": .create, "update": .update, "delete": .delete,
    ]
    guard let method = methods[question.operation] else { return nil }
    return DocumentRulesRequest(
      method, key, in: database.databaseID,
      at: DocumentTimestamp(uncheckedMicroseconds: now * 1_000),
      auth: DocumentRuleValue(json: question.auth), resource: lookup.document(key).fields,
      change: question.operation == "get" ? .none : .write(fields))
  }
}

extension DocumentDatabase {
  /// Takes apart `projects/P/databases/D`; `nil` for anything else.
  init?(resourceName: String) {
    let parts = resourceName.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "projects", parts[2] == "databases",
      let database = try? DocumentDatabase(
        projectID: String(parts[1]), databaseID: String(parts[3]))
    else { return nil }
    self = database
  }
}
