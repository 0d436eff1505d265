public import Foundation
import Synchronization
public import TernClient
import TernCore
import TernSync

/// The name of a listener of ``Auth``.
public typealias AuthStateDidChangeListenerHandle = any NSObjectProtocol

/// The name of a listener of ``Auth`` that hears of tokens.
public typealias IDTokenDidChangeListenerHandle = any NSObjectProtocol

/// The user of the program, under Firebase's names.
///
/// Sign-in is with a token that a server of one's own has made; it is kept on the device, and
/// shown to the server by the databases of the same app.
public final class Auth: Sendable {
  private struct Listener {
    let handle: AuthHandle
    /// True for one that is also called when only the token of the user has changed.
    let hearsTokens: Bool
    let call: Callback<Auth, User?>
  }

  private struct State {
    var user: User?
    var token: String?
    /// The number of changes that the native sign-in had made by then.
    var changes: UInt64 = 0
    /// True when the signed-in user is known.
    var isKnown = false
    /// In the order they came.
    var listeners: [Listener] = []
  }

  private let opened: Task<ClientAuth, any Error>
  private let start: AuthStart
  private let queue: DispatchQueue
  private let state = Mutex(State())
  private let closing: @Sendable () -> Void
  private let reading = Mutex<Task<Void, Never>?>(nil)
  /// Left once it is known who is signed in.
  private let settling = DispatchGroup()
  /// Reads what was kept, while callers of ``currentUser`` may block every other thread.
  private static let executor = BackgroundExecutor("tern.auth")

  /// Makes an `Auth` over what `opening` opens, at once; `closing` closes it at the end of the app.
  package init(
    callbackQueue: DispatchQueue = .main,
    closing: @escaping @Sendable () -> Void = {},
    opening: @escaping @Sendable () async throws -> ClientAuth
  ) {
    queue = callbackQueue
    self.closing = closing
    let start = AuthStart()
    self.start = start
    let opened = Task(executorPreference: Self.executor) {
      let native = try await opening()
      try start.began(with: native)
      return native
    }
    self.opened = opened
    settling.enter()
    Task(executorPreference: Self.executor) { [self] in
      defer { settling.leave() }
      // A store that cannot be read keeps no user.
      guard let native = try? await opened.value else { return settle(nil) }
      take(native.moment, of: native)
    }
    let reader = Task { [weak self] in
      guard let native = try? await opened.value else { return }
      for await _ in native.states {
        guard let self else { return }
        self.take(native.moment, of: native)
      }
    }
    reading.withLock { $0 = reader }
  }

  /// Ends the app's part: nothing is read or kept any more.
  func close() async {
    _ = try? await opened.value
    reading.withLock { $0 }?.cancel()
    closing()
  }

  /// The user who is signed in; `nil` when none is.
  ///
  /// The first use blocks its thread until the sign-in that was kept has been read.
  public var currentUser: User? {
    settling.wait()
    return state.withLock { $0.user }
  }

  /// The native sign-in underneath.
  public func native() async throws -> ClientAuth { try await opened.value }

  /// Signs in with a token, also offline.
  ///
  /// - Throws: An error of ``AuthErrorCode`` when the text is no token, or cannot be kept.
  @discardableResult
  public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
    let native = try await opened.value
    do throws(AuthError) {
      let user = try native.signIn(token: token)
      take(native.moment, of: native)
      return AuthDataResult(user: User(user, native))
    } catch {
      throw NSError.auth(error)
    }
  }

  /// Signs in with a token, also offline, and calls back on the main queue.
  public func signIn(
    withCustomToken token: String, completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil
  ) {
    let callback = Callback<AuthDataResult?, (any Error)?> { completion?($0, $1) }
    Task { [self] in
      var (result, failure): (AuthDataResult?, (any Error)?)
      do { result = try await signIn(withCustomToken: token) } catch { failure = error }
      queue.async { [result, failure] in callback(result, failure) }
    }
  }

  /// Signs out; even before the signed-in user is known: then that user is never reported.
  ///
  /// - Throws: An error of ``AuthErrorCode`` when it cannot be kept.
  public func signOut() throws {
    do throws(AuthError) {
      guard let native = try start.signOut() else { return }
      take(native.moment, of: native)
    } catch {
      throw NSError.auth(error)
    }
  }

  /// Calls `listener` on the main queue with the signed-in user, as soon as it is known, and at
  /// every change of user.
  @discardableResult
  public func addStateDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> AuthStateDidChangeListenerHandle {
    add(listener, hearsTokens: false)
  }

  /// Calls `listener` on the main queue with the signed-in user, as soon as it is known, and at
  /// every change of user or of the user's token.
  @discardableResult
  public func addIDTokenDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> IDTokenDidChangeListenerHandle {
    add(listener, hearsTokens: true)
  }

  /// Ends a listener; it is not called any more.
  public func removeStateDidChangeListener(_ handle: AuthStateDidChangeListenerHandle) {
    state.withLock { state in state.listeners.removeAll { $0.handle === handle } }
  }

  /// Ends a listener; it is not called any more.
  public func removeIDTokenDidChangeListener(_ handle: IDTokenDidChangeListenerHandle) {
    removeStateDidChangeListener(handle)
  }

  private func add(
    _ listener: @escaping (Auth, User?) -> Void, hearsTokens: Bool
  ) -> any NSObjectProtocol {
    let handle = AuthHandle()
    let call = Callback(listener)
    let isKnown = state.withLock { state in
      state.listeners.append(Listener(handle: handle, hearsTokens: hearsTokens, call: call))
      return state.isKnown
    }
    if isKnown { tell(handle) }
    return handle
  }

  /// Adopts a state of the native sign-in, unless a later one was adopted already: they are read on
  /// several threads.
  func take(_ moment: ClientAuth.Moment, of native: ClientAuth) {
    settle(moment.user.map { User($0, native) }, moment.token, after: moment.changes)
  }

  private func settle(_ user: User?, _ token: String? = nil, after changes: UInt64 = 0) {
    let concerned = state.withLock { state -> [AuthHandle] in
      if state.isKnown, changes < state.changes { return [] }
      let isNews = !state.isKnown || state.user?.uid != user?.uid
      let isNewToken = isNews || state.token != token
      (state.user, state.token, state.changes) = (user, token, changes)
      state.isKnown = true
      return state.listeners.filter { isNews || isNewToken && $0.hearsTokens }.map(\.handle)
    }
    for handle in concerned { tell(handle) }
  }

  private func tell(_ handle: AuthHandle) {
    queue.async { [self] in
      let (call, user) = state.withLock { state in
        (state.listeners.first { $0.handle === handle }?.call, state.user)
      }
      call?(self, user)
    }
  }
}

private final class AuthHandle: NSObject, Sendable {}

/// Keeps a sign-out that comes before it is known who is signed in.
///
/// It is made up for before the sign-in is handed out; so no database shows the token of a user who
/// has left.
private final class AuthStart: Sendable {
  private enum State {
    case waiting(signsOut: Bool)
    case began(ClientAuth)
  }

  private let state = Mutex(State.waiting(signsOut: false))

  /// It is known who is signed in.
  func began(with native: ClientAuth) throws(AuthError) {
    try state.withLock { state throws(AuthError) in
      if case .waiting(signsOut: true) = state { try native.signOut() }
      state = .began(native)
    }
  }

  /// Signs out now, or as soon as the signed-in user is known: then there is none to give back.
  func signOut() throws(AuthError) -> ClientAuth? {
    try state.withLock { state throws(AuthError) in
      guard case .began(let native) = state else {
        state = .waiting(signsOut: true)
        return nil
      }
      try native.signOut()
      return native
    }
  }
}

/// A signed-in user.
public final class User: Sendable {
  private let user: AuthUser
  private let native: ClientAuth

  init(_ user: AuthUser, _ native: ClientAuth) {
    self.user = user
    self.native = native
  }

  /// The id of the user; `auth.uid` in rules.
  public var uid: String { user.uid }

  /// The address the token names.
  public var email: String? { user.claims["email"]?.text }

  /// The name the token gives.
  public var displayName: String? { user.claims["name"]?.text }

  /// Returns the token that is shown to the server; `nil` when another user is signed in by now.
  public func getIDToken() async throws -> String? {
    token
  }

  /// Calls back on the main queue with the token that is shown to the server; `nil` when another
  /// user is signed in by now.
  public func getIDToken(completion: ((String?, (any Error)?) -> Void)? = nil) {
    let callback = Callback<String?, (any Error)?> { completion?($0, $1) }
    DispatchQueue.main.async { [token] in callback(token, nil) }
  }

  private var token: String? { native.currentUser?.uid == uid ? native.token : nil }
}

/// The result of a sign-in.
public struct AuthDataResult: Sendable {
  /// The signed-in user.
  public let user: User
}

/// The reason a sign-in failed, as the code of an `NSError`; the numbers are Firebase's.
public enum AuthErrorCode: Int, Sendable {
  /// The text is no token, or names no user.
  case invalidCustomToken = 17_000
  /// The device could not keep or read who is signed in.
  case keychainError = 17_995

  /// The domain of the errors.
  public static let errorDomain = "FIRAuthErrorDomain"
}

extension NSError {
  fileprivate static func auth(_ error: AuthError) -> NSError {
    switch error {
    case .malformedToken: auth(.invalidCustomToken, "The text is no token that names a user.")
    case .userTooLong:
      auth(.invalidCustomToken, "\(error)")
    case .notStored(let error): auth(.keychainError, "It cannot be kept: \(error)")
    }
  }

  private static func auth(_ code: AuthErrorCode, _ text: String) -> NSError {
    NSError(
      domain: AuthErrorCode.errorDomain, code: code.rawValue,
      userInfo: [NSLocalizedDescriptionKey: text])
  }
}

extension Auth {
  /// Returns the authentication of the default app.
  public static func auth() -> Auth { FirebaseApp.standard.auth }

  /// Returns the authentication of an app.
  public static func auth(app: FirebaseApp) -> Auth { app.auth }
}
