import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import { encodeTransaction, listAccounts, transactionConfig } from './encode-transaction.ts'
import type { TransactionEntry } from './history.ts'
import { RpcError, rpcCodes } from './json-rpc.ts'
import {
  addressParameter,
  contextConfig,
  contextSlot,
  type Methods,
  readParameters,
  requireConfirmed,
  slotParameter,
  withContext,
} from './parameters.ts'
import { blockhashLifetimeSlots } from './slots.ts'

const signaturesMax = 1000
const statusesMax = 256
const blocksMax = 500_000

const pageConfig = contextConfig.extend({
  limit: z.int().min(1).max(signaturesMax).default(signaturesMax),
  before: z.string().optional(),
  until: z.string().optional(),
})

const blockConfig = contextConfig.extend(transactionConfig.shape).extend({
  transactionDetails: z.enum(['full', 'accounts', 'signatures', 'none']).default('full'),
  rewards: z.boolean().default(true),
})

const schemas = {
  page: z.tuple([addressParameter, pageConfig.prefault({})]),
  statuses: z.tuple([
    z.array(z.string()).max(statusesMax),
    z.looseObject({ searchTransactionHistory: z.boolean().default(false) }).prefault({}),
  ]),
  transaction: z.tuple([z.string(), contextConfig.extend(transactionConfig.shape).prefault({})]),
  block: z.tuple([slotParameter, blockConfig.prefault({})]),
  blocks: z.tuple([slotParameter, slotParameter.nullish(), contextConfig.prefault({})]),
  blocksWithLimit: z.tuple([slotParameter, z.int().min(0).max(blocksMax), contextConfig.prefault({})]),
  blockTime: z.tuple([slotParameter]),
}

export function historyMethods(chain: SolanaChain): Methods {
  return {
    getSignaturesForAddress: (parameters) => listSignatures(chain, readParameters(schemas.page, parameters)),
    getSignatureStatuses: (parameters) => statuses(chain, readParameters(schemas.statuses, parameters)),
    getTransaction: (parameters) => transaction(chain, readParameters(schemas.transaction, parameters)),
    getBlock: (parameters) => block(chain, readParameters(schemas.block, parameters)),
    getBlocks(parameters) {
      const [first, wantedLast, config] = readParameters(schemas.blocks, parameters)
      requireConfirmed(config.commitment)
      const last = Math.min(wantedLast ?? Infinity, contextSlot(chain, config))
      if (last - first >= blocksMax) {
        throw new RpcError(rpcCodes.invalidParams, `Slot range too large; max ${blocksMax}`)
      }
      return slotsOf(first, last)
    },
    getBlocksWithLimit(parameters) {
      const [first, limit, config] = readParameters(schemas.blocksWithLimit, parameters)
      requireConfirmed(config.commitment)
      return slotsOf(first, Math.min(first + limit - 1, contextSlot(chain, config)))
    },
    getBlockTime(parameters) {
      const [slot] = readParameters(schemas.blockTime, parameters)
      requireSlot(slot, chain.slots.at('confirmed'))
      return chain.slots.timeOf(slot)
    },
  }
}

/** As on a real node, an unknown `before` returns an empty list and an unknown `until` is never reached. */
function listSignatures(chain: SolanaChain, [address, config]: z.output<typeof schemas.page>) {
  requireConfirmed(config.commitment)
  const slot = contextSlot(chain, config)
  const { history, slots } = chain
  const before = config.before === undefined ? Infinity : (history.find(config.before)?.number ?? -1)
  const until = config.until === undefined ? -1 : (history.find(config.until)?.number ?? -1)
  const wanted = (entry: TransactionEntry) => entry.slot <= slot && entry.number < before
  return newestFirst(history.ofAddress(address), { wanted, until, limit: config.limit }).map((entry) => ({
    signature: entry.signature,
    slot: entry.slot,
    err: entry.err,
    memo: null,
    blockTime: slots.timeOf(entry.slot),
    confirmationStatus: slots.commitmentOf(entry.slot),
  }))
}

type SignaturePageQuery = { wanted: (entry: TransactionEntry) => boolean; until: number; limit: number }

/** Reads no more of a long history than the page and the newer entries. */
function newestFirst(entries: readonly TransactionEntry[], { wanted, until, limit }: SignaturePageQuery) {
  const page: TransactionEntry[] = []
  for (let place = entries.length - 1; place >= 0 && page.length < limit; place--) {
    const entry = entries[place]
    if (entry === undefined || entry.number <= until) break
    if (wanted(entry)) page.push(entry)
  }
  return page
}

/**
 * Without `searchTransactionHistory`, a node remembers a transaction only as long as a blockhash is valid.
 */
function statuses(chain: SolanaChain, [signatures, config]: z.output<typeof schemas.statuses>) {
  const slot = chain.slots.at('processed')
  const oldest = config.searchTransactionHistory ? 0 : slot - blockhashLifetimeSlots
  return withContext(
    slot,
    signatures.map((signature) => {
      const entry = chain.history.find(signature)
      return entry === null || entry.slot < oldest ? null : status(chain, entry, slot)
    }),
  )
}

function status({ slots }: SolanaChain, entry: TransactionEntry, newest: number) {
  const confirmationStatus = slots.commitmentOf(entry.slot)
  return {
    slot: entry.slot,
    confirmations: confirmationStatus === 'finalized' ? null : newest - entry.slot,
    err: entry.err,
    status: entry.err === null ? { Ok: null } : { Err: entry.err },
    confirmationStatus,
  }
}

function transaction(chain: SolanaChain, [signature, config]: z.output<typeof schemas.transaction>) {
  requireConfirmed(config.commitment)
  const entry = chain.history.find(signature)
  if (entry === null || entry.slot > contextSlot(chain, config)) return null
  const blockTime = chain.slots.timeOf(entry.slot)
  return { slot: entry.slot, blockTime, ...encodeTransaction(chain.history.read(entry), config) }
}

function slotsOf(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place)
}

function block(chain: SolanaChain, [slot, config]: z.output<typeof schemas.block>) {
  requireConfirmed(config.commitment)
  requireSlot(slot, contextSlot(chain, config))
  const { slots, history } = chain
  const parentSlot = Math.max(0, slot - 1)
  const entries = history.ofSlot(slot)
  return {
    blockHeight: slot,
    blockTime: slots.timeOf(slot),
    blockhash: slots.blockhashOf(slot),
    parentSlot,
    previousBlockhash: slots.blockhashOf(parentSlot),
    ...(config.rewards ? { rewards: [] } : {}),
    ...(config.transactionDetails === 'full'
      ? { transactions: entries.map((entry) => encodeTransaction(history.read(entry), config)) }
      : {}),
    ...(config.transactionDetails === 'accounts'
      ? { transactions: entries.map((entry) => listAccounts(history.read(entry), config)) }
      : {}),
    ...(config.transactionDetails === 'signatures'
      ? { signatures: entries.map((entry) => entry.signature) }
      : {}),
  }
}

function requireSlot(slot: number, newest: number): void {
  if (slot > newest) throw new RpcError(rpcCodes.blockNotAvailable, `Block not available for slot ${slot}`)
}
