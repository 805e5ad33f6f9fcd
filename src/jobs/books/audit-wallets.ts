import { createHash } from 'node:crypto'
import type { Rules } from '../../core/decide.ts'
import { isFault } from '../../core/errors.ts'
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
  rules: Rules
  creditAsset: WalletBalance['asset']
  now: () => Date
  /** Applies what the inbox holds. */
  apply: () => Promise<unknown>
}

type WalletTally = {
  /** Withdrawals that are new or have changed. */
  stored: number
  /** Balances. */
  compared: number
  changes: MismatchChange[]
  unread: { wallet: string; fault: unknown }[]
}

/** `isAway`: the service does not answer, and further wallets were not read. */
export type WalletAudit = Readonly<WalletTally> & { isAway: boolean }

/**
 * Of each StableWallet in the address book: reads and applies its withdrawals, reads its balance, and compares that with
 * the books at once. A call that the profile does not name is left out.
 * @param named only this wallet, by its id among services
 */
export async function auditWallets(
  deps: WalletAuditDeps,
  client: WalletsClient,
  named?: string,
): Promise<WalletAudit> {
  const all = await walletsOf(deps.db, client.service)
  const wallets = named === undefined ? all : all.filter((wallet) => wallet === named)
  const changes = named === undefined ? await clearUncompared(deps, client, all) : []
  const tally: WalletTally = { stored: 0, compared: 0, changes, unread: [] }
  let inRow = 0
  for (const wallet of wallets) {
    try {
      await auditWallet(deps, client, { wallet, tally })
      inRow = 0
    } catch (fault) {
      tally.unread.push({ wallet, fault })
      inRow = isLasting(fault) ? 0 : inRow + 1
    }
    if (inRow === Math.min(faultsMax, wallets.length)) return { ...tally, isAway: true }
  }
  return { ...tally, isAway: false }
}

/** In a row: a service that does not answer would cost one timeout per wallet. */
const faultsMax = 5

/** It concerns one wallet only, and until the service or the profile changes. */
export function isLasting(fault: unknown): boolean {
  return isFault(fault, 'remote_failed') && fault.details.isLasting === true
}

function clearUncompared(
  deps: WalletAuditDeps,
  { service, readBalance }: WalletsClient,
  wallets: readonly string[],
): Promise<MismatchChange[]> {
  const compared = readBalance === null ? [] : wallets.filter((wallet) => isInBooks(deps, wallet))
  return clearWallets(deps.db, service, compared)
}

/** What a wallet holds whose deliveries end what is owed is not in the books. */
function isInBooks({ creditAsset: asset, rules }: WalletAuditDeps, wallet: string): boolean {
  return walletTerms({ wallet, asset }, rules.contras).delivery !== 'ends'
}

async function auditWallet(
  deps: WalletAuditDeps,
  { service, readBalance, listWithdrawals }: WalletsClient,
  { wallet, tally }: { wallet: string; tally: WalletTally },
): Promise<void> {
  const { db, rules, creditAsset: asset, now } = deps
  const pages = listWithdrawals?.(wallet)
  const stored = pages === undefined ? 0 : await readWithdrawals(deps, { wallet, service, pages })
  tally.stored += stored
  if (stored > 0) await deps.apply()
  if (readBalance === null || !isInBooks(deps, wallet)) return
  const readAt = now()
  const balance = await readBalance(wallet)
  const reading = { wallet, asset, balance, readAt, withinMs: rules.policy.settlementWithinMs }
  tally.changes.push(...(await inTransaction(db, (tx) => tieWallet(tx, reading))))
  tally.compared++
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
