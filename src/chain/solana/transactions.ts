import { getBase58Encoder, MAX_SUPPORTED_TRANSACTION_VERSION, type Signature } from '@solana/kit'
import type { Address } from '../../core/asset.ts'
import { refusal } from '../pool.ts'
import {
  type BalanceChange,
  balanceChanges,
  type TokenHolding,
  type TransactionBalances,
} from './balance-changes.ts'
import { type readWhole, type Unread, unlessUnsupported } from './blocks.ts'
import { ask, type Effects, type ListedSignature, type SolanaNodeRpc, type SolanaScan } from './node.ts'

/** @throws Fault `remote_failed` if the node lists the transaction but does not have it */
export async function readEffects(
  scan: SolanaScan,
  { signature, slot }: ListedSignature,
): Promise<Effects | Unread> {
  const known = scan.memory.effects.get(signature)
  if (known !== undefined) return known
  const found = await findTransaction(scan, { signature, commitment: 'finalized' })
  if (typeof found === 'string') return found
  const { changes, memo, holders } = requireListed(scan, { signature, slot }, found)
  scan.memory.effects.set(signature, { changes, memo, holders })
  return { changes, memo, holders }
}

/** @throws Fault `remote_failed` if the node lists the transaction but does not have it */
export async function readReported(
  scan: SolanaScan,
  listed: ListedSignature,
): Promise<TransactionBalances | Unread> {
  const reported = await requestReported(scan, { signature: listed.signature, commitment: 'finalized' })
  return typeof reported === 'string'
    ? reported
    : checkedBalances(scan, requireListed(scan, listed, reported))
}

function requireListed<Answer extends { slot: bigint }>(
  { node }: SolanaScan,
  { signature, slot }: ListedSignature,
  answer: Answer | null,
): Answer {
  const what = `transaction ${signature}`
  if (answer === null) throw refusal(node, what, 'it is listed, but cannot be read')
  if (answer.slot !== slot) throw refusal(node, what, `it is in slot ${answer.slot}, not ${slot}`)
  return answer
}

export type TransactionEffects = Effects & { slot: bigint; failed: boolean }

export type SignatureQuery = { signature: Signature; commitment: 'confirmed' | 'finalized' }

/** Null if the node does not have it at that commitment. */
export async function findTransaction(
  scan: SolanaScan,
  sought: SignatureQuery,
): Promise<TransactionEffects | Unread | null> {
  const reported = await requestReported(scan, sought)
  if (typeof reported === 'string' || reported === null) return reported
  const balances = checkedBalances(scan, reported)
  if (typeof balances === 'string') return balances
  const { slot, accounts, meta, memo } = reported
  const changes = balanceChanges(scan.watch, balances)
  return { slot, failed: meta.err !== null, changes, memo, holders: holdersOf(scan, accounts, meta) }
}

type TransactionAnswer = TransactionDetails & { slot: bigint; memo: string | null }

async function requestReported(
  scan: SolanaScan,
  sought: SignatureQuery,
): Promise<TransactionAnswer | Unread | null> {
  const what = `transaction ${sought.signature}`
  const found = await ask(scan.node, what, (rpc) => unlessUnsupported(requestTransaction(rpc, sought)))
  if (typeof found === 'string') return found
  if (found === null || found.meta === null) return null
  const { slot, transaction, meta } = found
  const { loadedAddresses: loaded } = meta
  const accounts = [
    ...transaction.message.accountKeys,
    ...(loaded?.writable ?? []),
    ...(loaded?.readonly ?? []),
  ]
  return { what, slot, accounts, meta, memo: memoIn(found) }
}

function holdersOf(
  { watch }: SolanaScan,
  accounts: readonly string[],
  meta: BlockTransactionMeta,
): Effects['holders'] {
  const named = [...(meta.preTokenBalances ?? []), ...(meta.postTokenBalances ?? [])]
  return named.flatMap(({ accountIndex, mint, owner }) => {
    const account = accounts[accountIndex]
    const isWatched = watch.mints.has(mint as string as Address)
    return isWatched && owner !== undefined && account !== undefined
      ? [{ account, owner: owner as string as Address }]
      : []
  })
}

type BlockWithAccounts = Exclude<Awaited<ReturnType<typeof readWhole>>, null | Unread>

export function changesInBlock(
  scan: SolanaScan,
  included: BlockWithAccounts['transactions'][number],
): readonly BalanceChange[] | Unread {
  const balances = reportedInBlock(scan, included)
  return typeof balances === 'string' ? balances : balanceChanges(scan.watch, balances)
}

export function reportedInBlock(
  scan: SolanaScan,
  { meta, transaction }: BlockWithAccounts['transactions'][number],
): TransactionBalances | Unread {
  const what = `transaction ${transaction.signatures[0] ?? ''}`
  if (meta === null) throw refusal(scan.node, what, 'its block does not contain its effects')
  return checkedBalances(scan, { what, accounts: transaction.accountKeys.map(({ pubkey }) => pubkey), meta })
}

function requestTransaction(rpc: SolanaNodeRpc, { signature, commitment }: SignatureQuery) {
  return rpc
    .getTransaction(signature, {
      commitment,
      encoding: 'json',
      maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
    })
    .send()
}

type FoundTransaction = NonNullable<Awaited<ReturnType<typeof requestTransaction>>>

type BlockTransactionMeta = NonNullable<BlockWithAccounts['transactions'][number]['meta']>
type TransactionDetails = { what: string; accounts: readonly string[]; meta: BlockTransactionMeta }

/** @throws Fault `remote_failed` if the balances do not match the accounts */
function checkedBalances(
  { node, watch }: SolanaScan,
  { what, accounts, meta }: TransactionDetails,
): TransactionBalances | 'owner' {
  const balances = toBalances(accounts, meta)
  const { lamportsBefore, lamportsAfter, tokensBefore, tokensAfter } = balances
  const sameLength = [lamportsBefore, lamportsAfter].every(({ length }) => length === accounts.length)
  const tokensKnown = [...tokensBefore, ...tokensAfter].every(({ account }) => account < accounts.length)
  if (!sameLength || !tokensKnown) throw refusal(node, what, 'its balances do not match its accounts')
  const nobodys = [...tokensBefore, ...tokensAfter].some(
    ({ mint, owner }) => owner === undefined && watch.mints.has(mint as Address),
  )
  return nobodys ? 'owner' : balances
}

function toBalances(accounts: readonly string[], meta: BlockTransactionMeta): TransactionBalances {
  return {
    failed: meta.err !== null,
    accounts,
    fee: meta.fee,
    lamportsBefore: meta.preBalances,
    lamportsAfter: meta.postBalances,
    tokensBefore: (meta.preTokenBalances ?? []).map(toHolding),
    tokensAfter: (meta.postTokenBalances ?? []).map(toHolding),
  }
}

type MetaTokenBalance = NonNullable<BlockTransactionMeta['preTokenBalances']>[number]

function toHolding({ accountIndex, mint, owner, uiTokenAmount }: MetaTokenBalance): TokenHolding {
  return { account: accountIndex, mint, owner, amount: BigInt(uiTokenAmount.amount) }
}

const memoPrograms: ReadonlySet<string> = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
])

const charactersMax = 256

/**
 * Joined by spaces. Untrusted text: cut to 256 characters, without invisible characters. Programs never come from lookup
 * tables, so the transaction's own accounts suffice.
 */
function memoIn({ transaction, meta }: FoundTransaction): string | null {
  const { accountKeys, instructions } = transaction.message
  const inner = (meta?.innerInstructions ?? []).flatMap((called) => called.instructions)
  const text = [...instructions, ...inner]
    .filter(({ programIdIndex }) => memoPrograms.has(accountKeys[programIdIndex] ?? ''))
    .map(({ data }) => new TextDecoder().decode(Uint8Array.from(getBase58Encoder().encode(data))))
    .map((one) => one.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''))
    .filter((one) => one !== '')
    .join(' ')
  return text === '' ? null : Array.from(text).slice(0, charactersMax).join('')
}
