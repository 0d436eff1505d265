#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Lets tasks that ask for no executor run in the world whose thread makes them ready: the actors
/// of a server begin some, and those would run beside the world otherwise.
///
/// The runtime of Swift calls a hook with each job for its own pool of threads. Jobs of threads
/// without a world go there as without the hook. Source: the Swift runtime,
/// `stdlib/public/Concurrency/ConcurrencyHooks.cpp`.
enum TaskRouting {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The world's executor of each thread.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "there is no key of threads left")
    return key
  }()

  private static let isInstalled: Bool = {
    guard let symbol = unsafe dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
      preconditionFailure("the runtime has no hook for jobs without an executor")
    }
    let hook = unsafe symbol.assumingMemoryBound(to: Hook?.self)
    unsafe hook.pointee = { job, original in
      if let executor = TaskRouting.current { executor.add(job) } else { original(job) }
    }
    return true
  }()

  private static var current: WorldExecutor? {
    guard let place = unsafe pthread_getspecific(key) else { return nil }
    return unsafe Unmanaged<WorldExecutor>.fromOpaque(place).takeUnretainedValue()
  }

  /// Calls `body`; jobs without an executor that it makes ready are added to `executor`.
  static func route<R>(to executor: WorldExecutor, _ body: () -> R) -> R {
    precondition(isInstalled)
    let former = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, Unmanaged.passUnretained(executor).toOpaque())
    defer { unsafe pthread_setspecific(key, former) }
    return body()
  }
}
