import { Fault, isFault } from '../core/errors.ts'

export type PooledNode = {
  readonly name: string
  /** For metrics. */
  readonly host: string
  readonly health: NodeHealth
}

type PoolOptions<Node> = {
  nodes: readonly Node[]
  /** Rest after one failure. */
  restMs: number
  /** Empty if the node is of the right chain. */
  chainFaults: (node: Node) => Promise<readonly string[]>
  observe?: (node: { host: string; score: number }) => void
  /** Defaults to `performance.now()`. */
  nowMs?: () => number
}

/** A node that failed, or is of another chain, rests. The preferred node is used again once it is healthy. */
export class Pool<Node extends PooledNode> {
  readonly nodes: readonly Node[]
  readonly #options: PoolOptions<Node>

  constructor(options: PoolOptions<Node>) {
    this.nodes = options.nodes
    this.#options = options
  }

  inOrder(): Node[] {
    return orderOf(this.nodes, { nowMs: this.#nowMs(), restMs: this.#options.restMs })
  }

  /** @throws Fault `settings_bad` if it is another chain */
  async identify(node: Node): Promise<void> {
    const faults = await this.#options.chainFaults(node)
    if (faults.length > 0) throw new Fault('settings_bad', { faults })
  }

  async on<Result>(node: Node, work: (node: Node) => Promise<Result>): Promise<Result> {
    try {
      if (!node.health.identified) await this.identify(node)
      node.health.identified = true
      const result = await work(node)
      noteSuccess(node.health)
      return result
    } catch (thrown) {
      const error = isUnreadable(thrown) ? unreadable(node, thrown) : thrown
      if (isNodeFault(error)) this.distrust(node)
      throw error
    } finally {
      this.#options.observe?.({ host: node.host, score: scoreOf(node.health) })
    }
  }

  /** Returns a fault after which the next node is tried. */
  async attempt<Result>(node: Node, work: (node: Node) => Promise<Result>): Promise<Result | NodeFault> {
    try {
      return await this.on(node, work)
    } catch (error) {
      if (isNodeFault(error)) return error
      throw error
    }
  }

  /** Also used for nodes that others have outvoted. */
  distrust({ health }: Node): void {
    noteFailure(health, { nowMs: this.#nowMs(), restMs: this.#options.restMs })
  }

  /**
   * All of the work stays on one node: its head cannot prove that the data of another is complete.
   * @throws the fault itself if there is only one, or Fault `remote_failed` with all of them; other errors at once
   */
  async onFirst<Result>(
    work: (node: Node) => Promise<Result>,
    nodes: readonly Node[] = this.inOrder(),
  ): Promise<Result> {
    const faults: NodeFault[] = []
    for (const node of nodes) {
      const result = await this.attempt(node, work)
      if (!(result instanceof Fault)) return result
      faults.push(result)
    }
    throw allFailed(faults)
  }

  #nowMs(): number {
    return this.#options.nowMs?.() ?? performance.now()
  }
}

export function refusal(
  { name }: { readonly name: string },
  what: string,
  problem: string,
): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${name}, ${what}`, problem })
}

export type NodeFault = Fault<'remote_failed'> | Fault<'settings_bad'>

function isNodeFault(error: unknown): error is NodeFault {
  return isFault(error, 'remote_failed') || isFault(error, 'settings_bad')
}

/** Libraries access the fields of an answer unchecked. */
function isUnreadable(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}

function unreadable({ name }: PooledNode, error: Error): Fault<'remote_failed'> {
  const problem = `an answer has an unexpected format: ${error.message}`
  return new Fault('remote_failed', { what: name, problem }, { cause: error })
}

/** Another chain is reported before failures that may be temporary. */
export function allFailed(faults: readonly NodeFault[]): NodeFault {
  const [only, second] = faults
  if (only !== undefined && second === undefined) return only
  const wrong = faults.filter((fault) => isFault(fault, 'settings_bad'))
  if (wrong.length > 0) {
    return new Fault('settings_bad', { faults: [...new Set(wrong.flatMap(({ details }) => details.faults))] })
  }
  const failed = faults.filter((fault) => isFault(fault, 'remote_failed'))
  return new Fault(
    'remote_failed',
    {
      what: `all ${faults.length} nodes`,
      problem: failed.map(({ details }) => `${details.what}: ${details.problem}`).join('; '),
    },
    { cause: new AggregateError(faults) },
  )
}

/** Relative to the fastest node. The fixed part keeps a preferred node in use if the difference is negligible. */
const slowFactor = 4
const slowMs = 250

function orderOf<Node extends PooledNode>(
  nodes: readonly Node[],
  { nowMs, restMs }: { nowMs: number; restMs: number },
): Node[] {
  const ready = nodes.filter(({ health }) => health.restUntilMs <= nowMs)
  const latencies = ready.flatMap(({ health }) => health.latencyMs ?? [])
  const bearableMs = Math.min(...latencies) * slowFactor + slowMs
  for (const { health } of ready) {
    if (health.latencyMs === null || health.latencyMs <= bearableMs) continue
    health.restUntilMs = nowMs + restMs
    // A resting node could not improve its latency.
    health.latencyMs = null
  }
  const rests = (node: Node) => node.health.restUntilMs > nowMs
  return [...nodes.filter((node) => !rests(node)), ...nodes.filter(rests)]
}

export type NodeHealth = {
  /** The share of recent requests, from 0 to 1. */
  failing: number
  /** Smoothed; null until there is a measurement. */
  latencyMs: number | null
  /** By `performance.now()`. Until then the node is asked last. */
  restUntilMs: number
  /** The node was of the right chain, since it last failed. */
  identified: boolean
}

const weight = 0.2

export function newHealth(): NodeHealth {
  return { failing: 0, latencyMs: null, restUntilMs: 0, identified: false }
}

export function noteLatency(health: NodeHealth, ms: number): void {
  health.latencyMs = health.latencyMs === null ? ms : smoothed(health.latencyMs, ms)
}

/** An outvoted node answers simple requests well, so its rest goes on. */
function noteSuccess(health: NodeHealth): void {
  health.failing = smoothed(health.failing, 0)
}

/** The address may lead to another node afterwards, so `identified` is cleared. Repeated failures lengthen the rest. */
function noteFailure(health: NodeHealth, { nowMs, restMs }: { nowMs: number; restMs: number }): void {
  health.failing = smoothed(health.failing, 1)
  health.identified = false
  health.latencyMs = null
  health.restUntilMs = nowMs + restMs * (1 + 9 * health.failing)
}

/** From 0 (always fails) to 1; a second of latency halves the score. */
function scoreOf({ failing, latencyMs }: NodeHealth): number {
  return (1 - failing) / (1 + (latencyMs ?? 0) / 1000)
}

function smoothed(old: number, latest: number): number {
  return old + (latest - old) * weight
}
