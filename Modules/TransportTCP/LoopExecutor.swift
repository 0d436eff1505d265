#if TCP
  import Dispatch
  import NIOCore
  import Synchronization

  /// The executor of an event loop, for actors that outlive the loop.
  ///
  /// An event loop drops what it is given after its end. A job that is dropped leaves its task
  /// suspended for ever, with all that it holds and all that wait for it. Here such work is done on
  /// a queue, once the loop has done its last.
  ///
  /// The life cycle has three phases, entered in order: ``beginEnd()`` before the loop shuts
  /// down, ``end()`` after it. Work given in between waits in an array, because the loop may
  /// still run earlier work: a queue that ran at the same time would break the serial order.
  final class LoopExecutor: SerialExecutor {
    private enum Phase {
      case running
      /// The loop takes nothing more, and may still run what it took.
      case ending([@Sendable () -> Void])
      /// The loop is gone; a serial queue runs what still comes.
      case ended(DispatchQueue)
    }

    private let loop: any EventLoop
    /// Guards the phase together with the hand-over: `loop.execute` is called under the lock,
    /// so no work reaches the loop after ``beginEnd()`` has returned.
    private let phase = Mutex(Phase.running)

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      perform { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Does work behind all that waits; never inline.
    func perform(_ work: @escaping @Sendable () -> Void) {
      phase.withLock { phase in
        switch phase {
        case .running: loop.execute(work)
        case .ending(var late):
          // The array is not copied: nothing else holds it.
          phase = .ending([])
          late.append(work)
          phase = .ending(late)
        case .ended(let queue): queue.async(execute: work)
        }
      }
    }

    /// Gives the loop nothing more. Called before it is shut down.
    func beginEnd() {
      phase.withLock { phase in
        if case .running = phase { phase = .ending([]) }
      }
    }

    /// Does what has come since ``beginEnd()``, and all that comes. Called when the loop has ended.
    func end() {
      phase.withLock { phase in
        guard case .ending(let late) = phase else { return }
        let queue = DispatchQueue(label: "tern.tcp.ended")
        for work in late { queue.async(execute: work) }
        phase = .ended(queue)
      }
    }

    /// Stops the program unless the caller runs on the loop or, after its end, on the queue
    /// that stands for it.
    func checkIsolated() {
      if loop.inEventLoop { return }
      guard case .ended(let queue) = phase.withLock({ $0 }) else {
        return loop.preconditionInEventLoop()
      }
      dispatchPrecondition(condition: .onQueue(queue))
    }
  }
#endif
