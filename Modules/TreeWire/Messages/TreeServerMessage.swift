public import TernCore
public import TernQuery

/// A message from a server to a client. Source: realtime reference, sections 10.4, 10.5 and 10.7.
///
/// The order of messages has a meaning: the pushes of a write come before the response to it, and
/// the first data of a listen before the response to the listen. On one connection the versions of
/// pushes never go back.
public enum TreeServerMessage: Equatable, Sendable {
  /// The first message on every connection.
  case handshake(TreeHandshake)
  /// Another session of this client is open: to take its place, open once more.
  ///
  /// The older session lives until then. A link that the client has left answers nothing.
  case inquiry
  /// Connect to another host at once.
  case redirect(host: String)
  /// Close, and do not come back.
  case shutdown(reason: String)
  /// Something went wrong, for the log.
  case error(String)
  /// The answer to a ping.
  case pong
  /// The answer to the request of that number.
  case response(UInt64, TreeResponse)
  /// The node at a path is now this.
  ///
  /// An empty node says that there is nothing at the path.
  case put(TreePush<TreeNode>)
  /// The nodes at these paths below a path are now these.
  case merge(TreePush<TreeMerge>)
  /// The leaves in these ranges below a path are now these.
  ///
  /// Only listens with a compound hash get it.
  case rangeMerge(TreePush<[TreeRangeMerge]>)
  /// The server no longer serves a listen; the status and the detail say why.
  case listenRevoked(
    TreePath, TreeQuery, TreeStatus = .permissionDenied, detail: String = "")
  /// The credential no longer counts.
  case authRevoked(TreeStatus, detail: String)
  /// The proof that the app is genuine no longer counts.
  case appCheckRevoked(TreeStatus, detail: String)
  /// The trace of the rules' evaluation, for the log.
  case trace(String)
  /// The server gave up on this connection.
  case fatal(String)
  /// A message of a kind this side does not know; to be ignored.
  case unknown
}

/// The server's greeting.
///
/// A client computes the offset of its clock from ``time``, for its estimates of server timestamps.
public struct TreeHandshake: Equatable, Sendable {
  /// The server's clock in milliseconds since 1970.
  public var time: Int64
  /// The version of the protocol, `5`.
  public var version: String
  /// The host to use for the next connections.
  public var host: String
  /// The name of this session.
  ///
  /// The client names it as ``TreeOpening/lastSession`` when it comes back.
  public var session: String
  /// The number of the last write the server has of the stream the client opened with.
  ///
  /// 0 when the server has none; `nil` when the client has named no stream. The client asks for the
  /// outcomes up to it and sends what follows.
  public var lastSequence: UInt64?

  /// Makes a greeting.
  public init(
    time: Int64, version: String = "5", host: String, session: String, lastSequence: UInt64? = nil
  ) {
    self.time = time
    self.version = version
    self.host = host
    self.session = session
    self.lastSequence = lastSequence
  }
}

/// New data for listeners.
///
/// The same push is sent to every session that listens without a tag, as one frame.
public struct TreePush<Content: Equatable & Sendable>: Equatable, Sendable {
  /// The location that changed.
  public var path: TreePath
  /// The new content.
  public var content: Content
  /// The filtered listen this is for; `nil` for all others that cover the path.
  public var tag: Int64?
  /// The commit this shows; told to clients that understand it.
  public var version: UInt64?

  /// Makes a push.
  public init(path: TreePath, _ content: Content, tag: Int64? = nil, version: UInt64? = nil) {
    self.path = path
    self.content = content
    self.tag = tag
    self.version = version
  }
}

/// The status of a finished request. Source: realtime reference, section 10.8.
///
/// Statuses are open: one that is not listed here is a failure with that name.
public struct TreeStatus: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// It was done.
  ///
  /// The version of the response tells the commit.
  public static let ok = TreeStatus(rawValue: "ok")
  /// The rules forbid it.
  public static let permissionDenied = TreeStatus(rawValue: "permission_denied")
  /// The value is not the one a conditional put expects.
  ///
  /// The client reads the data again and repeats its transaction.
  public static let dataStale = TreeStatus(rawValue: "datastale")
  /// Refused for a reason told in the detail.
  public static let failed = TreeStatus(rawValue: "failed")
  /// The credential is not one this server accepts.
  public static let invalidToken = TreeStatus(rawValue: "invalid_token")
  /// The credential was good once.
  public static let expiredToken = TreeStatus(rawValue: "expired_token")
  /// More data than one read may return.
  public static let tooBig = TreeStatus(rawValue: "too_big")
  /// Try again later.
  ///
  /// Nothing is recorded, so the same number may be sent again.
  public static let unavailable = TreeStatus(rawValue: "unavailable")
  /// The write's number is not the next one of its stream.
  ///
  /// Nothing is recorded. The detail names the number that is expected.
  public static let gap = TreeStatus(rawValue: "gap")
}

/// The answer to a request.
///
/// ``payload`` is kept as text, which the request that it answers gives a meaning.
public struct TreeResponse: Equatable, Sendable {
  /// The status of the request.
  public var status: TreeStatus
  /// The content of `d`, as JSON text: data, a sentence, or an empty string.
  public var payload: [UInt8]
  /// The version at which a write was committed.
  public var version: UInt64?

  /// Makes a response around JSON text.
  public init(_ status: TreeStatus, payload: [UInt8], version: UInt64? = nil) {
    self.status = status
    self.payload = payload
    self.version = version
  }

  /// The outcome of one write.
  public struct Outcome: Equatable, Sendable {
    /// The number of the write in its stream.
    public var sequence: UInt64
    /// The status of the write.
    public var status: TreeStatus
    /// The server's message about it.
    public var detail: String
    /// The version at which it was committed.
    public var version: UInt64?

    /// Describes one past write.
    public init(sequence: UInt64, status: TreeStatus, detail: String = "", version: UInt64? = nil) {
      self.sequence = sequence
      self.status = status
      self.detail = detail
      self.version = version
    }
  }
}
