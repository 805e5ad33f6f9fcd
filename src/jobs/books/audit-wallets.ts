import { createHash } from 'node:crypto'
import type { Rules } from '../../core/decide.ts'
import { idAtService } from '../../core/evidence.ts'
import { walletHeader } from '../../core/withdrawal-claim.ts'
import { walletTerms } from '../../core/withdrawals.ts'
import type { DepositPage } from '../../provider/deposit-client.ts'
import type { WalletsClient } from '../../provider/wallets-client.ts'
import { tieWallets, type WalletBalance, walletsOf } from '../../store/books/withdrawals.ts'
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

/** `stored`: withdrawals that are new or have changed. `compared`: balances. */
export type WalletAudit = { stored: number; compared: number; changes: readonly MismatchChange[] }

/**
 * Reads the withdrawals and then the balance of every StableWallet in the address book, and compares each balance with
 * the books. A call that the profile does not name is left out.
 * @throws the first failure of a call, after the other wallets are read and compared
 */
export async function auditWallets(deps: WalletAuditDeps, client: WalletsClient): Promise<WalletAudit> {
  const { db, rules, creditAsset: asset, now } = deps
  const { service, readBalance, listWithdrawals } = client
  const wallets = await walletsOf(db, service)
  const faults: unknown[] = []
  let stored = 0
  if (listWithdrawals !== null)
    await readEach(wallets, faults, async (wallet) => {
      stored += await readWithdrawals(deps, { wallet, service, pages: listWithdrawals(wallet) })
    })
  if (stored > 0) await deps.apply()
  // What such a wallet holds is not in the books.
  const own = wallets.filter((wallet) => walletTerms({ wallet, asset }, rules.contras).delivery !== 'ends')
  const balances: WalletBalance[] = []
  if (readBalance !== null)
    await readEach(own, faults, async (wallet) => {
      balances.push({ wallet, asset, balance: await readBalance(wallet) })
    })
  const known = new Set(balances.map(({ wallet }) => wallet))
  const unread = readBalance === null ? [] : own.filter((wallet) => !known.has(wallet))
  const read = { balances, unread, readAt: now(), withinMs: rules.policy.settlementWithinMs }
  const changes = await inTransaction(db, (tx) => tieWallets(tx, service, read))
  if (faults.length > 0) throw faults[0]
  return { stored, compared: balances.length, changes }
}

/** In a row: a service that does not answer would cost one timeout per wallet. */
const faultsMax = 5

async function readEach(
  wallets: readonly string[],
  faults: unknown[],
  read: (wallet: string) => Promise<void>,
): Promise<void> {
  let inRow = 0
  for (const wallet of wallets) {
    if (inRow === faultsMax) return
    try {
      await read(wallet)
      inRow = 0
    } catch (fault) {
      faults.push(fault)
      inRow++
    }
  }
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
