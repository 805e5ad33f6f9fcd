import { type Address, assetCode, toTxId } from '../../core/asset.ts'
import { toAmount } from '../../core/money.ts'
import { mapBounded } from '../map-bounded.ts'
import type { BlockMark, ScanRequest, ScanResult, StagedTransfer } from '../port.ts'
import { accountsOf } from './accounts.ts'
import type { BalanceChange } from './balances.ts'
import { ask, refusal } from './node.ts'
import { type Listed, listSignatures, requireHistory } from './signatures.ts'
import { readBlock, readChanges } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

/** Slots below the cursor that are listed again: a final slot may become readable late (about a minute). */
const overlapSlots = 150n

/**
 * Reads what became final since the cursor, for every owner. The new cursor is the final slot that was read
 * before anything was listed, or, where more waits than one scan reads, the last slot that was read whole.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function scanOn(scan: SolanaScan, request: ScanRequest): Promise<ScanResult> {
  const final = await readFinalMark(scan)
  const below = request.cursor?.final.height ?? (request.startHeight ?? final.height + 1n) - 1n
  if (request.cursor !== null && final.height < below) {
    throw refusal(scan.node, 'slot', `it is at ${final.height}, below slot ${below}, which was read as final`)
  }
  const floor = request.cursor === null ? below + 1n : below + 1n - overlapSlots
  const listed = floor > final.height ? [] : await listAll(scan, floor, final.height)
  const { due, through } = cutToBound(listed, below, scan.bounds.transactionsPerScan)
  const transfers = await mapBounded(due, scan.bounds.requestsAtOnce, (entry) => readTransfers(scan, entry))
  const reached = through === null ? final : { height: through, hash: (await readBlock(scan, through)).hash }
  return {
    transfers: transfers.flat(),
    movements: [],
    proved: reached.height > below ? [{ from: below + 1n, to: reached.height }] : [],
    dissent: [],
    cursor: { final: reached, seenHeight: reached.height, trail: [] },
    headHeight: final.height,
    rewoundTo: null,
    more: through !== null,
  }
}

/** Slot and hash from one answer of one bank: a block may take a moment longer to become readable. */
async function readFinalMark({ node }: SolanaScan): Promise<BlockMark> {
  const { context, value } = await ask(node, 'final slot', (rpc) =>
    rpc.getLatestBlockhash({ commitment: 'finalized' }).send(),
  )
  return { height: context.slot, hash: value.blockhash }
}

/** Each transaction once, oldest first, whichever accounts it touched. */
async function listAll(scan: SolanaScan, floor: bigint, slot: bigint): Promise<Listed[]> {
  const { requestsAtOnce } = scan.bounds
  await requireHistory(scan, floor)
  const owners = [...scan.watch.owners]
  const accounts = await mapBounded(owners, requestsAtOnce, (owner) => accountsOf(scan, owner, slot))
  const unique = [...new Set(accounts.flat())]
  const lists = await mapBounded(unique, requestsAtOnce, (account) =>
    listSignatures(scan, { account, floor, slot }),
  )
  const bySignature = new Map(lists.flat().map((entry) => [entry.signature, entry]))
  return [...bySignature.values()].toSorted((left, right) => Number(left.slot - right.slot))
}

/** Cuts what is above the cursor to whole slots; `through` is null where nothing had to be cut. */
function cutToBound(
  listed: readonly Listed[],
  below: bigint,
  max: number,
): { due: readonly Listed[]; through: bigint | null } {
  const last = listed.filter(({ slot }) => slot > below)[max - 1]
  const due = last === undefined ? listed : listed.filter(({ slot }) => slot <= last.slot)
  return last === undefined || due.length === listed.length
    ? { due: listed, through: null }
    : { due, through: last.slot }
}

async function readTransfers(scan: SolanaScan, listed: Listed): Promise<StagedTransfer[]> {
  const changes = await readChanges(scan, listed)
  const received = changes.filter(({ owner, amount }) => amount > 0n && scan.watch.owners.has(owner))
  if (received.length === 0) return []
  const block = await readBlock(scan, listed.slot)
  return received.map(({ asset, owner, amount }) => ({
    stage: 'final',
    network: scan.watch.network,
    tx: toTxId(listed.signature),
    index: `${assetCode(asset)}:${owner}`,
    asset,
    from: payerOf(changes, asset),
    to: owner,
    amount: toAmount(amount),
    height: listed.slot,
    blockHash: block.hash,
    blockAt: block.at,
  }))
}

/** Null where several paid, or nobody, as when tokens are minted. */
function payerOf(changes: readonly BalanceChange[], asset: string): Address | null {
  const [payer, another] = changes.filter((change) => change.asset === asset && change.amount < 0n)
  return another === undefined ? (payer?.owner ?? null) : null
}
