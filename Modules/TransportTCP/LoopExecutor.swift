#if TCP
  import Dispatch
  import NIOCore
  import Synchronization

  /// The executor of an event loop, for actors that outlive the loop.
  ///
  /// An event loop drops what it is given after its end. A job that is dropped leaves its task
  /// suspended for ever, with all that it holds and all that wait for it. Here such jobs run on a
  /// queue, once the loop has run its last one.
  final class LoopExecutor: SerialExecutor {
    private enum Phase {
      case running
      /// The loop takes nothing more, and may still run what it took.
      case ending([UnownedJob])
      case ended(DispatchQueue)
    }

    private let loop: any EventLoop
    private let phase = Mutex(Phase.running)

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      phase.withLock { phase in
        switch phase {
        case .running: loop.execute { self.run(job) }
        case .ending(var jobs):
          // The array is not copied: nothing else holds it.
          phase = .ending([])
          jobs.append(job)
          phase = .ending(jobs)
        case .ended(let queue): queue.async { self.run(job) }
        }
      }
    }

    private func run(_ job: UnownedJob) {
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// Gives the loop nothing more. Called before it is shut down.
    func beginEnd() {
      phase.withLock { phase in
        if case .running = phase { phase = .ending([]) }
      }
    }

    /// Runs what has come since ``beginEnd()``, and all that comes. Called when the loop has ended.
    func end() {
      phase.withLock { phase in
        guard case .ending(let jobs) = phase else { return }
        let queue = DispatchQueue(label: "tern.tcp.ended")
        for job in jobs { queue.async { self.run(job) } }
        phase = .ended(queue)
      }
    }

    func checkIsolated() {
      if loop.inEventLoop { return }
      guard case .ended(let queue) = phase.withLock({ $0 }) else {
        return loop.preconditionInEventLoop()
      }
      dispatchPrecondition(condition: .onQueue(queue))
    }
  }
#endif
