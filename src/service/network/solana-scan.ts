import { type Signature, address as toSolanaAddress } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, assetKey, parseAddress, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../running/bounded.ts'
import type { Payment, Position, Scan } from './port.ts'
import type { SolanaRpc } from './solana.ts'
import { type Movement, movementsOf, soleSender } from './solana-movements.ts'

type Chain = {
  rpc: SolanaRpc
  settings: NetworkSettings
  /** What final transactions moved: they are listed again while they lie in the overlap, and never change. */
  finalTransactions: Map<string, readonly Movement[]>
}

type Listed = { signature: Signature; slot: bigint; blockAt: Date }

const requestsAtOnce = 8
const pageSize = 1000
const pagesMax = 100
/** Slots that are listed again: nodes have been seen to list a transaction late. */
const overlapSlots = 32n
const finalTransactionsMax = 10_000

export async function startSolana(rpc: SolanaRpc): Promise<Position> {
  const slot = await rpc.getSlot({ commitment: 'finalized' }).send()
  return { finalHeight: slot, finalHash: null, seenHeight: slot, seenHash: null }
}

export async function scanSolana(
  chain: Chain,
  position: Position,
  watched: () => Promise<ReadonlySet<Address>>,
): Promise<Scan> {
  const final = await chain.rpc.getSlot({ commitment: 'finalized' }).send()
  const seen = await chain.rpc.getSlot({ commitment: 'confirmed' }).send()
  const owners = await watched()
  const since = position.finalHeight - overlapSlots
  const listings = await mapBounded([...owners], requestsAtOnce, (owner) =>
    listTransactions(chain.rpc, owner, since),
  )
  const listed = new Map(listings.flat().map((entry) => [entry.signature, entry]))
  const payments = await mapBounded([...listed.values()], requestsAtOnce, async (entry) => {
    const isFinal = entry.slot <= final
    const movements = await readMovements(chain, entry, isFinal)
    return paymentsOf({ ...entry, movements, isFinal }, chain.settings, owners)
  })
  const finalHeight = final > position.finalHeight ? final : position.finalHeight
  const seenHeight = seen > finalHeight ? seen : finalHeight
  return {
    payments: payments.flat(),
    position: { finalHeight, finalHash: null, seenHeight, seenHash: null },
    more: false,
  }
}

/** Everything above the slot that touched the owner or one of its token accounts. Failed transactions moved nothing. */
async function listTransactions(rpc: SolanaRpc, owner: Address, since: bigint): Promise<Listed[]> {
  const program = { programId: TOKEN_PROGRAM_ADDRESS }
  const held = await rpc
    .getTokenAccountsByOwner(toSolanaAddress(owner), program, { encoding: 'base64', commitment: 'confirmed' })
    .send()
  const accounts = [owner, ...held.value.map(({ pubkey }) => parseAddress('solana', pubkey))]
  const pages = await mapBounded(accounts, requestsAtOnce, (account) => listAccount(rpc, account, since))
  return pages.flat()
}

/** Newest first, page by page, until a page reaches below the slot or is the last. */
async function listAccount(rpc: SolanaRpc, account: Address, since: bigint): Promise<Listed[]> {
  const found: Listed[] = []
  let before: Signature | undefined
  for (let page = 0; page < pagesMax; page++) {
    const entries = await rpc
      .getSignaturesForAddress(toSolanaAddress(account), {
        commitment: 'confirmed',
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
      })
      .send()
    const wanted = entries.filter(({ slot, err }) => slot > since && err === null)
    found.push(
      ...wanted.map(({ signature, slot, blockTime }) => ({ signature, slot, blockAt: toDate(blockTime) })),
    )
    const last = entries.at(-1)
    if (last === undefined || entries.length < pageSize || last.slot <= since) return found
    before = last.signature
  }
  const problem = `${account} has more than ${pagesMax * pageSize} transactions above slot ${since}`
  throw new Fault('remote_failed', { what: 'listing signatures', problem })
}

async function readMovements(
  chain: Chain,
  { signature }: Listed,
  isFinal: boolean,
): Promise<readonly Movement[]> {
  const kept = chain.finalTransactions.get(signature)
  if (kept !== undefined) return kept
  const movements = await fetchMovements(chain.rpc, signature)
  if (chain.finalTransactions.size >= finalTransactionsMax) chain.finalTransactions.clear()
  if (isFinal) chain.finalTransactions.set(signature, movements)
  return movements
}

async function fetchMovements(rpc: SolanaRpc, signature: Signature): Promise<readonly Movement[]> {
  const found = await rpc
    .getTransaction(signature, {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  if (found === null || found.meta === null) {
    const problem = 'it is listed, but the node does not have it'
    throw new Fault('remote_failed', { what: `reading transaction ${signature}`, problem })
  }
  const { meta, transaction } = found
  const loaded = meta.loadedAddresses
  return movementsOf({
    accounts: [...transaction.message.accountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])],
    pre: meta.preBalances,
    post: meta.postBalances,
    preTokens: meta.preTokenBalances ?? [],
    postTokens: meta.postTokenBalances ?? [],
  })
}

type ReadTransaction = Listed & { movements: readonly Movement[]; isFinal: boolean }

function paymentsOf(
  { signature, slot, blockAt, movements, isFinal }: ReadTransaction,
  { name, assets }: NetworkSettings,
  owners: ReadonlySet<Address>,
): Payment[] {
  const known = new Set(assets.map(({ key }) => key))
  return movements
    .map((movement) => ({ ...movement, asset: assetKey(name, movement.code) }))
    .filter(({ owner, change, asset }) => change > 0n && owners.has(owner) && known.has(asset))
    .map(({ owner, code, change, asset }) => ({
      transaction: toTxId(signature),
      index: `${code}:${owner}`,
      asset,
      sender: soleSender(movements, code),
      address: owner,
      amount: change,
      block: slot,
      blockHash: null,
      blockAt,
      final: isFinal,
    }))
}

/** Blocks from before the chain kept time have none. */
function toDate(blockTime: bigint | null): Date {
  return new Date(Number(blockTime ?? 0n) * 1000)
}
