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
 */
export async function auditWallets(deps: WalletAuditDeps, client: WalletsClient): Promise<WalletAudit> {
  const { db, rules, creditAsset: asset, now } = deps
  const { service, readBalance } = client
  const wallets = await walletsOf(db, service)
  const stored = await readWithdrawals(deps, client, wallets)
  if (stored > 0) await deps.apply()
  if (readBalance === null) return { stored, compared: 0, changes: [] }
  // What such a wallet holds is not in the books.
  const own = wallets.filter((wallet) => walletTerms({ wallet, asset }, rules.contras).delivery !== 'ends')
  const balances: WalletBalance[] = []
  for (const wallet of own) balances.push({ wallet, asset, balance: await readBalance(wallet) })
  const read = { balances, readAt: now(), withinMs: rules.policy.settlementWithinMs }
  const changes = await inTransaction(db, (tx) => tieWallets(tx, service, read))
  return { stored, compared: balances.length, changes }
}

async function readWithdrawals(
  deps: WalletAuditDeps,
  { service, listWithdrawals }: WalletsClient,
  wallets: readonly string[],
): Promise<number> {
  let stored = 0
  for (const wallet of listWithdrawals === null ? [] : wallets)
    for await (const records of listWithdrawals?.(wallet) ?? []) {
      const added = await storeWithdrawals(deps, { wallet, service, records })
      stored += added
      // The newest come first, and a withdrawal that has ended does not change again.
      if (added === 0) break
    }
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
