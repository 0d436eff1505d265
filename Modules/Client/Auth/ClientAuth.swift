import Synchronization
import TernCore
public import TernStorage
public import TernSync

/// The user of this client: sign-in with a token, kept on the device.
///
/// The token is shown to the server on every connection, of the tree and of the documents. When it
/// has expired, or is refused, nothing is lost: writes wait in the queue until there is another
/// one, from ``signIn(token:)`` or from the source given to ``refreshTokens(by:)``.
///
/// Writes belong to the user who is signed in when they are made. After a change of user, or a
/// sign-out, they leave what is seen and wait on the device, over restarts too, for their user's
/// return: nothing is ever sent with another user's token. `QueueLimits.userCount`
/// limits how many users can have writes waiting.
public final class ClientAuth: Sendable {
  /// Asks an application for another token of a user; `nil` when it has none now.
  public typealias TokenSource = @Sendable (AuthUser) async -> String?

  /// A token is refreshed this long before it ends, or after half of its life if that is later.
  public static let refreshLead: Duration = .seconds(300)
  /// The time that a source without a token rests before it is asked again; doubled each time, up
  /// to ``longestRest``.
  public static let shortestRest: Duration = .seconds(10)
  /// The longest rest between two questions for a token.
  public static let longestRest: Duration = .seconds(300)

  private struct Core {
    var state = AuthState.signedOut
    var token: String?
    /// The number of changes of the state.
    var changes: UInt64 = 0
    var source: TokenSource?
    /// The refresh that waits or is under way; another one takes its place.
    var refresh: Task<Void, Never>?
    var boxes: [UInt64: Mailbox<AuthState, Never>] = [:]
    var last: UInt64 = 0
    /// The sessions that show the token to servers.
    var audience: [Listener] = []
    /// Hears of every credential that a server refuses.
    var refusals: (@Sendable (_ credential: String, _ reason: String) -> Void)?
    var isClosed = false
  }

  /// A session that shows the token, as long as there is one.
  private struct Listener: Sendable {
    let isGone: @Sendable () -> Bool
    let show: @Sendable (String?) -> Void
  }

  private let core: Mutex<Core>
  private let store: any OrderedStore
  private let ambient: RuntimeEnvironment

  /// Takes up who was signed in when the program ended.
  ///
  /// - Parameter store: Where the token is kept, beside whatever else is in it. The folder of a
  ///   store on disk is readable by its owner alone.
  /// - Throws: ``AuthError/notStored(_:)`` when it cannot be read.
  public init(store: any OrderedStore, ambient: RuntimeEnvironment = .system) throws(AuthError) {
    var core = Core()
    let token: String?
    do throws(StorageError) { token = try AuthRecord.token(in: store) } catch {
      throw .notStored(error)
    }
    if let token, let user = try? AuthUser(token: token) {
      core.token = token
      core.state = .signedIn(user)
    }
    self.core = Mutex(core)
    self.store = store
    self.ambient = ambient
  }

  /// The signed-in user, also after a restart without a connection; `nil` for none.
  public var currentUser: AuthUser? { state.user }

  /// The signed-in user, and the server's view of the token.
  public var state: AuthState { core.withLock { $0.state } }

  /// The token of the signed-in user.
  public var token: String? { core.withLock { $0.token } }

  /// The user and the token at one moment; of two the one with more changes is the later one.
  package struct Moment: Sendable {
    package let user: AuthUser?
    package let token: String?
    package let changes: UInt64
  }

  /// The user and the token now.
  package var moment: Moment {
    core.withLock { Moment(user: $0.state.user, token: $0.token, changes: $0.changes) }
  }

  /// The state, now and whenever it changes.
  public var states: ListenSequence<AuthState, Never> {
    ListenSequence(newest: { box in
      let id = self.observe(box)
      return { self.core.withLock { $0.boxes[id] = nil } }
    })
  }

  /// Signs a user in, in the place of the former one.
  ///
  /// Works offline: the server judges the token when it sees it. Writes that waited for a token are
  /// sent once the server has accepted it. Blocks for the time of one durable write.
  ///
  /// - Returns: Who it is, when it is durable on this device.
  /// - Throws: ``AuthError``; the former user stays signed in.
  @discardableResult
  public func signIn(token: String) throws(AuthError) -> AuthUser {
    let user = try AuthUser(signingInWith: token)
    try change(to: .signedIn(user), token)
    scheduleRefresh()
    return user
  }

  /// Signs out; later requests are anonymous. Blocks for the time of one durable write.
  public func signOut() throws(AuthError) { try change(to: .signedOut, nil) }

  /// Names who has further tokens: asked in time before one ends, and when one is refused.
  public func refreshTokens(by source: @escaping TokenSource) {
    core.withLock { $0.source = source }
    if case .tokenNeeded = state { refresh(after: .zero) } else { scheduleRefresh() }
  }

  /// Names who hears of every credential that a server refuses, also of one that names no user.
  package func whenRefused(
    _ body: @escaping @Sendable (_ credential: String, _ reason: String) -> Void
  ) {
    core.withLock { $0.refusals = body }
  }

  /// Ends all listeners: the database is closed.
  func close() {
    let (boxes, refresh) = core.withLock { core in
      core.isClosed = true
      defer { (core.boxes, core.refresh) = ([:], nil) }
      return (core.boxes, core.refresh)
    }
    refresh?.cancel()
    for box in boxes.values { box.finish() }
  }

  private func observe(_ box: Mailbox<AuthState, Never>) -> UInt64 {
    core.withLock { core in
      core.last += 1
      box.post(core.state)
      if core.isClosed { box.finish() } else { core.boxes[core.last] = box }
      return core.last
    }
  }

  /// - Parameter isWanted: Asked where no other change can come in between.
  /// - Returns: Whether the change was wanted, and was made.
  @discardableResult
  private func change(
    to state: AuthState, _ token: String?, if isWanted: (borrowing Core) -> Bool = { _ in true }
  ) throws(AuthError) -> Bool {
    let result = core.withLock { core -> Result<Task<Void, Never>?, StorageError>? in
      guard isWanted(core) else { return nil }
      do throws(StorageError) { try AuthRecord.store(token, in: store) } catch {
        return .failure(error)
      }
      core.state = state
      core.token = token
      core.changes += 1
      // In the lock, so that two changes are told in the order they were made.
      for box in core.boxes.values { box.post(state) }
      for listener in core.audience { listener.show(token) }
      defer { core.refresh = nil }
      return .success(core.refresh)
    }
    do throws(StorageError) { try result?.get()?.cancel() } catch { throw .notStored(error) }
    return result != nil
  }
}

// MARK: - Sessions

/// A session that shows a credential.
protocol CredentialSession: Actor {
  nonisolated func submit(_ call: @escaping @Sendable (isolated Self) -> Void)
  /// Shows a credential from the first connection on, and hears what the server makes of it.
  func begin(
    showing credential: String?, judged: @escaping @Sendable (CredentialVerdict) -> Void)
  func setCredential(_ credential: String?)
}

extension TreeSession: CredentialSession {}
extension DocumentSession: CredentialSession {}

extension ClientAuth {
  /// Lets a session that has not begun show the token, this one and those that follow.
  func attach<Session: CredentialSession>(_ session: Session) {
    // As long as a session shows tokens, the source provides further ones.
    let judged: @Sendable (CredentialVerdict) -> Void = { self.judged($0) }
    let listener = Listener(
      isGone: { [weak session] in session == nil },
      show: { [weak session] token in session?.submit { $0.setCredential(token) } })
    core.withLock { core in
      core.audience.removeAll { $0.isGone() }
      core.audience.append(listener)
      // In the lock, so that no other token is shown before this one.
      let token = core.token
      session.submit { $0.begin(showing: token, judged: judged) }
    }
  }
}

// MARK: - Verdicts and refreshing

extension ClientAuth {
  /// The server has judged a token; those that are no longer shown do not matter.
  func judged(_ verdict: CredentialVerdict) {
    switch verdict {
    case .accepted: break
    case .refused(let token, let reason):
      core.withLock { $0.refusals }?(token, reason)
      let isNews = core.withLock { core in
        guard token == core.token, case .signedIn(let user) = core.state else { return false }
        core.state = .tokenNeeded(user, reason: reason)
        core.changes += 1
        for box in core.boxes.values { box.post(core.state) }
        return true
      }
      if isNews { refresh(after: .zero) }
    }
  }

  /// Sees to it that there is another token before this one ends.
  private func scheduleRefresh() {
    guard case .signedIn(let user) = state, let expires = user.expires else { return }
    let left = Duration.milliseconds(expires * 1_000 - ambient.millisecondsSinceEpoch())
    refresh(after: max(left - Self.refreshLead, left / 2, .zero))
  }

  /// Asks for another token after a while, and again until there is one.
  private func refresh(after delay: Duration) {
    core.withLock { core in
      guard !core.isClosed, let source = core.source, let user = core.state.user,
        let shown = core.token
      else { return }
      core.refresh?.cancel()
      core.refresh = Task { [weak self, clock = ambient.clock] in
        var rest = Self.shortestRest
        var delay = delay
        while !Task.isCancelled {
          do { try await clock.sleep(for: delay) } catch { return }
          let token = await source(user)
          guard !Task.isCancelled, let self else { return }
          if let token, self.takes(token, insteadOf: shown) { return }
          delay = rest
          rest = min(rest * 2, Self.longestRest)
        }
      }
    }
  }

  /// Signs in with a token that a source gave, in the place of the one it was asked for.
  ///
  /// - Returns: Whether no other token is needed.
  func takes(_ token: String, insteadOf shown: String) -> Bool {
    guard token != shown, let user = try? AuthUser(signingInWith: token) else { return false }
    do throws(AuthError) {
      // A sign-in or sign-out in the meantime takes precedence over this token's user.
      if try change(to: .signedIn(user), token, if: { $0.token == shown }) { scheduleRefresh() }
      return true
    } catch {
      return false
    }
  }
}
