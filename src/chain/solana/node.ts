import { setTimeout as pause } from 'node:timers/promises'
import {
  createSolanaRpcFromTransport,
  isSolanaError,
  type RpcTransport,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
} from '@solana/kit'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { shorten } from '../../core/shorten.ts'
import type { NodeHealth } from '../health.ts'
import { openExchange, type RpcPayload } from '../json-rpc.ts'
import { type NodeConnection, nodeName } from '../options.ts'
import type { UnreadObserver } from '../port.ts'
import { exactJson } from './exact-json.ts'

export type SolanaNodeRpc = ReturnType<typeof createSolanaRpcFromTransport<RpcTransport>>

/** One JSON-RPC server and what this process learned of it. */
export type SolanaNode = {
  readonly name: string
  readonly host: string
  readonly health: NodeHealth
  readonly rpc: SolanaNodeRpc
  readonly slotMs: number
  /** Reports a transaction that cannot be read. */
  readonly reportUnread: (transaction: Omit<Parameters<UnreadObserver>[0], 'network'>) => void
}

export function openNode(connection: NodeConnection): SolanaNode {
  return {
    name: nodeName(connection),
    host: connection.url.host,
    rpc: createSolanaRpcFromTransport(transportOf(connection)),
    health: connection.health,
    slotMs: connection.bounds.slotMs,
    reportUnread: (transaction) => connection.observeUnread({ network: connection.network, ...transaction }),
  }
}

/** A server may say as much as it likes. */
const problemMax = 2000

/** Several servers behind one address are mostly a slot or two apart. */
export const notYetTriesMax = 8

/**
 * Runs one call, again if the node has not come to the slot that it names yet.
 * @throws Fault `remote_failed` that names the node and the call
 */
export async function ask<Result>(
  node: SolanaNode,
  what: string,
  call: (rpc: SolanaNodeRpc) => Promise<Result>,
): Promise<Result> {
  try {
    return await askOnceThere(node, call)
  } catch (error) {
    if (isFault(error, 'remote_failed')) throw error
    throw refusal(node, what, shorten(messageOf(error), problemMax))
  }
}

async function askOnceThere<Result>(
  { rpc, slotMs }: SolanaNode,
  call: (rpc: SolanaNodeRpc) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await call(rpc)
    } catch (error) {
      const isBehind = isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED)
      if (!isBehind || tries === notYetTriesMax) throw error
      await pause(slotMs)
    }
  }
}

/** The fault for an answer that cannot be used. */
export function refusal(node: SolanaNode, what: string, problem: string): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${node.name}, ${what}`, problem })
}

/** The library's own transport bounds neither the wait nor the size of an answer, and would follow redirects. */
function transportOf(connection: NodeConnection): RpcTransport {
  const { ask: exchange } = openExchange(connection, exactJson)
  const transport = ({ payload }: Parameters<RpcTransport>[0]) => exchange(payload as RpcPayload)
  return transport as RpcTransport
}
