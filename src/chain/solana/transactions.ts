import { MAX_SUPPORTED_TRANSACTION_VERSION } from '@solana/kit'
import { type BalanceChange, type Balances, balanceChanges, type TokenHolding } from './balances.ts'
import type { SlotBlock } from './memory.ts'
import { ask, refusal, type SolanaRpc } from './node.ts'
import type { Listed } from './signatures.ts'
import type { SolanaScan } from './watch.ts'

/**
 * What a listed transaction changed. A version newer than the library knows is an error of the node, so that it
 * stops the scan instead of being skipped.
 * @throws Fault `remote_failed` where the node lists a transaction and does not have it
 */
export async function readChanges(scan: SolanaScan, listed: Listed): Promise<readonly BalanceChange[]> {
  const known = scan.memory.changes.get(listed.signature)
  if (known !== undefined) return known
  const what = `transaction ${listed.signature}`
  const found = await ask(scan.node, what, (rpc) => requestTransaction(rpc, listed))
  if (found === null || found.meta === null)
    throw refusal(scan.node, what, 'it is listed, but cannot be read')
  if (found.slot !== listed.slot)
    throw refusal(scan.node, what, `it is in slot ${found.slot}, not ${listed.slot}`)
  const balances = balancesOf(found, found.meta)
  if (balances.accounts.length !== balances.lamportsAfter.length) {
    throw refusal(scan.node, what, 'its balances are not those of its accounts')
  }
  const changes = found.meta.err === null ? balanceChanges(scan.watch, balances) : []
  scan.memory.changes.set(listed.signature, changes)
  return changes
}

/** Hash and time of a slot's block. */
export async function readBlock({ node, memory }: SolanaScan, slot: bigint): Promise<SlotBlock> {
  const known = memory.blocks.get(slot)
  if (known !== undefined) return known
  const block = await ask(node, `block ${slot}`, (rpc) =>
    rpc
      .getBlock(slot, {
        commitment: 'finalized',
        maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
        rewards: false,
        transactionDetails: 'none',
      })
      .send(),
  )
  if (block === null || block.blockTime === null)
    throw refusal(node, `block ${slot}`, 'it has no block or no time')
  const read = { hash: block.blockhash, at: new Date(Number(block.blockTime) * 1000) }
  memory.blocks.set(slot, read)
  return read
}

function requestTransaction(rpc: SolanaRpc, { signature }: Listed) {
  return rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
    })
    .send()
}

type Transaction = NonNullable<Awaited<ReturnType<typeof requestTransaction>>>
type Meta = NonNullable<Transaction['meta']>

function balancesOf({ transaction }: Transaction, meta: Meta): Balances {
  const loaded = meta.loadedAddresses
  return {
    accounts: [...transaction.message.accountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])],
    fee: meta.fee,
    lamportsBefore: meta.preBalances,
    lamportsAfter: meta.postBalances,
    tokensBefore: (meta.preTokenBalances ?? []).map(toHolding),
    tokensAfter: (meta.postTokenBalances ?? []).map(toHolding),
  }
}

type TokenBalance = NonNullable<Meta['preTokenBalances']>[number]

function toHolding({ accountIndex, mint, owner, uiTokenAmount }: TokenBalance): TokenHolding {
  return { account: accountIndex, mint, owner, amount: BigInt(uiTokenAmount.amount) }
}
