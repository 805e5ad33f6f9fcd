import { BaseError, type Client, createClient, createTransport, RpcRequestError, type Transport } from 'viem'
import { Fault, messageOf, shorten } from '../../core/errors.ts'
import {
  type Codec,
  ConnectionProblem,
  createTogether,
  type Exchange,
  HttpProblem,
  openExchange,
  type RpcAnswer,
  type RpcError,
  type RpcPayload,
} from '../json-rpc.ts'
import { type NodeConnection, nodeName } from '../options.ts'
import { PauseRequested } from '../pace.ts'
import type { NodeHealth } from '../pool.ts'
import type { RequestFailure } from '../refusals.ts'
import type { OddLogObserver } from '../types.ts'
import { type LogMemory, newLogMemory } from './log-cost.ts'

/** One JSON-RPC server, and what this process has learned of it. */
export type EvmNode = {
  readonly name: string
  readonly host: string
  readonly health: NodeHealth
  readonly client: Client
  /** Sends the requests of one turn of the event loop as a batch, if the server accepts batches. */
  readonly batching: Client
  readonly logs: LogMemory
  /** Reports a log that is ignored because of its form. */
  readonly reportOddLog: (log: Omit<Parameters<OddLogObserver>[0], 'network'>) => void
}

export function openNode(connection: NodeConnection): EvmNode {
  const exchange = openExchange(connection, plainJson)
  const together = createTogether(exchange.askTogether, connection.bounds.requestsPerBatch)
  return {
    name: nodeName(connection),
    host: connection.url.host,
    health: connection.health,
    client: createClient({ transport: transportOf(exchange.ask) }),
    batching: createClient({ transport: transportOf(together) }),
    logs: newLogMemory(),
    reportOddLog: (log) => connection.observeOddLog({ network: connection.network, ...log }),
  }
}

/**
 * Runs one call.
 * @throws Fault `remote_failed` that names the node and the call. It carries no cause: the library's errors contain the
 * URL, which may hold a key.
 */
export async function ask<Result>(
  node: EvmNode,
  what: string,
  call: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(node.client)
  } catch (error) {
    throw refusal(node, what, problemOf(error))
  }
}

/** Runs one call that may be batched with others. @throws as `ask` */
export function askTogether<Result>(
  node: EvmNode,
  what: string,
  call: (client: Client) => Promise<Result>,
): Promise<Result> {
  return ask({ ...node, client: node.batching }, what, call)
}

/** The fault for an unusable answer. */
export function refusal(node: EvmNode, what: string, problem: string): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${node.name}, ${what}`, problem })
}

/** Server messages have any length; those about limits are longer than expected. */
const problemMax = 2000

/** The message of the server, without the URL and the request that the library adds. */
export function problemOf(error: unknown): string {
  if (!(error instanceof BaseError)) return shorten(messageOf(error), problemMax)
  const rpc = error.walk((inner) => inner instanceof RpcRequestError)
  if (rpc instanceof RpcRequestError) return `${shorten(rpc.details, problemMax)} (code ${rpc.code})`
  // Typed as always present, but some errors have none.
  return shorten(error.details || error.shortMessage, problemMax)
}

/** The details of a failed call, for a caller that may request less. */
export function failureOf(error: unknown): RequestFailure {
  const inner = (is: (one: unknown) => boolean) => (error instanceof BaseError ? error.walk(is) : error)
  const stated = inner((one) => one instanceof StatedError)
  const answered = inner((one) => one instanceof HttpProblem)
  const away = inner((one) => one instanceof ConnectionProblem || one instanceof PauseRequested)
  return {
    problem: problemOf(error),
    code: stated instanceof StatedError ? stated.code : null,
    status:
      stated instanceof StatedError
        ? stated.status
        : answered instanceof HttpProblem
          ? answered.status
          : null,
    isAway: away instanceof ConnectionProblem || away instanceof PauseRequested,
  }
}

/** An error stated by the server, with its HTTP status. */
class StatedError extends RpcRequestError {
  readonly status: number | null

  constructor(method: string, error: RpcError) {
    // Without the URL, which may hold a key.
    super({ body: { method }, error, url: '' })
    this.status = error.status ?? null
  }
}

const plainJson: Codec = { encode: JSON.stringify, decode: JSON.parse }

/** Disables retries in the library: the exchange has already retried. */
function transportOf(exchange: Exchange['ask']): Transport {
  let asked = 0
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    const payload: RpcPayload = {
      jsonrpc: '2.0',
      id: ++asked,
      method,
      ...(params === undefined ? {} : { params }),
    }
    const answer: RpcAnswer = await exchange(payload)
    if (answer.error !== undefined) throw new StatedError(method, answer.error)
    return answer.result
  }
  return () =>
    createTransport({ key: 'http', name: 'JSON-RPC', type: 'http', retryCount: 0, request: request as never })
}
