import TernCore
import TernSecurity
import TernSync

/// The users of a simulation's devices.
enum WorkloadUsers {
  static let ann = QueueUser("ann")
  static let bob = QueueUser("bob")
  /// All users, including the anonymous one.
  static let all = [QueueUser.nobody, ann, bob]
  /// The users that can sign in.
  static let known = [ann, bob]
}

/// The tokens of a simulation's users, valid until they expire.
///
/// It has the form of real tokens, so that a device can read the user from it. The time of issue is
/// the token's number: revocations count tokens, whatever the clocks say.
struct WorkloadTokens: Authenticator {
  /// The credential of the server's operator.
  static let operatorCredential = Credential(.service, token: "operator")

  /// A token of a user that no other one is like.
  ///
  /// - Parameter expires: When it ends, in seconds since 1970 by the server's clock.
  static func token(of user: QueueUser, expires: Int64?, number: Int) -> String {
    var members: [JSONValue.Member] = [
      .init("sub", .string(user.id)), .init("iat", .integer(Int64(number))),
    ]
    if let expires { members.append(.init("exp", .integer(expires))) }
    let claims = Base64.encode(JSONValue.object(members).bytes)
    return "t.\(String(decoding: claims, as: UTF8.self)).t"
  }

  /// Returns the user that a token names; the anonymous user for no token.
  static func user(of token: String?) -> QueueUser {
    QueueUser(token.flatMap { claims(in: $0) }?["sub"]?.text ?? "")
  }

  private static func claims(in token: String) -> JSONValue? {
    let parts = token.split(separator: ".")
    guard parts.count == 3, let bytes = Base64.decode(String(parts[1])) else { return nil }
    return try? JSONValue(parsing: bytes)
  }

  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    if credential == Self.operatorCredential { return Authentication(.administrator) }
    guard let claims = WorkloadTokens.claims(in: credential.token),
      let id = claims["sub"]?.text
    else { throw .invalid(reason: "This is no token.") }
    var (expires, issued): (Int64?, Int64?)
    if case .integer(let end)? = claims["exp"] { expires = end }
    if case .integer(let number)? = claims["iat"] { issued = number }
    let accepted = Authentication(
      .user(id: id, claims: claims), expires: expires, issued: issued)
    if let error = revalidate(accepted, now: now) { throw error }
    return accepted
  }
}

extension Requester {
  /// The requester's user, as the queues of devices name it.
  var queueUser: QueueUser { QueueUser(identity.userID ?? "") }
}
