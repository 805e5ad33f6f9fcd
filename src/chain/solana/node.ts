import { setTimeout as pause } from 'node:timers/promises'
import {
  address,
  createSolanaRpcFromTransport,
  isSolanaError,
  type Address as KitAddress,
  type RpcTransport,
  type Signature,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
} from '@solana/kit'
import type { Address, NetworkName } from '../../core/asset.ts'
import { isFault, messageOf, shorten } from '../../core/errors.ts'
import { JsonRpcClient, type RpcPayload } from '../json-rpc.ts'
import { type NodeConnection, pooledNode, type ReaderBounds, rpcSetting, watchedAssets } from '../options.ts'
import { type PooledNode, refusal } from '../pool.ts'
import type { NetworkSettings, UnreadObserver } from '../types.ts'
import type { BalanceChange, WatchedAssets } from './balance-changes.ts'

export type SolanaNodeRpc = ReturnType<typeof createSolanaRpcFromTransport<RpcTransport>>

export type SolanaNode = PooledNode & {
  readonly rpc: SolanaNodeRpc
  /** The same, for answers of which a part suffices. */
  readonly rpcOfPart: (partOf: (text: string) => string) => SolanaNodeRpc
  readonly slotMs: number
  readonly observeUnread: UnreadObserver
}

export function openNode(connection: NodeConnection): SolanaNode {
  const client = new JsonRpcClient(connection, exactJson)
  return {
    ...pooledNode(connection),
    rpc: createSolanaRpcFromTransport(transportOf(client)),
    rpcOfPart: (partOf) => createSolanaRpcFromTransport(transportOf(client, partOf)),
    slotMs: connection.bounds.slotMs,
    observeUnread: connection.observeUnread,
  }
}

/** From the settings, or from the first node that answered; null until then. */
export type Cluster = { genesis: string | null }

/** Empty if the node is of the right cluster. */
export async function clusterFaults(
  node: SolanaNode,
  { name }: NetworkSettings,
  cluster: Cluster,
): Promise<string[]> {
  const found = await ask(node, 'genesis hash', (rpc) => rpc.getGenesisHash().send())
  cluster.genesis ??= found
  return found === cluster.genesis
    ? []
    : [`${rpcSetting(name)}: expected genesis hash ${cluster.genesis}, found ${found} (${node.name})`]
}

/** Server messages have any length. */
const problemMax = 2000

/** Servers behind one address are mostly a slot or two apart. */
export const notYetTriesMax = 8

/**
 * Retries if the node has not reached the slot that the call names.
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

/** The library's own transport limits neither the wait nor the size of an answer, and follows redirects. */
function transportOf(client: JsonRpcClient, partOf = (text: string) => text): RpcTransport {
  const codec = { ...exactJson, decode: (text: string) => exactJson.decode(partOf(text)) }
  const transport = ({ payload }: Parameters<RpcTransport>[0]) => client.ask(payload as RpcPayload, codec)
  return transport as RpcTransport
}

/** Lamports exceed the safe range of JavaScript numbers, so integers are `bigint`. */
export const exactJson = {
  encode: (value: unknown): string => JSON.stringify(value, exactNumbers),
  decode(text: string): unknown {
    if (longNumber.test(text)) return (JSON.parse as ParseWithSource)(text, exactInteger)
    return withIntegers(JSON.parse(text))
  },
}

/**
 * Digits that could be rounded; a match inside a string is harmless. Nearly all answers have none, and are parsed
 * several times as fast.
 */
const longNumber = /(?:^|[:[,])\s*-?\d{16}/

type ParseWithSource = (text: string, revive: typeof exactInteger) => unknown

function exactInteger(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** In place: the values are large, and not shared yet. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  const parts = value as Record<string, unknown>
  for (const key of Object.keys(parts)) {
    const part = parts[key]
    if (typeof part === 'number' || (typeof part === 'object' && part !== null))
      parts[key] = withIntegers(part)
  }
  return value
}

function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? (JSON as unknown as RawJsonFactory).rawJSON(value.toString()) : value
}

type RawJsonFactory = { rawJSON(text: string): unknown }

export function toKit(checked: Address): KitAddress {
  return address(checked)
}

export type SolanaWatch = WatchedAssets & { network: NetworkName; owners: ReadonlySet<Address> }

export type SolanaScan = {
  node: SolanaNode
  watch: SolanaWatch
  bounds: ReaderBounds
  memory: SolanaMemory
  /** Null chooses the cheaper one. */
  strategy: SolanaReadStrategy | null
}

/** Reads each owner's history, or selects the owners from every block. */
export type SolanaReadStrategy = 'by_owner' | 'by_block'

/** Final, so it cannot change: a repeated scan has the same result. Oldest entries are dropped first. */
export type SolanaMemory = {
  blocks: Map<bigint, SlotBlock>
  effects: Map<string, Effects>
  /** By owner: a closed account is no longer listed, but still has its history. */
  accounts: Map<Address, ReadonlySet<string>>
  programs: Map<Address, KitAddress>
  newest: Map<string, ListedSignature>
  /** From its last answer; null if it does not report it. */
  firstSlot: bigint | null
  /** For scans, and for separate ranges. */
  readonly walks: { scan: OwnerWalk | null; range: OwnerWalk | null }
  /** The last reading failed with it, so the next one uses the other. */
  failed: SolanaReadStrategy | null
}

export type SlotBlock = { hash: string; at: Date }

export type ListedSignature = { signature: Signature; slot: bigint }

export type Effects = {
  changes: readonly BalanceChange[]
  memo: string | null
  holders: readonly { account: string; owner: Address }[]
}

export type OwnerWalk = {
  since: bigint
  next: bigint
  /** Oldest first, after the last range: complete up to slot `to`. */
  waiting: readonly ListedSignature[]
  to: bigint
  owners: ReadonlySet<Address>
}

export function watchOf(settings: NetworkSettings, owners: ReadonlySet<Address>): SolanaWatch {
  const { tokens, native } = watchedAssets(settings)
  return { network: settings.name, mints: tokens, native, owners }
}

export function emptyMemory(): SolanaMemory {
  return {
    blocks: new BoundedMap(),
    effects: new BoundedMap(),
    accounts: new BoundedMap(),
    programs: new BoundedMap(),
    newest: new BoundedMap(),
    firstSlot: null,
    walks: { scan: null, range: null },
    failed: null,
  }
}

const entriesMax = 10_000

class BoundedMap<Key, Value> extends Map<Key, Value> {
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    const oldest = this.size > entriesMax ? this.keys().next() : null
    if (oldest?.done === false) this.delete(oldest.value)
    return this
  }
}
