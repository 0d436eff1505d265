import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeRows
import TernTreeWire

/// The decisions of administrators about databases: rules of their own, settings, revoked tokens.
///
/// Rules that a database was given over the wire are stored with its data, and are in force before
/// the answer.
///
/// Every decision takes two steps within a batch: a commit that stores it, and a change of the
/// tables here, so that the following inputs see it. After a restart the tables are filled from the
/// store. Listens are reviewed by the machine afterwards.
struct AdminService {
  /// Decides about trees that have no rules of their own.
  private var authorizer: any Authorizer
  /// The databases with rules of their own.
  ///
  /// A database without an entry is judged by `authorizer`.
  private var ownRules: [ExactText: RulesAuthorizer] = [:]
  /// The stored rules that could not be taken up; in their place nothing is allowed.
  private(set) var unusableRules: [UnusableRules] = []
  /// The settings of databases, besides their rules.
  private var settings: [ExactText: DatabaseSettings] = [:]
  /// Decides about credentials.
  var credentials: CredentialChecker

  init(_ authorizer: any Authorizer, _ authenticator: any Authenticator) {
    self.authorizer = authorizer
    credentials = CredentialChecker(authenticator)
  }

  /// The rights of a requester in a database.
  func access(to namespace: Namespace, as requester: Requester) -> TreeAccess {
    TreeAccess(
      namespace: namespace, requester: requester,
      authorizer: ownRules[namespace.key] ?? authorizer,
      writeSizeLimit: settings[namespace.key]?.writeSizeLimit)
  }

  /// A request of a session, with its rights.
  func call(_ number: UInt64, _ session: Session, _ namespace: Namespace) -> TreeCall {
    TreeCall(
      number: number, session: session,
      access: access(to: namespace, as: session.requester(in: namespace)))
  }

  /// The rules in force for a database; `nil` when something other than rules decides.
  func rules(of namespace: Namespace) -> TreeRules? {
    (ownRules[namespace.key] ?? authorizer as? RulesAuthorizer)?.rules
  }

  /// Lets another authorizer decide. Rules that a database was given stay; their denials are told
  /// where the new authorizer's are.
  mutating func adopt(_ authorizer: any Authorizer) {
    self.authorizer = authorizer
    ownRules = ownRules.mapValues { authorizer.judging(by: $0.rules) }
  }

  /// Takes up the decisions of runs before.
  mutating func restore(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    try restoreRules(from: snapshot)
    try credentials.restore(from: snapshot)
    try restoreSettings(from: snapshot)
  }

  /// Takes up the decisions that hold now, in the place of those that were known.
  mutating func restoreAnew(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    (ownRules, settings, credentials.revocations) = ([:], [:], Revocations())
    unusableRules = []
    try restore(from: snapshot)
  }

  /// Takes up the rules that were given in runs before.
  ///
  /// A newer version of the program may reject rules that an older one has stored. Such a database
  /// is closed rather than open.
  private mutating func restoreRules(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.rules))
    while try cursor.next() {
      let name = cursor.key.extracting(StoreLayout.rules.count..<cursor.key.count)
      let text = [UInt8](copying: cursor.value)
      let database = String(decoding: [UInt8](copying: name), as: UTF8.self)
      var rules = Self.closed
      do throws(RulesFileError) { rules = try TreeRules(stored: text) } catch {
        // They were valid when they were stored; a later version may have stricter limits.
        unusableRules.append(UnusableRules(database: database, problem: "\(error)"))
      }
      ownRules[ExactText(database)] = authorizer.judging(by: rules)
    }
  }

  /// Rules that grant nothing.
  private static let closed: TreeRules = {
    do throws(RulesFileError) { return try TreeRules(#"{"rules": {}}"#) } catch {
      preconditionFailure("rules that grant nothing are rules: \(error)")
    }
  }()

  /// Carries out an administrator's request about a database.
  ///
  /// The caller has checked that an administrator asks. Some operations are only permitted here,
  /// and carried out by the machine once this returns ``DirectAnswer/done``.
  mutating func manage(
    _ operation: DirectRequest.Operation, _ namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    switch operation {
    case .readRules: return .rules(try rulesText(of: namespace, batch))
    case .setRules(let text, let isTrial): return try setRules(text, isTrial, namespace, &batch)
    case .setDocumentRules(let text, let isTrial):
      return DocumentRulesTable.store(text, isTrial, for: namespace.name, &batch)
    case .removeDocumentRules:
      DocumentRulesTable.remove(namespace.name, &batch)
      return .done
    // Answered by the service of documents, once this has found that the requester may ask.
    case .readRuleCoverage: return .done
    case .databases: return .databases(try databases(batch))
    case .administer: return .done
    case .readRevocations: return .revocations(credentials.revocations)
    case .revoke(let changes): return try revoke(changes, &batch)
    case .readSetting(let name):
      return .setting((settings[namespace.key] ?? DatabaseSettings())[name])
    case .set(let name, let value): return set(name, to: value, namespace, &batch)
    // Answered by ``RulesAnswers``, which see the documents, too.
    case .rules: return .done
    case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .write, .push,
      .removeDatabase:
      return .refused(.invalid("This names no client."))
    }
  }

  /// Returns the text of the rules in force.
  ///
  /// - Returns: The text as it was set, comments included; else the rules of the server; else rules
  ///   that describe a server without rules.
  private func rulesText(
    of namespace: Namespace, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> [UInt8] {
    let reader = batch.reader
    let key = StoreLayout.rules + namespace.name.utf8
    let stored = try Snapshot(reader).withValue(for: key.span) { [UInt8](copying: $0) }
    if let stored { return stored }
    if let rules = authorizer as? RulesAuthorizer { return rules.rules.text }
    return Array(#"{"rules": {".read": true, ".write": true}}"#.utf8)
  }

  /// Compiles rules, and puts them in force unless it is a trial.
  ///
  /// - Returns: `invalid` with all mistakes of the text. A trial changes nothing.
  private mutating func setRules(
    _ text: [UInt8], _ isTrial: Bool, _ namespace: Namespace, _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    let rules: TreeRules
    do throws(RulesFileError) { rules = try TreeRules(text) } catch {
      return .refused(.invalid(error.description))
    }
    if isTrial { return .done }
    let mutations: [Mutation] = [.put(key: StoreLayout.rules + namespace.name.utf8, value: text)]
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(RefusalText.excess(error)))
    }
    batch.commit(mutations)
    ownRules[namespace.key] = authorizer.judging(by: rules)
    return .done
  }

  /// The most names that are told.
  private static let mostDatabases = 10_000

  private func firstKey(
    in range: KeyRange, _ view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    var cursor = view.cursor(over: range, limit: 1)
    return try cursor.next() ? [UInt8](copying: cursor.key) : nil
  }

  /// Lists the databases of the tree that hold anything.
  ///
  /// Seeks once for each database, whatever it holds. Names beyond ``mostDatabases`` are left out.
  private func databases(_ batch: borrowing ServerBatch) throws(StorageError) -> [String] {
    var names: [String] = []
    var range = KeyRange(prefix: StoreLayout.trees)
    let reader = batch.reader
    while names.count < Self.mostDatabases {
      guard let key = try firstKey(in: range, Snapshot(reader)) else { break }
      let name = key.dropFirst(StoreLayout.trees.count).prefix { $0 != 0 }
      names.append(String(decoding: name, as: UTF8.self))
      // On to the next name: behind everything that begins with this one and its end.
      guard let next = KeyRange.successor(ofPrefix: StoreLayout.trees + name + [0]) else { break }
      range.lower = next
    }
    return names
  }

  /// Takes up the settings that were made in runs before.
  private mutating func restoreSettings(from snapshot: borrowing LedgerSnapshot)
    throws(StorageError)
  {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.settings))
    while try cursor.next() {
      let name = cursor.key.extracting(StoreLayout.settings.count..<cursor.key.count)
      guard let json = try? JSONValue(parsing: [UInt8](copying: cursor.value)) else { continue }
      let database = ExactText(String(decoding: [UInt8](copying: name), as: UTF8.self))
      settings[database] = DatabaseSettings(json)
    }
  }

  /// Makes a setting, for good.
  private mutating func set(
    _ name: DatabaseSettings.Name, to value: JSONValue, _ namespace: Namespace,
    _ batch: inout ServerBatch
  ) -> DirectAnswer {
    var changed = settings[namespace.key] ?? DatabaseSettings()
    guard changed.set(name, to: value) else {
      return .refused(.invalid("\(name.rawValue) has no such value."))
    }
    let key = StoreLayout.settings + namespace.name.utf8
    let mutations: [Mutation] = [.put(key: key, value: changed.json.bytes)]
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(RefusalText.excess(error)))
    }
    batch.commit(mutations)
    settings[namespace.key] = changed
    return .setting(changed[name])
  }

  /// Removes the rules and the settings of a database.
  mutating func forget(_ namespace: Namespace, _ batch: inout ServerBatch) {
    if ownRules.removeValue(forKey: namespace.key) != nil {
      batch.commit([.remove(KeyRange(only: StoreLayout.rules + namespace.name.utf8))])
    }
    if settings.removeValue(forKey: namespace.key) != nil {
      batch.commit([.remove(KeyRange(only: StoreLayout.settings + namespace.name.utf8))])
    }
  }

  /// Notes what an administrator asks for.
  ///
  /// All changes are made in one commit, or none. Each revocation is a row: the user's name, and
  /// the moment in seconds as 8 bytes, the most significant one first.
  private mutating func revoke(
    _ changes: [RevocationChange], _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    var next = credentials.revocations
    // What was issued in this very second is meant, too.
    let now = batch.now / 1_000 + 1
    for change in changes {
      switch change.moment {
      case .now: next.revoke(change.user, before: now)
      case .before(let moment): next.revoke(change.user, before: moment)
      case .never: next.pardon(change.user)
      }
    }
    guard next.moments.count <= Revocations.most else {
      return .refused(.invalid("There are revocations for \(Revocations.most) users already."))
    }
    var users: Set<ExactText> = []
    let named = changes.filter { users.insert(ExactText($0.user)).inserted }
    let mutations = named.map { change -> Mutation in
      let key = StoreLayout.revocations + change.user.utf8
      guard let moment = next.moments[ExactText(change.user)] else {
        return Mutation.remove(KeyRange(only: key))
      }
      let bits = UInt64(bitPattern: moment)
      let value = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
      return .put(key: key, value: value)
    }
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(RefusalText.excess(error)))
    }
    batch.commit(mutations)
    credentials.revocations = next
    return .done
  }
}
