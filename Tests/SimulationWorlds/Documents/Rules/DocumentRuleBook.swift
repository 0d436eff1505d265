import TernCore
import TernQuery
import TernSecurity
import TernSync

/// Permissions for documents, said twice: as the text of rules, and as plain predicates that share
/// no code with them.
///
/// A book combines a policy for each collection. Under every book the rest of the workload's
/// documents is as open as under ``DocumentWorkloadRules``.
struct DocumentRuleBook {
  /// The policy for `items`.
  enum Items: CaseIterable { case open, signedIn, checked }
  /// The policy for `notes`, which have owners.
  enum Notes: CaseIterable { case owned, published, closed }
  /// The policy for `posts`, which rests on the documents in `roles`.
  enum Posts: CaseIterable { case byRole, byLevel }
  /// The policy for the messages in rooms, which rests on the rooms.
  enum Rooms: CaseIterable { case byRoom, anywhere }
  /// The policy for the pair.
  enum Pair: CaseIterable { case open, alike }

  let items: Items
  let notes: Notes
  let posts: Posts
  let rooms: Rooms
  let pair: Pair

  /// One of all books.
  init(_ chance: inout RandomSource) {
    func policy<P: CaseIterable>(of _: P.Type) -> P {
      let all = Array(P.allCases)
      return all[chance.below(all.count)]
    }
    items = policy(of: Items.self)
    notes = policy(of: Notes.self)
    posts = policy(of: Posts.self)
    rooms = policy(of: Rooms.self)
    pair = policy(of: Pair.self)
  }

  /// A few words for the trace.
  var words: String { "items \(items) notes \(notes) posts \(posts) rooms \(rooms) pair \(pair)" }

  var rules: DocumentRules {
    do throws(DocumentRulesError) { return try DocumentRules(source: text) } catch {
      preconditionFailure("a rule book is no rules: \(error)")
    }
  }

  /// The book that a server has stored.
  static func stored(as text: [UInt8], among books: [DocumentRuleBook]) -> DocumentRuleBook? {
    books.first { Array($0.text.utf8) == text }
  }
}

// MARK: - Reading

extension DocumentRuleBook {
  func mayGet(_ key: DocumentKey, _ fields: DocumentFields?, _ state: NaiveAccessState) -> Bool {
    let place = key.collection.text
    switch Place(place) {
    case .notes:
      switch notes {
      case .owned: return state.owns(fields) || fields.isPublic
      case .published: return fields.isPublic || state.isEditor
      case .closed: return fields == nil || state.owns(fields)
      }
    case .posts:
      switch posts {
      case .byRole: return state.role != nil
      case .byLevel: return state.level.map { $0 >= 2 } ?? false
      }
    case .messages(let room): return rooms == .anywhere || state.mayEnter(room)
    case .items: return items != .signedIn || state.isSignedIn
    case .diary(let owner): return state.user == owner
    case .rest: return true
    }
  }

  func mayList(_ query: DocumentQuery, _ state: NaiveAccessState) -> Bool {
    guard case .collection(let path) = query.source else {
      // The rules of parts begin anywhere, and so do some of those of messages.
      if case .group(let name) = query.source { return name == "parts" || rooms == .anywhere }
      return false
    }
    // What can match no document is no alternative, and shows nothing.
    let alternatives = query.filter.alternatives.filter { !$0.contains(.impossible) }
    if alternatives.isEmpty { return true }
    switch Place(path.text) {
    case .notes:
      switch notes {
      case .owned:
        return alternatives.allSatisfy {
          $0.contains(.published) || state.isSignedIn && $0.contains(.ownedBy(state.user))
        }
      case .published:
        return state.isEditor || alternatives.allSatisfy { $0.contains(.published) }
      case .closed: return false
      }
    case .posts:
      switch posts {
      case .byRole: return state.role != nil
      case .byLevel: return state.isSignedIn && query.limit.map { $0.count <= 3 } ?? false
      }
    case .messages(let room): return rooms == .anywhere || state.mayEnter(room)
    case .items: return items != .signedIn || state.isSignedIn
    case .diary(let owner): return state.user == owner
    case .rest: return path.text != "secret"
    }
  }

  /// Returns `true` if the rule of lists holds for one document: what a proof promises of all.
  func mayFind(_ document: Document, _ state: NaiveAccessState) -> Bool {
    guard case .notes = Place(document.key.collection.text) else { return true }
    switch notes {
    case .owned: return state.owns(document.fields) || document.fields.isPublic
    case .published: return document.fields.isPublic || state.isEditor
    case .closed: return false
    }
  }
}

// MARK: - Writing

extension DocumentRuleBook {
  func mayWrite(_ step: NaiveStep, _ state: NaiveAccessState) -> Bool {
    if step.method == .verify { return mayGet(step.key, step.before, state) }
    switch Place(step.key.collection.text) {
    case .notes: return mayWriteNote(step, state)
    case .posts:
      switch posts {
      case .byRole: return state.isEditor
      case .byLevel: return state.levelAfter.map { $0 > 0 } ?? false
      }
    case .messages(let room):
      switch rooms {
      case .byRoom: return step.method == .create && state.mayEnter(room)
      case .anywhere: return state.after[DocumentRulesSpace.firstRoom]?.fields != nil
      }
    case .items:
      guard items == .checked, step.method != .delete else { return true }
      guard let number = step.after?[.number] else { return step.after != nil }
      if case .integer(let number) = number { return number < 10 }
      return false
    case .diary(let owner): return state.user == owner
    case .rest:
      let collection = step.key.collection.text
      if collection == "pair", pair == .alike {
        let both = DocumentWorkloadSpace.pair.map { state.after[$0]?.fields }
        return both[0] != nil && both[0] == both[1]
      }
      return collection != "locked"
    }
  }

  private func mayWriteNote(_ step: NaiveStep, _ state: NaiveAccessState) -> Bool {
    switch (notes, step.method) {
    case (.published, _): return state.isSignedIn
    case (.owned, .create): return state.owns(step.after)
    case (.owned, .update):
      return state.owns(step.before) && step.after?[.owner] == step.before?[.owner]
    case (.owned, .delete): return state.owns(step.before)
    case (.closed, .create):
      let known: Set<String> = ["owner", "isPublic", "n", "s", "list", "more"]
      let names = step.after?.map.entries.map(\.name) ?? []
      return known.isSuperset(of: names) && state.owns(step.after)
    case (.closed, _): return false
    case (.owned, .verify): return false
    }
  }
}

// MARK: - What the predicates are made of

/// The collections that policies are about.
private enum Place {
  case items, notes, posts
  case messages(room: DocumentKey)
  case diary(of: QueueUser)
  case rest

  init(_ collection: String) {
    let parts = collection.split(separator: "/").map(String.init)
    switch (parts.count, parts[0]) {
    case (1, "items"): self = .items
    case (1, "notes"): self = .notes
    case (1, "posts"): self = .posts
    case (3, "rooms"): self = .messages(room: DocumentKey(unchecked: "rooms/" + parts[1]))
    case (1, let name) where WorkloadUsers.known.contains(QueueUser(name)):
      self = .diary(of: QueueUser(name))
    default: self = .rest
    }
  }
}

/// A condition that an alternative of a query sets to a single value.
private enum Fact: Equatable {
  case ownedBy(QueueUser)
  case published
  /// Nothing meets it.
  case impossible
  case other

  init(_ filter: DocumentFieldFilter) {
    self = .other
    if filter.comparison == .arrayContains, filter.operand == .null { self = .impossible }
    guard filter.comparison == .equal else { return }
    if filter.path == .owner, case .string(let id) = filter.operand {
      self = .ownedBy(QueueUser(id))
    }
    if filter.path == .publicity, case .boolean(true) = filter.operand { self = .published }
  }
}

extension DocumentFilter? {
  /// The alternatives of a filter of this workload: one of them holds, with all of its facts.
  fileprivate var alternatives: [[Fact]] {
    switch self {
    case nil: return [[]]
    case .field(let filter)?:
      guard filter.comparison == .in, case .array(let values) = filter.operand else {
        return [[Fact(filter)]]
      }
      return values.map { [Fact(DocumentFieldFilter(filter.path, .equal, $0))] }
    case .or(let members)?: return members.flatMap { Optional($0).alternatives }
    case .and(let members)?:
      return members.reduce([[]]) { all, member in
        all.flatMap { facts in Optional(member).alternatives.map { facts + $0 } }
      }
    }
  }
}

extension DocumentFieldPath {
  fileprivate static let owner = DocumentWorkloadSpace.path("owner")
  fileprivate static let publicity = DocumentWorkloadSpace.path("isPublic")
  fileprivate static let number = DocumentWorkloadSpace.path("n")
}

extension DocumentFields? {
  fileprivate var isPublic: Bool {
    if case .boolean(true)? = self?[.publicity] { true } else { false }
  }
}

extension NaiveAccessState {
  /// `true` if the fields name this user as their owner.
  fileprivate func owns(_ fields: DocumentFields?) -> Bool {
    isSignedIn && fields?[.owner] == .string(user.id)
  }

  /// The user's role, if there is one.
  fileprivate var role: DocumentFields? {
    isSignedIn ? documents[DocumentRulesSpace.role(of: user)]?.fields : nil
  }

  fileprivate var isEditor: Bool {
    if case .boolean(true)? = role?[DocumentWorkloadSpace.path("isEditor")] { true } else { false }
  }

  fileprivate var level: Int64? { Self.level(in: role) }

  /// The user's level after the request.
  fileprivate var levelAfter: Int64? {
    isSignedIn ? Self.level(in: after[DocumentRulesSpace.role(of: user)]?.fields) : nil
  }

  private static func level(in role: DocumentFields?) -> Int64? {
    if case .integer(let level)? = role?[DocumentWorkloadSpace.path("level")] { level } else { nil }
  }

  /// `true` if a room is open, or has this user as a member.
  fileprivate func mayEnter(_ room: DocumentKey) -> Bool {
    guard let fields = documents[room]?.fields else { return false }
    if case .boolean(true)? = fields[DocumentWorkloadSpace.path("isOpen")] { return true }
    guard isSignedIn, case .array(let members)? = fields[DocumentWorkloadSpace.path("members")]
    else { return false }
    return members.contains(.string(user.id))
  }
}
