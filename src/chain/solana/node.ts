import { createSolanaRpcFromTransport, type RpcTransport } from '@solana/kit'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { shorten } from '../../core/shorten.ts'
import type { Health } from '../health.ts'
import { openExchange, type Payload } from '../json-rpc.ts'
import { type Connection, nodeName } from '../options.ts'
import { exactJson } from './exact-json.ts'

export type SolanaRpc = ReturnType<typeof createSolanaRpcFromTransport<RpcTransport>>

/** One JSON-RPC server and what this process learned of it. */
export type SolanaNode = {
  readonly name: string
  readonly host: string
  readonly health: Health
  readonly rpc: SolanaRpc
}

export function openNode(connection: Connection): SolanaNode {
  return {
    name: nodeName(connection),
    host: connection.url.host,
    rpc: createSolanaRpcFromTransport(transportOf(connection)),
    health: connection.health,
  }
}

/** A server may say as much as it likes. */
const problemMax = 2000

/**
 * Runs one call.
 * @throws Fault `remote_failed` that names the node and the call
 */
export async function ask<Result>(
  node: SolanaNode,
  what: string,
  call: (rpc: SolanaRpc) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(node.rpc)
  } catch (error) {
    if (isFault(error, 'remote_failed')) throw error
    throw refusal(node, what, shorten(messageOf(error), problemMax))
  }
}

/** The fault for an answer that cannot be used. */
export function refusal(node: SolanaNode, what: string, problem: string): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${node.name}, ${what}`, problem })
}

/** The library's own transport bounds neither the wait nor the size of an answer, and would follow redirects. */
function transportOf(connection: Connection): RpcTransport {
  const { ask: exchange } = openExchange(connection, exactJson)
  const transport = ({ payload }: Parameters<RpcTransport>[0]) => exchange(payload as Payload)
  return transport as RpcTransport
}
