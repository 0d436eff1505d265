#if TCP
  import NIOCore
  import TernCore
  import TernSecurity
  import TernServer

  /// Serves an operator's request over HTTP: checks the right, then answers.
  ///
  /// A value for one request, on the event loop of its connection. The order is: understand,
  /// decide the right, ask the server for it, perform. Answers are private: no page of another
  /// origin reads them.
  struct AdminEndpoint {
    private let handler: HTTPHandler
    private let context: ChannelHandlerContext

    init(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      self.handler = handler
      self.context = context
    }

    private var setting: GatewayContext { handler.setting }

    /// Answers a request, if its client has the right.
    ///
    /// A request for figures needs no token on the admin listener under one of its own names.
    /// All others need an administrator: by a token, or on a development server by being local.
    func serve(_ request: HTTPRequest) {
      guard request.method != "OPTIONS" else {
        // Pages of other origins are allowed nothing here.
        return answer(HTTPResponse(status: 204))
      }
      guard let target = RequestTarget(request.target) else {
        return answer(RESTError.invalid("The address is malformed.").response)
      }
      let caller = Caller(request, target, behind: setting.proxies)
      do throws(RESTError) {
        let asked = try AdminRequest(request.method, target)
        var requester = DirectRequest(
          namespace: Caller.defaultNamespace, isLocal: caller.isLocal, address: caller.address,
          .administer)
        // The operator decides which clients reach the admin listener under its own name.
        let isOperators = setting.admin.isListener(namedBy: request)
        switch asked.right {
        case .everyone: perform(asked, for: requester, caller, tellsDetails: isOperators)
        case .figures where isOperators: perform(asked, for: requester, caller)
        case .figures, .administrator:
          let credential = try Credential.shown(by: request, target, isLocal: caller.isLocal)
          let isOwner = setting.options.isDevelopment && caller.isLocal
          // A credential that is shown counts; the word `owner` stands for it on a development
          // server alone.
          requester.credential =
            credential ?? (isOwner ? Credential(.service, token: "owner", isLocal: true) : nil)
          if isOwner { return perform(asked, for: requester, caller) }
          guard credential != nil else {
            throw RESTError(
              401,
              setting.admin.isListener && asked.right == .figures
                ? "Show a token, or ask by an address or by a name of admin.names."
                : "This is for administrators: show a token.")
          }
          check(asked, for: requester, caller)
        }
      } catch {
        answer(error.response)
      }
    }

    /// Performs a request for an administrator.
    ///
    /// Asks the server if the credential is an administrator's; only then is the request performed.
    private func check(
      _ asked: AdminRequest, for requester: DirectRequest, _ caller: Caller
    ) {
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let place = context.loopBound
      setting.ask(requester) { reply in
        // The connection may have ended while the server decided.
        guard handler.value.isAnswering else { return }
        let endpoint = AdminEndpoint(handler.value, place.value)
        if case .refused(let refusal) = reply {
          return endpoint.answer(RESTError(refusal).response)
        }
        endpoint.perform(asked, for: requester, caller)
      }
    }

    /// Performs a request whose right was checked. Deleting a database of documents takes two
    /// steps: its documents, then its rules.
    ///
    /// - Parameter tellsDetails: True to tell in full why the server is not ready.
    private func perform(
      _ asked: AdminRequest, for requester: DirectRequest, _ caller: Caller,
      tellsDetails: Bool = false
    ) {
      if case .deleteDatabase(let name, isDocuments: true) = asked {
        return erase(name, for: requester, caller) { conclude(asked, for: requester) }
      }
      conclude(asked, for: requester, tellsDetails: tellsDetails)
    }

    /// Answers a request on a task of its own: the server's figures are gathered by
    /// asynchronous calls.
    private func conclude(
      _ asked: AdminRequest, for requester: DirectRequest, tellsDetails: Bool = false
    ) {
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let place = context.loopBound
      let loop = context.eventLoop
      let number = handler.value.requestNumber
      let (admin, limits) = (setting.admin, setting.options.limits)
      Task {
        let response = await admin.response(
          to: asked, for: requester, limits: limits, tellsDetails: tellsDetails)
        loop.execute {
          // The answer of a request whose connection went on to the next one must not be given
          // to that.
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          AdminEndpoint(handler.value, place.value).answer(response)
        }
      }
    }

    /// Removes the documents of a database, as the administrator who asks; its rules go last, so
    /// that they protect the documents as long as there are any.
    private func erase(
      _ database: String, for requester: DirectRequest, _ caller: Caller,
      then proceed: @escaping () -> Void
    ) {
      // The listener has no links to the server's documents.
      guard !setting.admin.isListener else {
        return answer(RESTError(404, "Databases are deleted on the server's own port.").response)
      }
      let parts = database.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 4, parts[0] == "projects", parts[2] == "databases",
        !parts.contains("")
      else { return answer(RESTError.invalid("A name is projects/P/databases/D.").response) }
      let endpoint = DocumentRESTEndpoint.of(handler, context)
      let eraser = DocumentEraser(
        database, path: [], in: endpoint.session(of: caller),
        authorization: "Bearer \(requester.credential?.token ?? "")"
      ) { [handler, context] status in
        guard let status else { return proceed() }
        AdminEndpoint(handler, context).answer(DocumentRESTError(status).response(isStream: false))
      }
      eraser.start()
    }

    /// Sends an answer that neither caches nor other pages may have.
    private func answer(_ response: HTTPResponse) {
      var response = response
      response.isPrivate = true
      response.headers.append("Cache-Control", "no-store")
      response.headers.append("X-Content-Type-Options", "nosniff")
      handler.answer(response, context)
    }
  }
#endif
