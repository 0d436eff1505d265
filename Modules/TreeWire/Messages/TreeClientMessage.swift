public import TernCore
public import TernQuery

/// A message from a client to a server. Source: realtime reference, sections 10.2 to 10.6.
///
/// A value describes a message and is checked in form: paths and data keep the limits of the tree.
/// The codec has no state, so messages may be decoded on any thread.
public enum TreeClientMessage: Equatable, Sendable {
  /// The first message of our own clients on every connection; said again when it is asked for.
  case open(TreeOpening)
  /// Asks for a pong, to see whether the other end is alive.
  case ping
  /// The text `0`, sent so that idle connections are not cut; nothing answers it.
  case keepAlive
  /// Something that gets exactly one response, with the same number.
  case request(UInt64, TreeRequest)
}

/// The introduction of one of our own clients.
///
/// Stock clients send none; a gateway sends one in their name. Every member apart from the version
/// and the namespace may be missing. Source: Docs/Formats/wire-extensions.md, section 1.
public struct TreeOpening: Equatable, Sendable {
  /// The version of the protocol, `5`.
  public var version: String
  /// The database asked for.
  public var namespace: String
  /// The stream of durable writes this connection carries; `nil` for a client without a queue.
  public var stream: UInt128?
  /// The permanent name of the client, when that is not its stream.
  ///
  /// A store that was purged has a new stream, and keeps its first one as this name.
  public var origin: UInt128?
  /// The session this client had before.
  ///
  /// The server ends it first, its onDisconnect operations included, if it still has a link.
  public var lastSession: String?
  /// The name that the session is to have, of a node that opens it for a client of its own; `nil`
  /// to let the server choose.
  public var session: String?
  /// The host the client came to, when it may keep it for its next connections.
  public var host: String?

  /// Makes an introduction.
  public init(
    version: String = "5", namespace: String = "default", stream: UInt128? = nil,
    origin: UInt128? = nil, lastSession: String? = nil, host: String? = nil
  ) {
    self.version = version
    self.namespace = namespace
    self.stream = stream
    self.origin = origin
    self.lastSession = lastSession
    self.host = host
  }
}

/// One request. Source: realtime reference, section 10.6.
///
/// The associated values are those of the body; the number of the request stands beside it.
public enum TreeRequest: Equatable, Sendable {
  /// Starts a listen.
  ///
  /// The server answers once the first data are sent, and pushes changes from then on.
  case listen(TreeListen)
  /// Ends the listen of the same path, query and tag.
  case unlisten(TreePath, TreeQuery, tag: Int64?)
  /// Sets the node at a path; with `expectedHash` only if that is the hash of what is there.
  ///
  /// The header names the write if it is to be recognized when it is sent again.
  case put(TreePath, TreeNode, expectedHash: String?, WriteHeader)
  /// Sets several nodes below a path, all or none.
  case merge(TreePath, TreeMerge, WriteHeader)
  /// Reads once.
  ///
  /// It leaves nothing behind at the server.
  case get(TreePath, TreeQuery)
  /// Sets a node when this connection ends.
  case onDisconnectSet(TreePath, TreeNode)
  /// Sets several nodes when this connection ends.
  case onDisconnectMerge(TreePath, TreeMerge)
  /// Forgets what was to happen at and below a path when this connection ends.
  case onDisconnectCancel(TreePath)
  /// Asks what became of the writes `first`...`last`; `nil` is the stream of the connection.
  ///
  /// The range is inclusive. Outcomes that the server has forgotten are missing from the answer.
  case outcomes(stream: UInt128?, first: UInt64, last: UInt64)
  /// Shows a credential.
  case auth(TreeCredential)
  /// Withdraws the credential.
  case unauth
  /// Shows proof that the app is genuine; `nil` withdraws it.
  case appCheck(token: String?)
  /// Counters about the client.
  case stats(JSONValue)
  /// An action this side does not know, to be answered with a failure.
  case unknown(action: String)
}

/// The wish to hear everything about a path and query.
///
/// Two listens of a session differ in path, query or tag.
public struct TreeListen: Equatable, Sendable {
  /// The location listened to.
  public var path: TreePath
  /// The query at the path.
  public var query: TreeQuery
  /// Names a filtered listen in pushes; `nil` for a listen to everything.
  public var tag: Int64?
  /// The hash of what the client has; empty when it has nothing.
  ///
  /// When the server has the same data, it answers without a push.
  public var hash: String
  /// The hashes of ranges of what the client has; allows range merges as answer.
  ///
  /// The server then sends only the ranges that differ.
  public var compoundHash: TreeCompoundHash?

  /// True when large data need not be sent: the listener gets them some other way.
  public var leavesLargeData: Bool

  /// Makes the wish; by default for everything, with nothing known yet.
  public init(
    path: TreePath, query: TreeQuery = .all, tag: Int64? = nil, hash: String = "",
    compoundHash: TreeCompoundHash? = nil, leavesLargeData: Bool = false
  ) {
    self.leavesLargeData = leavesLargeData
    self.path = path
    self.query = query
    self.tag = tag
    self.hash = hash
    self.compoundHash = compoundHash
  }
}

/// A token and how it is to be read.
public struct TreeCredential: Equatable, Sendable {
  /// The kind of credential.
  public enum Kind: Equatable, Sendable {
    /// A signed token about a user.
    case user
    /// An opaque token of a service, or `owner`.
    case service
  }

  /// The kind of credential.
  public var kind: Kind
  /// The token as the client has it.
  public var token: String
  /// The claims that rules see as the user instead.
  public var override: JSONValue?
  /// True when rules are to see no user at all.
  public var isUnauthenticated: Bool

  /// Makes a credential.
  public init(
    _ kind: Kind, token: String, override: JSONValue? = nil, isUnauthenticated: Bool = false
  ) {
    self.kind = kind
    self.token = token
    self.override = override
    self.isUnauthenticated = isUnauthenticated
  }
}

/// Names a write for all time: the stream it belongs to and its number there.
///
/// The server keeps the outcome under it, so that a write that arrives twice is applied once.
public struct WriteIdempotencyKey: Hashable, Sendable {
  /// `nil` stands for the stream the connection was opened with.
  public var stream: UInt128?
  /// 1 and up, without gaps.
  public var sequence: UInt64

  /// Names a write of `stream`, or of the connection's own stream.
  public init(stream: UInt128? = nil, sequence: UInt64) {
    self.stream = stream
    self.sequence = sequence
  }
}

/// The idempotency data of a write; foreign clients send none.
///
/// Source: Docs/Formats/wire-extensions.md, section 2.
public struct WriteHeader: Hashable, Sendable {
  /// The name of the write, by which a repetition is recognised.
  public var stamp: WriteIdempotencyKey?
  /// All outcomes of the stamp's stream up to this number may be forgotten.
  public var acknowledged: UInt64?

  /// Marks a write with its name and with what may be forgotten.
  public init(_ stamp: WriteIdempotencyKey? = nil, acknowledged: UInt64? = nil) {
    self.stamp = stamp
    self.acknowledged = acknowledged
  }

  /// A write that says nothing about itself.
  public static let none = WriteHeader()
}
