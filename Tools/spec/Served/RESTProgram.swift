import TernCore
import TernSpecReplay

/// One recorded program: requests in order, on a fresh database.
struct RESTProgram {
  let name: String
  /// The documents that are there before, by path.
  let seed: [JSONValue.Member]
  let steps: [Step]

  /// One request and its expected answer.
  struct Step {
    let id: String
    let method: String
    let path: String
    let body: JSONValue?
    /// `nil` for a step that is carried out and not judged.
    let expectation: Expectation?
    /// The steps in words, for those that no request is recorded of.
    let words: String?
  }

  /// The expected answer; that of the production service where it differs from the emulator's.
  struct Expectation {
    let status: Int
    /// The name of the code, or `not JSON`.
    let code: String
    /// The result order of a query.
    let documents: [String]?
    /// Further members of the answer.
    let members: [JSONValue.Member]
    /// The text of the production service, where it is recorded.
    let message: String?
  }

  init(_ json: JSONValue) throws(SpecError) {
    guard let name = json["name"]?.text, case .array(let steps)? = json["steps"] else {
      throw SpecError("a program without name or steps")
    }
    self.name = name
    if case .object(let members)? = json["seed"] { seed = members } else { seed = [] }
    self.steps = steps.map { Step($0) }
  }
}

extension RESTProgram.Step {
  fileprivate init(_ json: JSONValue) {
    id = json["id"]?.text ?? ""
    method = json["method"]?.text ?? ""
    path = json["path"]?.text ?? ""
    body = json["body"]
    words = json["does"]?.text
    expectation = json["held"] == nil ? RESTProgram.Expectation(json) : nil
  }
}

extension RESTProgram.Expectation {
  fileprivate init(_ json: JSONValue) {
    let recorded = json["production"] ?? json
    status = Int(recorded["status"]?.integer ?? 0)
    code = recorded["code"]?.text ?? ""
    message = json["production"]?["message"]?.text
    var members: [JSONValue.Member] = []
    if case .object(let expected)? = json["expect"] { members = expected }
    if let fields = json["production"]?["fields"] { members.append(.init("fields", fields)) }
    self.members = members
    guard case .array(let paths)? = recorded["documents"] else {
      documents = nil
      return
    }
    documents = paths.compactMap(\.text)
  }
}
