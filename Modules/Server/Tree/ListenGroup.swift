import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTreeAuthority
import TernTreeWire

/// All listeners of one query at one path. Adding and removing a listener take constant time.
///
/// One query has one window, one hash and one set of encoded pushes, however many clients listen to
/// it.
///
/// Life cycle: ``ListenIndex`` creates a group for the first listen. The group exists while it has
/// members or readers of a first answer, and `removeIfEmpty` removes it afterwards. It lives and is
/// used inside the machine only.
///
/// Invariants: a link is in at most one of ``plainSlots`` and ``tagged``, and at most once.
/// ``isLoaded`` implies a window. A window that is not loaded follows no writes; the next listen
/// fills it from the store.
final class ListenGroup {
  let node: ListenNode
  let query: TreeQuery
  /// The present window of a filtered query; `nil` for listens to everything.
  private(set) var window: QueryWindow?
  /// True when the window is filled.
  private(set) var isLoaded = false
  /// The hash of the group's data, once it was requested; `nil` again as soon as that may have
  /// changed.
  ///
  /// A client that resumes a listen sends its hash; when both are equal, nothing is read or sent.
  var shownHash: String?
  /// The links of those without a tag.
  private(set) var plainSlots: [Int] = []
  /// The links of those with a tag, and their tags.
  ///
  /// Filtered listens always have a tag, since a push must tell the client which query it belongs
  /// to.
  private(set) var tagged: [(slot: Int, tag: Int64)] = []
  /// The position of each link in ``plainSlots`` or ``tagged``; `nil` while there are few of them.
  private var positions: [Int: Int]?
  /// The memory that the window is charged with, to the client whose listen has filled it.
  ///
  /// The window outlives the listen that filled it. When that client's share is used up, the next
  /// growth moves the charge to another member.
  private var windowCharge: ListenCharge?
  /// The first answers that are being read beside the server's executor.
  ///
  /// While it is positive, the group stays in the index also without members, so that it notices
  /// changes which make the answer out of date.
  private(set) var readers = 0
  /// The latest of them; `nil` while none is being read.
  ///
  /// Further listens to the same query take this answer rather than read the rows again.
  private(set) var pendingAnswer: SharedFirstAnswer?
  /// The last commit known to have changed the data, kept while there are readers.
  private var changedVersion: Version = 0
  /// The position among the groups of its node; set by the node alone.
  var place = 0

  /// Up to this many links of either kind are searched one by one.
  ///
  /// A scan of so few integers is faster than a dictionary, and most groups stay below.
  private static let fewSlots = 16

  init(_ query: TreeQuery, at node: ListenNode) {
    self.query = query
    self.node = node
    window = query.loadsAllData ? nil : QueryWindow(query)
  }

  /// True when it has listeners.
  var hasMembers: Bool { !plainSlots.isEmpty || !tagged.isEmpty }

  /// True when it is of no use any more.
  var isEmpty: Bool { !hasMembers && readers == 0 }

  /// The memory that one listen takes, in bytes: its places in the tables, and a group of its own.
  ///
  /// It must be the same when a listen is added and removed: both use it to change the charge of
  /// the client.
  var listenBytes: Int {
    Self.baseBytes + 4 * (node.path.byteCount + (window == nil ? 0 : query.id.utf8.count))
  }

  /// The estimated memory of a group, its node, and its entries in the index and the session.
  private static let baseBytes = 768
  /// The memory of one child of a window, which keeps names and what they sort by.
  private static let childBytes = 320

  /// A node with more children is loaded as far as there is memory for the window.
  private static let fewChildren = 1_024

  /// The memory that a window which shows so many children keeps, in bytes.
  ///
  /// Twice the bytes of the children shown, because a window also holds children in reserve.
  static func windowBytes(of children: Int) -> Int { 2 * childBytes * children }

  /// The memory that a window keeps, in bytes.
  static func bytes(of window: QueryWindow) -> Int {
    max(windowBytes(of: window.shownCount), childBytes * window.count)
  }

  /// Charges the window with what it keeps now: to the client that is charged with it already, else
  /// to one that listens as well.
  ///
  /// The order of attempts: extend the present charge, then a new charge to each candidate. A
  /// shrinking window releases memory only when less than half is used, so that it does not change
  /// its charge with every write.
  ///
  /// - Parameter others: The charges of clients that listen.
  /// - Returns: `false`, and the window is forgotten, when no share allows it.
  func chargeWindow(orTo others: @autoclosure () -> [ListenCharge]) -> Bool {
    guard let window, isLoaded else { return true }
    let bytes = Self.bytes(of: window)
    if let windowCharge {
      let more = bytes - windowCharge.bytes
      if more > 0 ? windowCharge.add(more) : true {
        // A window that shrinks a little may grow again soon.
        if windowCharge.bytes > 2 * bytes { windowCharge.remove(windowCharge.bytes - bytes) }
        return true
      }
    }
    for other in others() {
      let own = other.another()
      guard own.add(bytes) else { continue }
      windowCharge = own
      return true
    }
    forgetWindow()
    return false
  }

  /// Takes a window that was filled, unless there is one already.
  ///
  /// A window that is loaded has followed all writes since, so that a further answer adds nothing
  /// to it.
  func fill(_ filled: QueryWindow) {
    if isLoaded { return }
    window = filled
    isLoaded = true
  }

  /// Fills the window from a node that replaced everything, and charges it.
  ///
  /// A node with many children is loaded only as far as the largest remaining share allows, so that
  /// one write cannot allocate a window that no share allows.
  ///
  /// - Parameter others: The charges of clients that listen.
  /// - Returns: The part of the node that is shown, all of it to listens to everything; `nil`, and
  ///   the window is forgotten, when no share allows what it would keep.
  func load(from node: TreeNode, chargingOneOf others: () -> [ListenCharge]) -> TreeNode? {
    guard window != nil else { return node }
    isLoaded = true
    var most = Int.max
    if node.children.count > Self.fewChildren {
      let own = windowCharge.map { $0.bytes + $0.roomBytes } ?? 0
      most = others().reduce(own) { max($0, $1.roomBytes) } / Self.childBytes
    }
    guard let shown = window?.load(from: node, atMost: most) else {
      forgetWindow()
      return nil
    }
    return chargeWindow(orTo: others()) ? shown : nil
  }

  /// Lets the window follow a write.
  ///
  /// The window is moved out for the call, so that it is changed in place without a copy. A window
  /// that is not loaded stays as it is, and nothing is pushed.
  ///
  /// - Returns: The changes for the listeners; `nil` when they are too large to be read.
  func update(
    _ update: (inout QueryWindow) throws(StorageError) -> [TreeMerge.Entry]?
  ) throws(StorageError) -> [TreeMerge.Entry]? {
    guard isLoaded, var own = exchange(&window, with: nil) else { return [] }
    defer { window = own }
    return try update(&own)
  }

  /// Forgets what the window shows, and its charge; it follows no writes until it is filled again.
  ///
  /// Called when a group without members sees a change, and when memory or data do not allow the
  /// window. The next listen reads it again.
  func forgetWindow() {
    if window == nil { return }
    window = QueryWindow(query)
    isLoaded = false
    windowCharge = nil
  }

  /// Notes that the data may have changed.
  ///
  /// - Parameter version: The version of the write.
  /// - Returns: Whether there are listeners to tell.
  func recordChange(at version: Version) -> Bool {
    shownHash = nil
    changedVersion = version
    // A first answer that is being read is out of date by now, and its listen no member yet.
    if !hasMembers { forgetWindow() }
    return hasMembers
  }

  // MARK: - First answers that are being read

  /// Returns the answer that the readers share, and the last commit that has changed the data.
  ///
  /// - Parameter version: The last commit that was decided.
  /// - Returns: An answer that other reads may already have filled, and the version since which the
  ///   data are unchanged. An older answer must not be used.
  func answerToShare(at version: Version) -> (answer: SharedFirstAnswer, since: Version) {
    if let pendingAnswer { return (pendingAnswer, changedVersion) }
    let answer = SharedFirstAnswer()
    pendingAnswer = answer
    changedVersion = version
    return (answer, version)
  }

  func beginReading() { readers += 1 }

  func endReading() {
    readers -= 1
    if readers == 0 { pendingAnswer = nil }
  }

  /// Returns the present answer to a listen, if its readers know it.
  func presentAnswer(to listen: TreeListen) -> FirstAnswer? {
    guard let answer = pendingAnswer?.answer(to: listen, since: changedVersion) else { return nil }
    return hasOvertaken(answer) ? nil : answer
  }

  /// Returns true when an answer is not that of a read at present.
  ///
  /// An answer is out of date when a write came after its version. It is also of no use when it has
  /// no window while the group needs one.
  func hasOvertaken(_ answer: FirstAnswer) -> Bool {
    if answer.version < changedVersion { return true }
    // Data that are too large fill no window.
    if case .tooBig = answer.content { return false }
    return window != nil && !isLoaded && answer.window == nil
  }

  /// Adds a link, replacing its earlier membership: a client that listens again with another tag
  /// must not get both.
  func add(_ slot: Int, tag: Int64?) {
    remove(slot)
    if let tag {
      positions?[slot] = tagged.count
      tagged.append((slot, tag))
    } else {
      positions?[slot] = plainSlots.count
      plainSlots.append(slot)
    }
    if positions == nil, plainSlots.count + tagged.count > Self.fewSlots { indexPositions() }
  }

  /// Removes a link in constant time by moving the last one into its place. The order of recipients
  /// has no meaning.
  func remove(_ slot: Int) {
    guard positions != nil else {
      if let index = plainSlots.firstIndex(of: slot) { removePlain(at: index) }
      if let index = tagged.firstIndex(where: { $0.slot == slot }) { removeTagged(at: index) }
      return
    }
    // A link is in one of the two lists.
    guard let index = positions?.removeValue(forKey: slot) else { return }
    if index < plainSlots.count, plainSlots[index] == slot {
      removePlain(at: index)
    } else {
      removeTagged(at: index)
    }
  }

  private func indexPositions() {
    var positions: [Int: Int] = [:]
    for (index, slot) in plainSlots.enumerated() { positions[slot] = index }
    for (index, listener) in tagged.enumerated() { positions[listener.slot] = index }
    self.positions = positions
  }

  private func removePlain(at index: Int) {
    plainSlots.swapAt(index, plainSlots.count - 1)
    plainSlots.removeLast()
    if index < plainSlots.count { positions?[plainSlots[index]] = index }
  }

  private func removeTagged(at index: Int) {
    tagged.swapAt(index, tagged.count - 1)
    tagged.removeLast()
    if index < tagged.count { positions?[tagged[index].slot] = index }
  }
}
