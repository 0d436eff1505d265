import TernCore
import TernQuery
import TernSync

/// The places that rule books are about, beside those of ``DocumentWorkloadSpace``.
enum DocumentRulesSpace {
  private typealias Space = DocumentWorkloadSpace

  /// The room that messages anywhere need.
  static let firstRoom = Space.key("rooms/r1")

  /// The document that says what a user may do.
  static func role(of user: QueueUser) -> DocumentKey { Space.key("roles/" + user.id) }

  private static func someUser(_ chance: inout RandomSource) -> QueueUser {
    WorkloadUsers.known[chance.below(WorkloadUsers.known.count)]
  }

  private static func someRoom(_ chance: inout RandomSource) -> String {
    "rooms/r\(1 + chance.below(2))"
  }

  // MARK: Writes

  /// Writes that rules are about, by a user who may or may not make them.
  static func batch(_ chance: inout RandomSource, by user: QueueUser) -> [DocumentMutation] {
    switch chance.below(20) {
    case 0..<5: return [note(&chance, by: user)]
    case 5..<8: return [post(&chance)]
    case 8..<11: return [role(&chance)]
    case 11, 12: return [room(&chance)]
    case 13..<16: return [message(&chance)]
    case 16: return [role(&chance), post(&chance), role(&chance)]
    case 17: return [room(&chance), message(&chance)]
    case 18:
      return DocumentWorkloadSpace.pair.suffix(1 + chance.below(2)).map {
        DocumentMutation($0, .set(DocumentFields(Space.fields(&chance))))
      }
    default: return [note(&chance, by: user), note(&chance, by: user)]
    }
  }

  private static func note(
    _ chance: inout RandomSource, by user: QueueUser
  ) -> DocumentMutation {
    let key = Space.key("notes/\(chance.below(5))")
    let owner = chance.happens(0.7) ? user : someUser(&chance)
    var fields = Space.fields(&chance)
    if chance.happens(0.9) { fields["owner"] = .string(owner.id) }
    if chance.happens(0.6) { fields["isPublic"] = .boolean(chance.happens(0.5)) }
    if chance.happens(0.05) { fields["isPublic"] = .integer(1) }
    if chance.happens(0.1) { fields["odd"] = .null }
    switch chance.below(8) {
    case 0, 1, 2: return DocumentMutation(key, .set(DocumentFields(fields)))
    case 3: return DocumentMutation(key, .set(DocumentFields(fields)), precondition: .exists(false))
    case 4: return DocumentMutation(key, .set(DocumentFields(fields)), precondition: .exists(true))
    case 5: return .delete(key)
    case 6:
      let path = Space.path("isPublic")
      let data = DocumentFields(["isPublic": .boolean(chance.happens(0.5))])
      return DocumentMutation(
        key, .patch(data, mask: DocumentFieldMask([path])), precondition: .exists(true))
    default:
      return DocumentMutation(
        key, .patch(.empty, mask: .empty),
        transforms: [DocumentFieldTransform(Space.path("n"), .increment(.integer(1)))])
    }
  }

  private static func post(_ chance: inout RandomSource) -> DocumentMutation {
    let key = Space.key("posts/\(chance.below(4))")
    if chance.happens(0.2) { return .delete(key) }
    return DocumentMutation(key, .set(DocumentFields(Space.fields(&chance))))
  }

  private static func role(_ chance: inout RandomSource) -> DocumentMutation {
    let key = role(of: someUser(&chance))
    if chance.happens(0.2) { return .delete(key) }
    var fields = DocumentMap()
    if chance.happens(0.8) { fields["isEditor"] = .boolean(chance.happens(0.5)) }
    if chance.happens(0.8) { fields["level"] = .integer(Int64(chance.below(4))) }
    return DocumentMutation(key, .set(DocumentFields(fields)))
  }

  private static func room(_ chance: inout RandomSource) -> DocumentMutation {
    let key = Space.key(someRoom(&chance))
    if chance.happens(0.2) { return .delete(key) }
    var fields = DocumentMap()
    if chance.happens(0.8) { fields["isOpen"] = .boolean(chance.happens(0.4)) }
    if chance.happens(0.8) {
      fields["members"] = .array(
        WorkloadUsers.known.filter { _ in chance.happens(0.5) }.map { .string($0.id) })
    }
    return DocumentMutation(key, .set(DocumentFields(fields)))
  }

  private static func message(_ chance: inout RandomSource) -> DocumentMutation {
    let key = Space.key(someRoom(&chance) + "/messages/\(chance.below(3))")
    if chance.happens(0.2) { return .delete(key) }
    return DocumentMutation(key, .set(DocumentFields(Space.fields(&chance))))
  }

  // MARK: Queries

  private static let notes = DocumentQuery.Source.collection(CollectionPath(unchecked: "notes"))
  private static let posts = DocumentQuery.Source.collection(CollectionPath(unchecked: "posts"))

  /// A query that rules have something to say to, for a user or another one.
  static func query(_ chance: inout RandomSource, by user: QueueUser) -> DocumentQuery {
    let asked = chance.happens(0.7) ? user : someUser(&chance)
    let byOwner = DocumentFilter.where(Space.path("owner"), .equal, .string(asked.id))
    let isPublic = DocumentFilter.where(Space.path("isPublic"), .equal, .boolean(true))
    let number = DocumentFilter.where(
      Space.path("n"), .greaterThanOrEqual, .integer(Int64(chance.below(6))))
    let byNumber = [DocumentOrder(Space.path("n"), isDescending: chance.happens(0.5))]
    let limit = (side: DocumentLimit.Side.first, count: 1 + chance.below(4))
    switch chance.below(20) {
    case 0, 1: return .assembled(notes, filter: byOwner)
    case 2: return .assembled(notes, filter: isPublic)
    case 3: return .assembled(notes)
    case 4: return .assembled(notes, filter: .or([byOwner, isPublic]))
    case 5: return .assembled(notes, filter: .and([byOwner, number]))
    case 6:
      let owners = WorkloadUsers.known.prefix(1 + chance.below(2)).map { user in
        DocumentValue.string(user.id)
      }
      return .assembled(notes, filter: .where(Space.path("owner"), .in, .array(owners)))
    case 7: return .assembled(notes, filter: isPublic, orders: byNumber, limit: limit)
    case 8, 9: return .document(Space.key("notes/\(chance.below(5))"))
    case 10, 11: return .assembled(posts, orders: byNumber, limit: limit)
    case 12: return .assembled(posts)
    case 13: return .document(Space.key("posts/\(chance.below(4))"))
    case 14..<18:
      return .assembled(.collection(CollectionPath(unchecked: someRoom(&chance) + "/messages")))
    case 18: return .assembled(.group("messages"))
    default: return .document(role(of: someUser(&chance)))
    }
  }
}
