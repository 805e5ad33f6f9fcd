import type { Kysely } from 'kysely'
import { type AssetKey, assetNetwork, type NetworkName } from '../../core/asset.ts'
import { accounts } from '../../core/chart.ts'
import { Fault } from '../../core/errors.ts'
import { serviceOf, stableWalletNetwork } from '../../core/evidence.ts'
import { formatAmount } from '../../core/money.ts'
import { type ContraRule, owedTermsFor } from '../../core/owed.ts'
import { walletTerms } from '../../core/withdrawals.ts'
import type { AccountBalance, BalanceProof } from '../../ledger/opening.ts'
import type { AssetNames } from '../../store/assets.ts'
import { readReceived } from '../../store/books/groups.ts'
import {
  depositAddresses,
  undelivered,
  type WalletStatement,
  type WatchedAddress,
  walletStatements,
} from '../../store/ledger/openings.ts'
import type { Tables } from '../../store/tables.ts'
import { type BalancesAt, balancesAt, type PastReader } from '../chain/balances-at.ts'

export type OpeningProofDeps = {
  db: Kysely<Tables>
  contras: readonly ContraRule[]
  creditAsset: AssetKey
  networks: readonly Omit<PastReader, 'db'>[]
  assets: AssetNames
}

/** `balances`: what is proved, each with what is owed for it. */
export type ProvedOpening = { proofs: BalanceProof[]; balances: AccountBalance[] }

/** What a chain shows of one asset, at the deposit addresses of its network. */
export type ChainBalances = BalancesAt & { addresses: readonly WatchedAddress[] }

/**
 * What the chains show of that moment. Waits for nodes, and does not depend on what is decided.
 * @returns also until when evidence was received once they were read, which includes every payment up to that moment
 * @throws Fault `usage_bad` if a chain is not read up to then
 */
export async function readChains(
  { db, networks, now }: Pick<OpeningProofDeps, 'db' | 'networks'> & { now: () => Date },
  at: Date,
): Promise<{ chains: ChainBalances[]; received: Date }> {
  const watched = Map.groupBy(await depositAddresses(db), ({ network }) => network)
  const chains: ChainBalances[] = []
  for (const network of networks) {
    const addresses = watched.get(network.settings.name) ?? []
    const all = await balancesAt(
      { db, ...network },
      at,
      addresses.map(({ address }) => address),
    )
    chains.push(...all.map((one) => ({ ...one, addresses })))
  }
  return { chains, received: await readReceived(db, now()) }
}

/**
 * Amounts in transit by the chains, and StableWallets by the service, at that moment. Right only if everything is
 * decided.
 */
export async function proveOpening(
  deps: Omit<OpeningProofDeps, 'networks'>,
  at: Date,
  chains: readonly ChainBalances[],
): Promise<ProvedOpening> {
  const under = new Map(
    (await undelivered(deps.db, at)).map(({ network, address, asset, amount }) => [
      `${network} ${address} ${asset}`,
      amount,
    ]),
  )
  const proved: ProvedOpening = { proofs: [], balances: [] }
  for (const one of chains) add(proved, transitOf(deps, one, under))
  for (const statement of await walletStatements(deps.db, at)) add(proved, walletOf(deps, statement, at))
  return proved
}

/**
 * For an opening without a file.
 * @throws Fault `usage_bad` that names what is not proved
 */
export function refuseUnproved({ proofs }: ProvedOpening): void {
  const lacking = proofs.filter(({ amount }) => amount === null)
  if (lacking.length === 0) return
  const problem = lacking.map(({ account, asset, basis }) => `${account} in ${asset}: ${basis}`).join('; ')
  throw new Fault('usage_bad', {
    problem,
    fix: 'state the balances in a file, with --file; nothing was booked',
  })
}

function add({ proofs, balances }: ProvedOpening, more: ProvedOpening): void {
  proofs.push(...more.proofs)
  balances.push(...more.balances)
}

/**
 * What is at the addresses. A payment that was delivered later is in transit, also if it had left its address by then.
 */
function transitOf(
  { contras, assets }: Pick<OpeningProofDeps, 'contras' | 'assets'>,
  { asset, amounts, basis, addresses }: ChainBalances,
  under: ReadonlyMap<string, bigint>,
): ProvedOpening {
  const account = accounts.inTransit(assetNetwork(asset))
  if (amounts === null)
    return { proofs: [{ account, asset, amount: null, basis: `not proved: ${basis}` }], balances: [] }
  const held = addresses.map((one) => {
    const [balance, open] = [
      amounts.get(one.address) ?? 0n,
      under.get(`${one.network} ${one.address} ${asset}`) ?? 0n,
    ]
    return { ...one, balance, amount: open > balance ? open : balance }
  })
  const total = held.reduce((sum, { amount }) => sum + amount, 0n)
  const away = total - held.reduce((sum, { balance }) => sum + balance, 0n)
  const moved =
    away === 0n
      ? ''
      : `; ${formatAmount(away, assets.get(asset)?.decimals ?? 0)} had left them, and arrived later`
  const balances = held.flatMap(({ amount, ...one }) => [
    { account, asset, amount },
    { account: contraOf(one, asset, contras), asset, amount: -amount },
  ])
  return { proofs: [{ account, asset, amount: total, basis: basis + moved }], balances }
}

function contraOf(
  { network, owner, forwardNetwork }: WatchedAddress,
  asset: AssetKey,
  contras: readonly ContraRule[],
) {
  const out: NetworkName = forwardNetwork ?? stableWalletNetwork
  const legs = { networkIn: network, networkOut: out, assetIn: asset, assetOut: undefined }
  return owedTermsFor(owner, { service: serviceOf(owner.id), owner, ...legs }, contras).contra
}

/** What the service stated later, less what the books show of it in between. */
function walletOf(
  { contras, creditAsset }: Pick<OpeningProofDeps, 'contras' | 'creditAsset'>,
  { wallet, stated, movedSince, isUnderWay }: WalletStatement,
  at: Date,
): ProvedOpening {
  const asset = stated?.asset ?? creditAsset
  const { contra, delivery } = walletTerms({ wallet, asset }, contras)
  if (delivery === 'ends') return { proofs: [], balances: [] }
  const account = accounts.stableWallet(wallet)
  const problem = problemOf({ stated, isUnderWay }, at)
  if (stated === null || problem !== null)
    return { proofs: [{ account, asset, amount: null, basis: `not proved: ${problem}` }], balances: [] }
  const amount = stated.balance - movedSince
  const basis = `stated by the service at ${stated.readAt.toISOString()}${movedSince === 0n ? '' : ', less what moved since'}`
  return {
    proofs: [{ account, asset, amount, basis }],
    balances: [
      { account, asset, amount },
      { account: contra, asset, amount: -amount },
    ],
  }
}

function problemOf(
  { stated, isUnderWay }: Pick<WalletStatement, 'stated' | 'isUnderWay'>,
  at: Date,
): string | null {
  if (stated === null) return 'the service has not stated its balance yet'
  if (stated.readAt < at) return 'the service stated its balance before then; the next audit reads it again'
  return isUnderWay ? 'credits or withdrawals are under way' : null
}
