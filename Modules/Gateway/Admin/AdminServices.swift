#if TCP
  import TernCore
  import TernServer

  /// The services behind the pages of an operator; callable from any thread.
  struct AdminServices: Sendable {
    /// The server; `nil` in tests of the protocols alone.
    private let server: TernServer?
    /// The load of the endpoints, for their figures; `nil` without a server.
    private let load: GatewayLoad?
    /// The names of a listener of its own, where nothing else is served; `nil` elsewhere.
    private let names: [HostName]?

    /// Services without a server.
    init() {
      server = nil
      load = nil
      names = nil
    }

    /// The services of a server.
    ///
    /// - Parameters:
    ///   - load: The load of the clients' endpoints.
    ///   - names: The names of the admin listener; `nil` on the server's own port.
    init(of server: TernServer, _ load: GatewayLoad, listeningAs names: [String]? = nil) {
      self.server = server
      self.load = load
      self.names = names?.map { HostName($0) }
    }

    /// True on the admin listener.
    var isListener: Bool { names != nil }

    /// Returns true on the admin listener for a request that names it: by an address, as this
    /// machine, or by one of its names. A page whose own name leads here names that one.
    func isListener(namedBy request: HTTPRequest) -> Bool {
      guard let names else { return false }
      guard let text = request.headers["host"] else { return true }
      let host = HostName(text)
      return host.isAddress || host.isThisMachine || names.contains(host)
    }

    /// Returns true once the server takes no further clients.
    func isDraining() -> Bool { server?.surroundings.isDraining ?? false }

    /// The receiver of the access log; `nil` while it is switched off.
    func accessLog() -> (@Sendable (AccessRecord) -> Void)? { server?.surroundings.accessLog }

    /// Answers a request whose right was checked.
    ///
    /// - Parameters:
    ///   - requester: A request of the operator, whose credential is judged once more at the node
    ///     that changes a database.
    ///   - tellsDetails: Whether reasons not to be ready are told in full.
    func response(
      to request: AdminRequest, for requester: DirectRequest, limits: GatewayLimits,
      tellsDetails: Bool
    ) async -> HTTPResponse {
      guard let server else { return RESTError(404, "There is no server.").response }
      let operations = ServerOperations(of: server)
      switch request {
      case .health:
        // Asked on the server's executor: one that hangs does not answer.
        _ = await operations.readiness
        return .text("ok\n")
      case .readiness:
        let readiness = await operations.readiness
        if readiness.reasons.isEmpty { return .text("ready\n") }
        // Reasons in full may name files and addresses, so only the operator's own listener
        // tells them.
        let told = tellsDetails ? readiness.details : readiness.reasons
        return .text(told.map { $0 + "\n" }.joined(), status: 503)
      case .metrics:
        // The endpoints' figures are not known to the server, which has no module above it.
        var text = await operations.metricsText()
        load?.figures.add(to: &text, limits: limits)
        return .text(text.bytes, type: "text/plain; version=0.0.4; charset=utf-8")
      case .status(let count): return .object(await operations.status(connections: count))
      case .connections(let count): return .object(await operations.connections(limit: count))
      case .closeConnection(let id):
        guard await operations.closeConnection(id) else {
          return RESTError(404, "There is no such connection.").response
        }
        return .object([.init("status", .string("ok"))])
      case .databases(let sizes): return await databases(of: operations, sizes: sizes)
      case .deleteDatabase(let name, isDocuments: false):
        return response(to: await operations.removeDatabase(name, for: requester))
      // Its documents were removed before.
      case .deleteDatabase(let name, isDocuments: true):
        return response(to: await operations.removeDocumentRules(of: name, for: requester))
      }
    }

    /// Lists the databases of the store; 500 when it cannot be read.
    private func databases(of operations: ServerOperations, sizes: Bool) async -> HTTPResponse {
      do {
        let databases = try await operations.storedDatabases(sizes: sizes)
        return .object([.init("databases", .array(databases))])
      } catch {
        return RESTError(500, "The store cannot be read.").response
      }
    }

    /// Returns the answer to a request whose success has nothing to tell.
    private func response(to answer: DirectAnswer) -> HTTPResponse {
      switch answer {
      case .refused(let refusal): RESTError(refusal).response
      default: .object([.init("status", .string("ok"))])
      }
    }
  }

  extension HTTPResponse {
    /// An answer of text for an operator.
    static func text(
      _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
      Self.text(Array(text.utf8), status: status, type: type)
    }

    /// An answer of text for an operator, in UTF-8.
    static func text(_ text: [UInt8], status: Int = 200, type: String) -> HTTPResponse {
      HTTPResponse(status: status, headers: [("Content-Type", type)], body: text)
    }

    /// An answer of JSON for an operator.
    static func object(_ members: [JSONValue.Member]) -> HTTPResponse {
      HTTPResponse(
        status: 200, headers: [("Content-Type", RESTAnswer.jsonType)],
        body: JSONValue.object(members).bytes)
    }
  }
#endif
