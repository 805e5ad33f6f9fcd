import {
  BaseError,
  type Client,
  createClient,
  HttpRequestError,
  http,
  RpcRequestError,
  type Transport,
} from 'viem'
import { Fault, messageOf } from '../../core/errors.ts'
import type { Resting } from '../failover.ts'
import { boundedFetch } from '../http.ts'
import { observed } from '../observed.ts'
import { type Connection, nodeName } from '../options.ts'

/** One JSON-RPC server and what this process learned of it. */
export type EvmNode = Resting & {
  readonly name: string
  readonly client: Client
  /** How many blocks its log filter last took; null until a limit was met. */
  logSpan: bigint | null
  /** Whether it said the right chain id since it last failed. */
  chainChecked: boolean
}

export function openNode(connection: Connection): EvmNode {
  return {
    name: nodeName(connection),
    client: createClient({ transport: transportOf(connection) }),
    logSpan: null,
    chainChecked: false,
    restUntilMs: 0,
  }
}

/**
 * Runs one call.
 * @throws Fault `remote_failed` that names the node and the call. It carries no cause: the library's errors
 * spell out the URL, which may hold a key.
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

/** The fault for an answer that cannot be used. */
export function refusal(node: EvmNode, what: string, problem: string): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${node.name}, ${what}`, problem })
}

/** What the server itself said, without the URL and the request that the library adds. */
export function problemOf(error: unknown): string {
  if (!(error instanceof BaseError)) return messageOf(error)
  const rpc = error.walk((inner) => inner instanceof RpcRequestError)
  if (rpc instanceof RpcRequestError) return `${rpc.details} (code ${rpc.code})`
  const web = error.walk((inner) => inner instanceof HttpRequestError)
  if (web instanceof HttpRequestError && web.status !== undefined)
    return `${web.details} (HTTP ${web.status})`
  // Typed as always there, but some errors have none.
  return error.details || error.shortMessage
}

/** Never retries by itself: the job does, with backoff, and every request is told to the observer once. */
function transportOf(connection: Connection): Transport {
  const plain = http(connection.url.href, {
    retryCount: 0,
    timeout: connection.bounds.timeoutMs,
    maxResponseBodySize: false,
    fetchFn: boundedFetch(connection.bounds),
  })
  return (parameters) => {
    const built = plain({ ...parameters, retryCount: 0 })
    const request: typeof built.request = (args, options) =>
      observed(connection, { method: args.method, send: () => built.request(args, options) })
    return { ...built, request }
  }
}
