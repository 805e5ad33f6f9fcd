import { createHash } from 'node:crypto'
import type { Rules } from '../../core/decide.ts'
import { idAtService } from '../../core/evidence.ts'
import { walletHeader } from '../../core/withdrawal-claim.ts'
import { walletTerms } from '../../core/withdrawals.ts'
import type { DepositPage } from '../../provider/deposit-client.ts'
import type { WalletsClient } from '../../provider/wallets-client.ts'
import { clearWallets, tieWallet, type WalletBalance, walletsOf } from '../../store/books/withdrawals.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { appendInbox } from '../../store/inbox.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'

export type WalletAuditDeps = {
  db: Database<Tables>
  rules: Pick<Rules, 'policy' | 'contras'>
  creditAsset: WalletBalance['asset']
  now: () => Date
  /** Applies what the inbox holds. */
  apply: () => Promise<unknown>
}

export type WalletAudit = {
  /** Withdrawals that are new or have changed. */
  stored: number
  /** Balances. */
  compared: number
  changes: readonly MismatchChange[]
}

/**
 * Of each StableWallet in the address book: reads and applies its withdrawals, reads its balance, and compares that with
 * the books at once. A call that the profile does not name is left out.
 * @throws the first failure of a call, after the other wallets are read and compared
 */
export async function auditWallets(deps: WalletAuditDeps, client: WalletsClient): Promise<WalletAudit> {
  const { db } = deps
  const { service, readBalance } = client
  const wallets = await walletsOf(db, service)
  const compared = readBalance === null ? [] : wallets.filter((wallet) => isInBooks(deps, wallet))
  const audits: WalletAudit[] = [
    { stored: 0, compared: 0, changes: await clearWallets(db, service, compared) },
  ]
  const faults: unknown[] = []
  let inRow = 0
  for (const wallet of wallets) {
    if (inRow === faultsMax) break
    try {
      audits.push(await auditWallet(deps, client, wallet))
      inRow = 0
    } catch (fault) {
      faults.push(fault)
      inRow++
    }
  }
  if (faults.length > 0) throw faults[0]
  return {
    stored: audits.reduce((sum, { stored }) => sum + stored, 0),
    compared: audits.reduce((sum, { compared: count }) => sum + count, 0),
    changes: audits.flatMap(({ changes }) => changes),
  }
}

/** In a row: a service that does not answer would cost one timeout per wallet. */
const faultsMax = 5

/** What a wallet holds whose deliveries end what is owed is not in the books. */
function isInBooks({ creditAsset: asset, rules }: WalletAuditDeps, wallet: string): boolean {
  return walletTerms({ wallet, asset }, rules.contras).delivery !== 'ends'
}

async function auditWallet(
  deps: WalletAuditDeps,
  { service, readBalance, listWithdrawals }: WalletsClient,
  wallet: string,
): Promise<WalletAudit> {
  const { db, rules, creditAsset: asset, now } = deps
  const pages = listWithdrawals?.(wallet)
  const stored = pages === undefined ? 0 : await readWithdrawals(deps, { wallet, service, pages })
  if (stored > 0) await deps.apply()
  if (readBalance === null || !isInBooks(deps, wallet)) return { stored, compared: 0, changes: [] }
  const readAt = now()
  const balance = await readBalance(wallet)
  const reading = { wallet, asset, balance, readAt, withinMs: rules.policy.settlementWithinMs }
  return { stored, compared: 1, changes: await inTransaction(db, (tx) => tieWallet(tx, reading)) }
}

type WithdrawalPages = Pick<WalletsClient, 'service'> & {
  wallet: string
  pages: AsyncIterable<DepositPage['records']>
}

async function readWithdrawals(
  deps: WalletAuditDeps,
  { wallet, service, pages }: WithdrawalPages,
): Promise<number> {
  let stored = 0
  for await (const records of pages) stored += await storeWithdrawals(deps, { wallet, service, records })
  return stored
}

type ListedWithdrawals = Pick<WalletsClient, 'service'> & { wallet: string; records: DepositPage['records'] }

/** The same text is stored once. @returns how many are new */
async function storeWithdrawals(
  { db, now }: WalletAuditDeps,
  { wallet, service, records }: ListedWithdrawals,
): Promise<number> {
  if (records.length === 0) return 0
  const receivedAt = now()
  const rows = records.map(({ text }) => ({
    source: 'api' as const,
    service,
    sourceKey: `withdrawal/${createHash('sha256').update(`${wallet} ${text}`).digest('hex')}`,
    body: Buffer.from(text),
    headers: { [walletHeader]: idAtService(wallet) },
    receivedAt,
  }))
  const distinct = [...new Map(rows.map((row) => [row.sourceKey, row])).values()]
  return (await inTransaction(db, (tx) => appendInbox(tx, distinct))).size
}
