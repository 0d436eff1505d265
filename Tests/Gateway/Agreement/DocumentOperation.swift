#if TCP && canImport(Glibc)
  import TernCore
  import TernQuery

  /// One thing that can be asked of documents over any endpoint.
  struct DocumentOperation: Sendable {
    enum Kind: Sendable {
      case write([DocumentMutation])
      case get(DocumentKey)
      case list(DocumentQuery)
    }

    /// The user who asks; `nil` for none.
    let user: String?
    let kind: Kind
  }

  /// The outcome of an operation at one endpoint.
  enum DocumentOutcome: Hashable, Sendable, CustomStringConvertible {
    /// Done; the documents that were read, one a line, in the order of their names.
    case done([String])
    case failed(DocumentStatus.Code)
    /// Something that no operation should come to.
    case other(String)

    var description: String {
      switch self {
      case .done(let lines): "done \(lines)"
      case .failed(let code): "failed \(code)"
      case .other(let text): "other: \(text.prefix(300))"
      }
    }
  }

  /// Draws operations from a seed, over few documents, with rules of many kinds.
  struct DocumentDice {
    static let rules = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          function signedIn() { return request.auth != null; }
          match /open/{id} { allow read, write; }
          match /shut/{id} { allow read: if false; }
          match /readonly/{id} { allow read: if true; }
          match /own/{id} {
            allow read: if signedIn() && resource.data.owner == request.auth.uid;
            allow create: if signedIn() && request.resource.data.owner == request.auth.uid;
            allow update: if signedIn() && resource.data.owner == request.auth.uid
              && request.resource.data.diff(resource.data).affectedKeys().hasOnly(['n', 'text']);
            allow delete: if signedIn() && resource.data.owner == request.auth.uid;
          }
          match /small/{id} {
            allow read: if true;
            allow write: if request.resource.data.n is int && request.resource.data.n < 50;
          }
          match /gate/{id} {
            allow read: if exists(/databases/$(database)/documents/open/a);
            allow create, update: if
              get(/databases/$(database)/documents/open/b).data.n != request.resource.data.n;
            allow delete: if !existsAfter(/databases/$(database)/documents/open/a);
          }
          match /rising/{id} {
            allow read: if request.auth.uid in resource.data.readers;
            allow create: if request.resource.data.keys().hasAll(['n']);
            allow update: if request.resource.data.n > resource.data.n;
          }
          match /{path=**}/deep/{id} { allow get: if true; }
        }
      }
      """

    private static let collections = [
      "open", "shut", "readonly", "own", "small", "gate", "rising", "open/a/deep", "nowhere",
    ]
    private static let ids = ["a", "b", "c"]
    private static let users: [String?] = ["ann", "ben", nil]

    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    private mutating func roll(_ sides: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state >> 33) % sides
    }

    private mutating func pick<Element>(_ all: [Element]) -> Element { all[roll(all.count)] }

    private mutating func key() -> DocumentKey {
      DocumentKey(unchecked: "\(pick(Self.collections))/\(pick(Self.ids))")
    }

    mutating func operation() -> DocumentOperation {
      let user = pick(Self.users)
      switch roll(10) {
      case 0..<2: return DocumentOperation(user: user, kind: .get(key()))
      case 2..<4: return DocumentOperation(user: user, kind: .list(query()))
      case 4..<9: return DocumentOperation(user: user, kind: .write([mutation()]))
      default:
        let count = 2 + roll(3)
        return DocumentOperation(user: user, kind: .write((0..<count).map { _ in mutation() }))
      }
    }

    private mutating func query() -> DocumentQuery {
      var query = DocumentQuery.collection(CollectionPath(unchecked: pick(Self.collections)))
      switch roll(5) {
      case 0:
        query = (try? query.where(path("owner"), .equal, .string(pick(["ann", "ben"])))) ?? query
      case 1:
        query = (try? query.where(path("n"), .greaterThan, .integer(Int64(roll(60))))) ?? query
      case 2:
        query =
          (try? query.where(path("readers"), .arrayContains, .string(pick(["ann", "ben"]))))
          ?? query
      case 3: query = (try? query.where(path("owner"), .in, ["ann", "ben"])) ?? query
      default: break
      }
      return query
    }

    private func path(_ name: String) -> DocumentFieldPath { DocumentFieldPath(unchecked: [name]) }

    private mutating func mutation() -> DocumentMutation {
      let key = key()
      switch roll(10) {
      case 0..<4:
        let mutation = DocumentMutation(key, .set(DocumentFields(fields())))
        return roll(4) == 0 ? mutation.requiring(.exists(false)) : mutation
      case 4..<7:
        let name = pick(["n", "text", "owner"])
        let mask = DocumentFieldMask([path(name)])
        let value = DocumentFields(DocumentMap([(name, value(of: name))]))
        let mutation = DocumentMutation(key, .patch(value, mask: mask))
        return roll(3) == 0 ? mutation : mutation.requiring(.exists(true))
      case 7:
        return DocumentMutation(
          key, .patch(DocumentFields(), mask: DocumentFieldMask([])),
          precondition: roll(2) == 0 ? .exists(true) : .none,
          transforms: [DocumentFieldTransform(path("n"), .increment(.integer(Int64(roll(9)))))])
      default:
        return DocumentMutation(key, .delete, precondition: roll(3) == 0 ? .exists(true) : .none)
      }
    }

    private mutating func value(of name: String) -> DocumentValue {
      switch name {
      case "n": roll(8) == 0 ? .string("many") : .integer(Int64(roll(60)))
      case "owner": .string(pick(["ann", "ben"]))
      case "readers": .array([.string(pick(["ann", "ben"]))])
      default: .string("text \(roll(5))")
      }
    }

    private mutating func fields() -> DocumentMap {
      var members: [(String, DocumentValue)] = []
      for name in ["n", "owner", "readers", "text"] where roll(4) > 0 {
        members.append((name, value(of: name)))
      }
      return DocumentMap(members)
    }
  }
#endif
