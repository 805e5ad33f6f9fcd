import { Fault, isFault } from '../core/errors.ts'
import { type NodeHealth, noteFailure, noteSuccess, scoreOf } from './health.ts'

export type PooledNode = {
  readonly name: string
  /** As a metric calls it. */
  readonly host: string
  readonly health: NodeHealth
}

type PoolParts<Node> = {
  /** In order of preference. */
  nodes: readonly Node[]
  /** For how long a node rests that failed once. */
  restMs: number
  /** Throws Fault `settings_bad` where a node is of another chain. */
  identify: (node: Node) => Promise<void>
  /** Told of a node's score after each work of its. */
  observe?: (node: { host: string; score: number }) => void
  /** By the clock of `performance.now()`. */
  nowMs?: () => number
}

export type Pool<Node> = {
  readonly nodes: readonly Node[]
  /** All of them, those first that should be asked first. */
  inOrder(): Node[]
  /** Asks a node anew which chain it is of. @throws Fault `settings_bad` where that is another one */
  identify(node: Node): Promise<void>
  /** Runs work on one node that has shown which chain it is of, and remembers how that went. */
  on<Result>(node: Node, work: (node: Node) => Promise<Result>): Promise<Result>
  /** A node that others have shown to be wrong rests like one that failed. */
  distrust(node: Node): void
  /**
   * Runs work on the first node that can do it. The work stays on one node, because what one node has read cannot be
   * proved complete by another's head.
   * @throws the only node's fault, or Fault `remote_failed` with all of them; other errors at once
   */
  onFirst<Result>(work: (node: Node) => Promise<Result>): Promise<Result>
}

/** The nodes of one network. One that failed, or is of another chain, rests; preference returns when it is well again. */
export function createPool<Node extends PooledNode>(parts: PoolParts<Node>): Pool<Node> {
  const { nodes, restMs, identify, observe = () => undefined, nowMs = () => performance.now() } = parts
  const inOrder = () => orderOf(nodes, { nowMs: nowMs(), restMs })
  const on: Pool<Node>['on'] = async (node, work) => {
    try {
      if (!node.health.identified) await identify(node)
      node.health.identified = true
      const result = await work(node)
      noteSuccess(node.health)
      return result
    } catch (thrown) {
      const error = isUnreadable(thrown) ? unreadable(node, thrown) : thrown
      if (isPassedOver(error)) noteFailure(node.health, { nowMs: nowMs(), restMs })
      throw error
    } finally {
      observe({ host: node.host, score: scoreOf(node.health) })
    }
  }
  const distrust = (node: Node) => noteFailure(node.health, { nowMs: nowMs(), restMs })
  return {
    nodes,
    inOrder,
    identify,
    on,
    distrust,
    onFirst: (work) => firstOf(inOrder(), (node) => on(node, work)),
  }
}

/** What makes a node give way to the next. */
export type PassedOver = Fault<'remote_failed'> | Fault<'settings_bad'>

export function isPassedOver(error: unknown): error is PassedOver {
  return isFault(error, 'remote_failed') || isFault(error, 'settings_bad')
}

/** What reading an answer of an odd shape throws: libraries take its fields for granted. */
function isUnreadable(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}

function unreadable({ name }: PooledNode, error: Error): Fault<'remote_failed'> {
  const problem = `an answer has an odd form: ${error.message}`
  return new Fault('remote_failed', { what: name, problem }, { cause: error })
}

async function firstOf<Node, Result>(
  nodes: readonly Node[],
  work: (node: Node) => Promise<Result>,
): Promise<Result> {
  const faults: PassedOver[] = []
  for (const node of nodes) {
    try {
      return await work(node)
    } catch (error) {
      if (!isPassedOver(error)) throw error
      faults.push(error)
    }
  }
  throw allFailed(faults)
}

/** A node of another chain is told of before anything that may pass. */
export function allFailed(faults: readonly PassedOver[]): PassedOver {
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

/** How much slower than the next a node may be, beside a fixed part for which nobody would leave a preferred node. */
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
    // Measured anew when it is asked again: what is not asked cannot become faster.
    health.latencyMs = null
  }
  const rests = (node: Node) => node.health.restUntilMs > nowMs
  return [...nodes.filter((node) => !rests(node)), ...nodes.filter(rests)]
}
