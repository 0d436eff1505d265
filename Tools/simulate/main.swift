import TernServer
import TernSimulation

// tern-simulate: plays seeded worlds, and tells what happened before the first disagreement.

let usage = """
  usage: tern-simulate [--seed N] [--seeds N] [--jobs N] [--clients N] [--documents N]
                       [--nodes N] [--serve] [--shards N] [--steps N] [--faults A,B] [--rules]
                       [--bug NAME] [--trace] [--frames]

    --seed N      the first seed (1)
    --seeds N     how many seeds (1)
    --jobs N      how many worlds are played at a time (1)
    --clients N   clients of the tree in each world (3)
    --documents N clients of documents in each world (0)
    --nodes N     servers over one shared log, of which one leads; 1 has no log (1)
    --serve       all of those serve clients, and not the leader alone
    --shards N    the logs of the cluster, 1 or 2: with two, documents belong to the second (1)
    --steps N     steps before the world is healed (2000)
    --faults A,B  what may go wrong: all, none, or some of
                  \(Fault.allCases.map(\.rawValue).joined(separator: " ")),
                  and of several nodes
                  \(ClusterFault.allCases.map(\.rawValue).joined(separator: " ")) (all)
    --bug NAME    a mistake that the server makes: one of
                  \(PlantedBug.allCases.map(\.rawValue).joined(separator: " ")),
                  and of servers of nodes
                  \(PlantedServerFault.allCases.map(\.rawValue).joined(separator: " "))
    --rules       documents have rules that change, and tokens are revoked
    --trace       print the trace of every world, not only of those that fail
    --frames      show the frames in the trace
  """

struct Options: Sendable {
  var seed: UInt64 = 1
  var seeds: UInt64 = 1
  var jobs: UInt64 = 1
  var clients = 3
  var documentClients = 0
  var steps = 2_000
  var nodes = 1
  var serves = false
  var shards = 1
  var faults = Set(Fault.allCases)
  var changesRules = false
  var bug: PlantedBug?
  var serverFault: PlantedServerFault?
  var clusterFaults = Set(ClusterFault.allCases)
  var printsTrace = false
  var showsFrames = false

  /// Reads the command line; `nil` when it cannot be understood.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      if name == "--rules" {
        changesRules = true
        continue
      }
      if name == "--serve" {
        serves = true
        continue
      }
      if name == "--trace" {
        printsTrace = true
        continue
      }
      if name == "--frames" {
        showsFrames = true
        continue
      }
      guard let value = rest.popFirst(), take(name, value) else { return nil }
    }
    if clients + documentClients == 0 { return nil }
  }

  private mutating func take(_ name: String, _ value: String) -> Bool {
    switch name {
    case "--seed": seed = UInt64(value) ?? 0
    case "--seeds": seeds = UInt64(value) ?? 0
    case "--jobs": jobs = UInt64(value) ?? 0
    case "--clients": clients = Int(value) ?? -1
    case "--documents": documentClients = Int(value) ?? -1
    case "--nodes": nodes = Int(value) ?? 0
    case "--shards": shards = Int(value) ?? 0
    case "--steps": steps = Int(value) ?? 0
    case "--faults": return takeFaults(value)
    case "--bug":
      bug = PlantedBug(rawValue: value)
      serverFault = PlantedServerFault(rawValue: value)
      if bug == nil, serverFault == nil { return false }
    default: return false
    }
    return seed > 0 && seeds > 0 && jobs > 0 && clients >= 0 && documentClients >= 0
      && nodes > 0 && (1...2).contains(shards) && steps > 0
  }

  private mutating func takeFaults(_ value: String) -> Bool {
    if value == "all" { return true }
    if value == "none" {
      (faults, clusterFaults) = ([], [])
      return true
    }
    let names = value.split(separator: ",").map(String.init)
    faults = Set(names.compactMap { Fault(rawValue: $0) })
    clusterFaults = Set(names.compactMap { ClusterFault(rawValue: $0) })
    return faults.count + clusterFaults.count == Set(names).count
  }
}

/// The end of one world.
struct Ending: Sendable {
  let seed: UInt64
  let isWell: Bool
  /// The lines of the report.
  let lines: [String]
}

func play(_ seed: UInt64, _ options: Options) -> Ending {
  let world = SimulatedWorld(
    seed: seed, clients: options.clients, documentClients: options.documentClients,
    faults: options.faults, changesRules: options.changesRules, nodes: options.nodes,
    clusterFaults: options.clusterFaults, serves: options.serves, shards: options.shards,
    bug: options.bug, serverFault: options.serverFault)
  world.showsFrames = options.showsFrames
  world.keepsTrace = options.printsTrace
  world.run(steps: options.steps)
  world.heal()
  let isWell = world.disagreements.isEmpty
  let hash = String(world.trace.hash, radix: 16)
  let counts = world.clusterSummary.map { ", \($0.batches) batches in \($0.terms) terms" } ?? ""
  let verdict =
    "seed \(seed) \(isWell ? "ok" : "FAILED"): \(world.steps) steps\(counts), trace \(hash)"
  let trace = options.printsTrace || !isWell ? world.trace.lines : []
  return Ending(seed: seed, isWell: isWell, lines: trace + world.disagreements + [verdict])
}

/// Plays all worlds, and tells of them in the order of their seeds.
///
/// - Returns: How many failed.
func playAll(_ options: Options) async -> Int {
  let seeds = options.seed..<options.seed + options.seeds
  var failures = 0
  await withTaskGroup(of: Ending.self) { group in
    var rest = seeds[...]
    for seed in rest.prefix(Int(clamping: options.jobs)) { group.addTask { play(seed, options) } }
    rest = rest.dropFirst(Int(clamping: options.jobs))
    var ended: [UInt64: Ending] = [:]
    var next = seeds.lowerBound
    for await ending in group {
      if let seed = rest.popFirst() { group.addTask { play(seed, options) } }
      ended[ending.seed] = ending
      while let ending = ended.removeValue(forKey: next) {
        for line in ending.lines { print(line) }
        if !ending.isWell { failures += 1 }
        next += 1
      }
    }
  }
  return failures
}

if let options = Options(Array(CommandLine.arguments.dropFirst())) {
  let failures = await playAll(options)
  if failures > 0 {
    print("\(failures) of \(options.seeds) worlds failed")
    exit(code: 1)
  }
} else {
  print(usage)
  exit(code: 64)
}
