import { sql } from 'kysely'
import type { NetworkSettings } from '../../core/asset.ts'
import { type Address, type AssetCode, assetCode, type NetworkName } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import { findAsset, stableAsset } from '../catalog.ts'
import type { Scan, ScannedPayment } from '../network/port.ts'
import { newId } from '../new-id.ts'
import type { ServiceDatabase, ServiceDepositRow, ServiceOwnerRow, ServiceTransaction } from '../tables.ts'
import { type DepositChange, type Deposits, lockOrder, type NewDeposit } from './deposits.ts'

export type ScanRecorder = {
  db: ServiceDatabase
  deposits: Deposits
  networks: readonly NetworkSettings[]
}

/** Returns whether any status changed. */
export function recordScan(recorder: ScanRecorder, network: NetworkSettings, scan: Scan): Promise<boolean> {
  const { db, deposits, networks } = recorder
  return inTransaction(db, async (tx) => {
    // Must precede the order lock, as in signers. Otherwise one could hold the lock on all events while it waits for
    // the other.
    await savePosition(tx, network.name, scan)
    await lockOrder(tx)
    const known = await knownDeposits(tx, network.name, scan.payments)
    const decision = decideScan(known, scan)
    const owners = await ownersOf(tx, network, decision.fresh)
    const fresh = decision.fresh.map((payment) => ({
      payment,
      row: newDeposit(payment, owners, { networks, network }),
    }))
    await deposits.change(tx, ['detected'], decision.vanished.map(vanish))
    await saveMoves(tx, decision.moved)
    await deposits.insert(
      tx,
      fresh.map(({ row }) => row),
    )
    const freshFinal = fresh.filter(({ payment }) => payment.final).map(({ row }) => row.id)
    await deposits.change(tx, ['detected'], [...decision.final, ...freshFinal].map(confirm))
    return [decision.vanished, decision.final, decision.fresh].some((part) => part.length > 0)
  })
}

function knownDeposits(
  tx: ServiceTransaction,
  network: NetworkName,
  payments: readonly ScannedPayment[],
): Promise<readonly DepositScanRow[]> {
  const transactions = payments.map(({ transaction }) => transaction as string)
  return tx
    .selectFrom('service.deposit')
    .select(['id', 'status', 'transaction', 'index', 'address', 'contract', 'amount', 'block', 'block_hash'])
    .where('network', '=', network)
    .where(sql<boolean>`reason is distinct from 'vanished'`)
    .where(sql<boolean>`(status = 'detected' or transaction = any(${transactions}))`)
    .execute()
}

async function ownersOf(
  tx: ServiceTransaction,
  { family }: NetworkSettings,
  payments: readonly ScannedPayment[],
): Promise<ReadonlyMap<Address, ServiceOwnerRow>> {
  const column = family === 'evm' ? 'evm_address' : 'solana_address'
  const addresses = [...new Set(payments.map(({ address }) => address))]
  const owners = await tx
    .selectFrom('service.owner')
    .selectAll()
    .where(column, '=', sql<Address>`any(${addresses})`)
    .execute()
  return new Map(owners.map((owner) => [owner[column], owner]))
}

type ScanNetworkContext = { networks: readonly NetworkSettings[]; network: NetworkSettings }

function newDeposit(
  payment: ScannedPayment,
  owners: ReadonlyMap<Address, ServiceOwnerRow>,
  { networks, network }: ScanNetworkContext,
): NewDeposit & { id: string } {
  const owner = owners.get(payment.address)
  const asset = network.assets.find(({ key }) => key === payment.asset)
  assert(owner !== undefined && asset !== undefined, 'only watched addresses and known assets are scanned')
  const code = assetCode(payment.asset)
  return {
    id: newId('dep'),
    owner_kind: owner.kind,
    owner_id: owner.id,
    network: network.name,
    address: payment.address,
    asset: asset.symbol,
    contract: code === 'native' ? null : code,
    decimals: asset.decimals,
    amount: payment.amount.toString(),
    transaction: payment.transaction,
    index: payment.index,
    sender: payment.sender,
    block: payment.block,
    block_hash: payment.blockHash,
    block_at: payment.blockAt,
    to_amount: null,
    to_transaction: null,
    to_at: null,
    fee: null,
    rate: null,
    ...destinationOf(owner, networks),
  }
}

type DepositDestination = Pick<
  NewDeposit,
  'to_network' | 'to_address' | 'to_asset' | 'to_contract' | 'to_decimals'
>

function destinationOf(owner: ServiceOwnerRow, networks: readonly NetworkSettings[]): DepositDestination {
  const { forward_network: network, forward_recipient: recipient, forward_asset: symbol } = owner
  if (network === null || recipient === null || symbol === null) {
    const { symbol: to_asset, decimals: to_decimals } = stableAsset
    return { to_network: null, to_address: owner.id, to_asset, to_contract: null, to_decimals }
  }
  const asset = findAsset(networks, network, symbol)
  assert(asset !== null, 'a channel forwards an asset that its network has')
  const code = assetCode(asset.key)
  return {
    to_network: network,
    to_address: recipient,
    to_asset: asset.symbol,
    to_contract: code === 'native' ? null : code,
    to_decimals: asset.decimals,
  }
}

function vanish(id: string): DepositChange {
  return { id, status: 'failed', reason: 'vanished' }
}

function confirm(id: string): DepositChange {
  return { id, status: 'confirmed' }
}

async function saveMoves(tx: ServiceTransaction, moved: ScanDecision['moved']): Promise<void> {
  const moves = moved.map(({ id, payment }) => ({
    id,
    block: payment.block.toString(),
    hash: payment.blockHash,
    at: payment.blockAt,
  }))
  if (moves.length === 0) return
  await sql`
    update service.deposit as deposit set block = move.block, block_hash = move.hash, block_at = move.at
    from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as move (id text, block bigint, hash text, at timestamptz)
    where deposit.id = move.id`.execute(tx)
}

async function savePosition(tx: ServiceTransaction, network: NetworkName, { position }: Scan): Promise<void> {
  await tx
    .updateTable('service.stream')
    .set({
      final_height: position.finalHeight,
      final_hash: position.finalHash,
      seen_height: position.seenHeight,
      seen_hash: position.seenHash,
    })
    .where('network', '=', network)
    .execute()
}

/** Not final yet, or with a transaction in the scan. Excludes vanished deposits. */
export type DepositScanRow = Pick<
  ServiceDepositRow,
  'id' | 'status' | 'transaction' | 'index' | 'address' | 'contract' | 'amount' | 'block' | 'block_hash'
>

export type ScanDecision = {
  vanished: readonly string[]
  moved: readonly { id: string; payment: ScannedPayment }[]
  fresh: readonly ScannedPayment[]
  final: readonly string[]
}

/** The final part of a scan is complete, so detected deposits missing from it are not on the chain. */
export function decideScan(known: readonly DepositScanRow[], { payments, position }: Scan): ScanDecision {
  const byKey = new Map(known.map((deposit) => [keyOf(deposit), deposit]))
  const matches = payments.map((payment) => ({ payment, deposit: byKey.get(keyOf(payment)) }))
  const same = matches.flatMap(({ payment, deposit }) =>
    deposit?.status === 'detected' && isSame(deposit, payment) ? [{ id: deposit.id, deposit, payment }] : [],
  )
  const held = new Set(same.map(({ id }) => id))
  // A reorganization can change the log indexes of a transaction; the detected deposit is then gone.
  const replaced = matches.flatMap(({ payment, deposit }) =>
    deposit?.status === 'detected' && !isSame(deposit, payment) ? [deposit.id] : [],
  )
  const missing = known.filter(
    ({ id, status, block }) => status === 'detected' && block <= position.finalHeight && !held.has(id),
  )
  return {
    vanished: [...new Set([...replaced, ...missing.map(({ id }) => id)])],
    moved: same
      .filter(({ deposit, payment }) => isElsewhere(deposit, payment))
      .map(({ id, payment }) => ({ id, payment })),
    fresh: matches
      .filter(({ deposit }) => deposit === undefined || replaced.includes(deposit.id))
      .map(({ payment }) => payment),
    final: same.filter(({ payment }) => payment.final).map(({ id }) => id),
  }
}

function keyOf({ transaction, index }: { transaction: string; index: string }): string {
  return `${transaction}/${index}`
}

function isSame(deposit: DepositScanRow, { address, asset, amount }: ScannedPayment): boolean {
  const code: AssetCode = deposit.contract ?? 'native'
  return deposit.address === address && code === assetCode(asset) && BigInt(deposit.amount) === amount
}

function isElsewhere({ block, block_hash }: DepositScanRow, payment: ScannedPayment): boolean {
  return block !== payment.block || block_hash !== payment.blockHash
}
