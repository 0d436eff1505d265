#if TCP
  import Dispatch
  import NIOCore
  import TernCore
  import TernServer
  import TernTransport
  import TernTreeWire

  /// A write whose body is large enough to be parsed away from the event loop.
  ///
  /// The order spares work for writes that would be denied: the head is checked, the rules are
  /// asked without the data, and only then the body is charged and parsed, on the queue
  /// ``GatewayLoad/parser``.
  struct LargeRequest: Sendable {
    private let request: HTTPRequest
    private let target: RequestTarget
    private let caller: Caller
    /// True for a form with a file, whose first part is the data.
    private let isUpload: Bool
    /// The same request without its body.
    let head: RESTRequest

    /// Checks everything but the body.
    init(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) throws(RESTError) {
      self.request = request
      self.target = target
      self.caller = caller
      isUpload = false
      var bare = request
      bare.body = Array("null".utf8)
      head = try RESTRequest(bare, target, caller)
    }

    /// The same for a file that a page sends as a form.
    init(
      uploading request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
    ) throws(RESTError) {
      self.request = request
      self.target = target
      self.caller = caller
      isUpload = true
      head = try RESTUpload.head(request, target, caller)
    }

    /// Returns the question whether the write is denied whatever its data; `nil` for none, and for
    /// an update whose paths cannot be read.
    ///
    /// - Complexity: O(*n*) in the bytes of the body for an update, else O(1).
    func question() -> DirectRequest? {
      var question = head.asked
      switch head.method {
      case .put: question.operation = .mayWrite([head.path])
      case .post: question.operation = .mayPush(head.path)
      case .patch:
        guard let paths = WriteOutline.paths(ofUpdate: request.body) else { return nil }
        question.operation = .mayWrite(paths.map { head.path.appending($0) })
      case .get, .head, .delete: return nil
      }
      return question
    }

    var bodyBytes: Int { request.body.count }

    /// Charges the memory that parsing and deciding it take.
    ///
    /// - Throws: 413 for a body that no address may hold, 503 for one that does not fit now.
    func hold(_ charge: MemoryCharge) throws(RESTError) {
      // The memory of parsed data may be many times that of their text, so that is what is charged.
      let weight = JSONWeight.bytes(request.body)
      let most = charge.budget.addressBytes
      guard weight <= most else {
        throw RESTError(413, "The body takes \(weight) bytes of memory to read, more than \(most).")
      }
      guard charge.add(weight) else {
        throw RESTError(503, "Too many requests are being read. Try again.")
      }
    }

    /// Reads the whole request. O(*n*) in the bytes of the body; not on the event loop.
    func parsed() throws(RESTError) -> RESTRequest {
      isUpload
        ? try RESTUpload.write(request, target, caller)
        : try RESTRequest(request, target, caller)
    }
  }

  extension HTTPHandler {
    /// Bodies of more bytes are parsed on another thread: they would delay all other clients.
    static let largeBodyBytes = 64 << 10

    /// Asks the rules as far as they can judge without the body, then parses it.
    func parse(_ large: LargeRequest, _ context: ChannelHandlerContext) {
      guard large.head.method == .patch else { return judge(large, large.question(), context) }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let loop = context.eventLoop
      let number = requestNumber
      setting.load.parser.async {
        let question = large.question()
        loop.execute {
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          handler.value.judge(large, question, place.value)
        }
      }
    }

    private func judge(
      _ large: LargeRequest, _ question: DirectRequest?, _ context: ChannelHandlerContext
    ) {
      guard let question else { return parseNow(large, context) }
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let limit = limits.answerBytes
      setting.ask(question) { answer in
        guard handler.value.isAnswering else { return }
        if case .refused = answer {
          let response = RESTAnswer.response(to: large.head, answer, limitBytes: limit)
          return handler.value.answer(response, place.value)
        }
        handler.value.parseNow(large, place.value)
      }
    }

    /// Charges what parsing takes, and parses away from the event loop.
    private func parseNow(_ large: LargeRequest, _ context: ChannelHandlerContext) {
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      let place = context.loopBound
      let loop = context.eventLoop
      let number = requestNumber
      // Charged as long as the body is kept, also when its connection has ended meanwhile.
      let charge = MemoryCharge(setting.load.budget, .parsing, of: address)
      charge.count(large.bodyBytes)
      releaseBody()
      setting.load.parser.async {
        let parsed = Result { () throws(RESTError) in
          try large.hold(charge)
          return try large.parsed()
        }
        loop.execute {
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          do throws(RESTError) {
            handler.value.parsing = charge
            handler.value.ask(try parsed.get(), place.value)
          } catch {
            handler.value.answer(error.response, place.value)
          }
        }
      }
    }
  }
#endif
