import TernCore
import TernSecurity

/// The cost of 100 rules for documents for a write whose rules read two documents.
///
/// The baseline is the limit, 40 µs at the median.
enum DocumentRulesSection {
  private static let limitMicroseconds = 40.0
  private static let ruleCount = 100
  private static let judgements = 5_000
  private static let clock = ContinuousClock()

  /// A file in which a write meets some of the rules.
  private enum Load: String, CaseIterable {
    case one = "100 document rules, 2 met: 40 µs"
    case all = "100 document rules, all met: 40 µs"

    /// The last statement allows, after it has read two documents.
    var source: String {
      let condition = """
        isMember('r') && get(/databases/$(database)/documents/users/$(request.auth.uid)).data.level \
        >= 3 && request.resource.data.keys().hasOnly(['author', 'text', 'n', 'at'])
        """
      let others = (1..<ruleCount - 1).map { number in
        let statement = "allow write: if request.resource.data.n == \(number);"
        return self == .all ? statement : "match /c\(number)/{id} { \(statement) }"
      }.joined(separator: "\n")
      return """
        rules_version = '2';
        service cloud.firestore { match /databases/{database}/documents {
          function isMember(room) {
            return request.auth.uid in
              get(/databases/$(database)/documents/rooms/$(room)).data.members;
          }
          \(self == .one ? others : "")
          match /messages/{id} {
            \(self == .all ? others : "")
            allow create: if request.resource.data.author == 'nobody';
            allow create, update: if \(condition);
          }
        } }
        """
    }
  }

  static func run(rounds: Int) throws -> [BenchLine] {
    try Load.allCases.map { load in
      let rules = try DocumentRules(source: load.source)
      guard rules.allowCount == ruleCount else {
        throw BenchFailure(reason: "\(rules.allowCount) rules")
      }
      let medians = try (0..<max(rounds, 1)).map { _ in try median(of: rules) }
      let cost = BenchLine.median(medians)
      print("\(load.rawValue.prefix(while: { $0 != ":" })): median \(BenchLine.tenths(cost)) µs")
      return BenchLine(
        name: load.rawValue, rate: 1_000_000 / cost, baseline: 1_000_000 / limitMicroseconds,
        target: 1)
    }
  }

  /// Returns the median time of one decision, in microseconds.
  private static func median(of rules: DocumentRules) throws -> Double {
    let documents: [DocumentKey: DocumentFields] = [
      try DocumentKey("rooms/r"): ["members": ["ann", "bob", "mia"], "name": "room"],
      try DocumentKey("users/mia"): ["level": 7, "name": "mia"],
    ]
    let key = try DocumentKey("messages/m1")
    let after: DocumentFields = ["author": "mia", "text": "a text of some length", "n": 0]
    let auth = DocumentRuleValue(
      json: .object([.init("uid", .string("mia")), .init("token", .object([]))]))
    let state = DocumentRulesState { documents[$0] }
    var times: [Double] = []
    for _ in 0..<judgements {
      let start = clock.now
      let request = DocumentRulesRequest(
        .create, key, in: "(default)", at: DocumentTimestamp(uncheckedMicroseconds: 0),
        auth: auth, resource: nil, change: .write(after))
      var budget = DocumentRulesBudget.single
      let verdict = rules.judge(request, state: state, budget: &budget)
      times.append((clock.now - start) / .microseconds(1))
      guard verdict.isAllowed, verdict.reads.count == 2 else {
        throw BenchFailure(reason: "\(verdict)")
      }
    }
    return BenchLine.median(times)
  }
}
