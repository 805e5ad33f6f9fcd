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

/**
 * Amounts in transit by the chains, and StableWallets by the service, at that moment.
 * @throws Fault `usage_bad` if a chain is not read up to then
 */
export async function proveOpening(deps: OpeningProofDeps, at: Date): Promise<ProvedOpening> {
  const { db, networks } = deps
  const addresses = Map.groupBy(await depositAddresses(db), ({ network }) => network)
  const under = new Map(
    (await undelivered(db, at)).map(({ network, address, asset, amount }) => [
      `${network} ${address} ${asset}`,
      amount,
    ]),
  )
  const proved: ProvedOpening = { proofs: [], balances: [] }
  for (const network of networks) {
    const own = addresses.get(network.settings.name) ?? []
    const all = await balancesAt(
      { db, ...network },
      at,
      own.map(({ address }) => address),
    )
    for (const one of all) add(proved, transitOf(deps, { ...one, addresses: own }, under))
  }
  for (const statement of await walletStatements(db, at)) add(proved, walletOf(deps, statement, at))
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

type TransitInput = BalancesAt & { addresses: readonly WatchedAddress[] }

/**
 * What is at the addresses. A payment that was delivered later is in transit, also if it had left its address by then.
 */
function transitOf(
  { contras, assets }: OpeningProofDeps,
  { asset, amounts, basis, addresses }: TransitInput,
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
  { contras, creditAsset }: OpeningProofDeps,
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
