import TernCore
import TernSync
import TernTreeWire

/// The tree's channel to its server: the connection, the greeting, the identity, and numbered
/// requests.
struct TreeChannel: Sendable {
  var connection: ClientConnection<TreeClientEffect>
  let ambient: RuntimeEnvironment
  /// The name of the tree database on the server.
  private let namespace: String
  /// The permanent name of this client at the server, for every user; purging a queue does not
  /// change it.
  private let origin: UInt128

  /// The subject of each unanswered request on this connection.
  private var requests: [UInt64: TreeRequestSubject] = [:]
  private var lastRequest: UInt64 = 0
  private var lastOperation: UInt64 = 0

  /// The stream announced on this connection.
  private(set) var announcedClient: UInt128?
  private var lastSession: String?
  /// The time at which the last opening was sent, in milliseconds since 1970 on the client's clock.
  private var openingSentAt: Int64?
  /// The server's clock less the client's, in milliseconds.
  private(set) var serverTimeOffset: Int64 = 0

  private var credential = CredentialState()
  /// The sign-outs that the server has not confirmed: until it has, it takes what is sent for the
  /// former user's.
  private var unconfirmedSignOuts = 0
  /// True when the server takes the link for that of a signed-in user.
  private var isIdentified = false
  /// True when that is a former user, until the server accepts the present one.
  private var isFormerUsers = false
  private var notices = ReportedNotices()

  init(
    namespace: String, origin: UInt128, ambient: RuntimeEnvironment,
    connection: ClientConnection<TreeClientEffect>
  ) {
    self.namespace = namespace
    self.origin = origin
    self.ambient = ambient
    self.connection = connection
  }

  /// The server's clock, as far as it is known, in milliseconds since 1970.
  var serverNow: Int64 { ambient.millisecondsSinceEpoch() + serverTimeOffset }

  /// True when requests that rules decide about can be sent.
  ///
  /// While the server has not accepted what is shown, nothing is asked of it that rules decide
  /// about: writes would be refused for good, and listeners would end. They wait in the queue, and
  /// go on with the next credential. Source: realtime reference, section 6.7.
  var isReady: Bool {
    connection.isOnline && !credential.awaitsVerdict && unconfirmedSignOuts == 0
  }

  mutating func emit(_ effect: TreeClientEffect) { connection.emit(effect) }

  /// Tells the developer something, once.
  mutating func notice(_ notice: ClientNotice) {
    if notices.insert(notice) { emit(.noticed(notice)) }
  }

  mutating func nextOperationID() -> OperationID {
    lastOperation += 1
    return OperationID(lastOperation)
  }

  /// The connection is lost: nothing on its way will be answered.
  mutating func disconnected() {
    requests.removeAll()
    credential.disconnected()
    unconfirmedSignOuts = 0
    isIdentified = false
    isFormerUsers = false
    announcedClient = nil
  }
}

// MARK: - Requests

extension TreeChannel {
  /// Sends a request and remembers its subject.
  ///
  /// - Returns: Its number, and the bytes of its frame.
  @discardableResult
  mutating func send(
    _ request: TreeRequest, about: TreeRequestSubject
  ) -> (number: UInt64, bytes: Int) {
    lastRequest += 1
    requests[lastRequest] = about
    return (lastRequest, send(.request(lastRequest, request)))
  }

  /// - Returns: The bytes of the frame.
  @discardableResult
  mutating func send(_ message: TreeClientMessage) -> Int {
    let frame = message.encode()
    connection.send(frame)
    return frame.count
  }

  /// Takes the subject of a request that was answered.
  mutating func answered(_ number: UInt64) -> TreeRequestSubject? {
    requests.removeValue(forKey: number)
  }

  /// The declared transactions whose outcomes were requested and not told yet.
  var transactionsAskedFor: [OperationID] {
    requests.values.compactMap { request in
      if case .transactionOutcomes(let id) = request { id } else { nil }
    }
  }
}

// MARK: - Greeting

extension TreeChannel {
  /// Opens a session over a link that has just come, or was asked about.
  ///
  /// - Parameter client: The stream of the present user's writes.
  mutating func greet(as client: UInt128) {
    announcedClient = client
    let opening = TreeOpening(
      namespace: namespace, stream: client, origin: origin == client ? nil : origin,
      lastSession: lastSession)
    openingSentAt = ambient.millisecondsSinceEpoch()
    send(.open(opening))
  }

  /// The server greeted: notes its session and its clock.
  mutating func greeted(_ handshake: TreeHandshake) {
    lastSession = handshake.session
    // The server's time lies between the two: halfway, it is wrong by half of the way at most.
    let now = ambient.millisecondsSinceEpoch()
    let roundTrip = max(0, now - (openingSentAt ?? now))
    serverTimeOffset = handshake.time - (now - roundTrip / 2)
  }
}

// MARK: - Identity

extension TreeChannel {
  /// Shows a credential from now on, or none. What has waited can be requested once the server has
  /// answered.
  mutating func setCredential(_ token: String?) {
    credential.set(token)
    guard connection.isOnline else { return }
    if token != nil { return showCredential() }
    unconfirmedSignOuts += 1
    send(.unauth, about: .signOut)
  }

  /// True when the server has rejected the present user and still takes the link for that of a
  /// former one, whose listens go on.
  var isLeftToFormerUser: Bool { isIdentified && isFormerUsers && credential.isRefused }

  /// Notes that another user takes over, or none. A credential of the former user that is on its
  /// way may still be accepted.
  mutating func userChanged() {
    let isOnItsWay = connection.isOnline && credential.awaitsVerdict && !credential.isRefused
    isFormerUsers = isIdentified || isOnItsWay
  }

  /// The server has confirmed that no user is signed in.
  ///
  /// - Returns: Whether what has waited can be requested.
  mutating func signOutConfirmed() -> Bool {
    unconfirmedSignOuts -= 1
    isIdentified = false
    isFormerUsers = false
    return isReady
  }

  /// Shows the credential, unless the server has rejected it.
  mutating func showCredential() {
    guard let token = credential.token, !credential.isRefused else { return }
    send(.auth(TreeCredential(.user, token: token)), about: .credential(token))
  }

  /// The server has answered what was shown.
  ///
  /// - Returns: Whether it accepted, so that what has waited can be requested.
  mutating func credentialAnswered(_ token: String, _ response: TreeResponse) -> Bool {
    if response.status == .ok { isIdentified = true }
    // The answer about an older one says nothing about this one.
    guard token == credential.token else { return false }
    guard response.status == .ok else {
      refuseCredential(because: response.detail)
      return false
    }
    isFormerUsers = false
    credential.accept()
    let expires = (try? response.value())?["expires"]?.integer
    emit(.credential(.accepted(token, expires: expires)))
    return true
  }

  /// The server says that what it had accepted no longer counts.
  mutating func credentialEnded(_ reason: String) {
    // Without an answer about the one that is shown now, it is the one before it that has ended.
    if credential.isAccepted { refuseCredential(because: reason) }
  }

  private mutating func refuseCredential(because reason: String) {
    guard let token = credential.refuse() else { return }
    emit(.credential(.refused(token, reason: reason)))
  }
}
