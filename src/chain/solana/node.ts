import { createSolanaRpcFromTransport, type RpcTransport } from '@solana/kit'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import type { Health } from '../health.ts'
import { openExchange, type Payload } from '../json-rpc.ts'
import { type Connection, nodeName } from '../options.ts'

export type SolanaRpc = ReturnType<typeof createSolanaRpcFromTransport<RpcTransport>>

/** One JSON-RPC server and what this process learned of it. */
export type SolanaNode = { readonly name: string; readonly health: Health; readonly rpc: SolanaRpc }

export function openNode(connection: Connection): SolanaNode {
  return {
    name: nodeName(connection),
    rpc: createSolanaRpcFromTransport(transportOf(connection)),
    health: connection.health,
  }
}

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
    throw refusal(node, what, messageOf(error))
  }
}

/** The fault for an answer that cannot be used. */
export function refusal(node: SolanaNode, what: string, problem: string): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${node.name}, ${what}`, problem })
}

/** The library's own transport bounds neither the wait nor the size of an answer, and would follow redirects. */
function transportOf(connection: Connection): RpcTransport {
  const { ask: exchange } = openExchange(connection, { encode: stringifyExactly, decode: parseExactly })
  const transport = ({ payload }: Parameters<RpcTransport>[0]) => exchange(payload as Payload)
  return transport as RpcTransport
}

function stringifyExactly(value: unknown): string {
  return JSON.stringify(value, exactNumbers)
}

/** Whole numbers become `bigint`, because lamports exceed what a JSON number holds. */
function parseExactly(text: string): unknown {
  return (JSON.parse as (text: string, revive: typeof exactInteger) => unknown)(text, exactInteger)
}

function exactInteger(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value
}

function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? (JSON as unknown as RawJson).rawJSON(value.toString()) : value
}

type RawJson = { rawJSON(text: string): unknown }
