#if TCP
  import NIOCore
  import TernCore
  import TernServer

  /// Carries what the server tells of a large node to a connection, no faster than that takes it.
  ///
  /// An export reads ahead by 256 KiB at the most. The pump reports bytes as taken once the
  /// socket has them, which lets the export read on. So a slow client slows its own export and
  /// holds no more memory. On one event loop; events of the export's thread are brought there.
  final class ExportPump {
    /// The consumer of the output; on the event loop.
    struct Taker {
      /// Sends bytes; the promise is kept once they have left.
      let send: ([UInt8], EventLoopPromise<Void>) -> Void
      /// Everything was sent.
      let finish: () -> Void
      /// It cannot be told to its end; with the refusal of the node that has the data, if any.
      let abort: (DirectRefusal?) -> Void
    }

    private let taker: Taker
    private let loop: any EventLoop
    /// `nil` before the start and after the end.
    private var export: TreeExport?
    /// True once the taker was told of the end, or is gone: later events are dropped.
    private var isOver = false

    init(_ taker: Taker, on loop: any EventLoop) {
      self.taker = taker
      self.loop = loop
    }

    /// Begins; `nil` when the server has too much of this to do already.
    ///
    /// - Returns: The last commit that is seen in what is told.
    ///
    /// - Parameter request: Who reads, when no session stands for them.
    func start(
      _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String, _ setting: GatewayContext,
      for request: DirectRequest? = nil, at address: String
    ) -> UInt64? {
      start { tell in setting.export(path, form, namespace, request, address, tell) }
    }

    /// Begins with what `begin` opens; `nil` when it opens nothing.
    func start(
      _ begin: (@escaping @Sendable (TreeExport.Event) -> Void) -> TreeExport?
    ) -> UInt64? {
      let pump = NIOLoopBound(self, eventLoop: loop)
      let loop = loop
      export = begin { event in
        loop.execute { pump.value.take(event) }
      }
      return export?.version
    }

    /// Ends the pump because its consumer is gone.
    func cancel() {
      isOver = true
      export?.cancel()
      export = nil
    }

    private func take(_ event: TreeExport.Event) {
      if isOver { return }
      switch event {
      case .piece(let bytes):
        let sent = loop.makePromise(of: Void.self)
        if let export {
          // Only success counts: after a failed write the connection is gone, and ``cancel()``
          // follows.
          sent.futureResult.whenSuccess { export.take(bytes.count) }
        }
        taker.send(bytes, sent)
      case .end:
        cancel()
        taker.finish()
      case .failed, .withdrawn:
        cancel()
        taker.abort(nil)
      case .refused(let refusal):
        cancel()
        taker.abort(refusal)
      }
    }
  }
#endif
