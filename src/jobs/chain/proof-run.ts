import type { Transaction } from 'kysely'
import type { BalanceReading, ChainReader, OnDemandReader } from '../../chain/types.ts'
import type { NetworkName, NetworkSettings } from '../../core/asset.ts'
import type { AssetHolding } from '../../core/balance-proof.ts'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import { keepLease, releaseLease, takeLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import type { ScanDeps } from './scan.ts'
import { positionOf, type ScanPosition } from './scan-position.ts'

export type ProveDeps = Pick<ScanDeps, 'db' | 'holder' | 'leaseMs' | 'now'>

export type ProvenNetwork = {
  reader: Pick<ChainReader, 'network'> &
    Pick<OnDemandReader, 'readBalances' | 'readMovements' | 'readRange' | 'readBalanceHistory'>
  settings: NetworkSettings
  startHeight?: bigint | null
}

export type ProofRun = ProveDeps &
  ProvenNetwork & {
    position: ScanPosition
    /**
     * Writes in one transaction.
     * @throws Fault `lease_lost` if another process now proves this network, `conflict` if the final history changed
     * since the start of the run
     */
    save: <Result>(work: (tx: Transaction<Tables>) => Promise<Result>) => Promise<Result>
    end: () => Promise<void>
  }

/** `busy`: another process proves this network. `unread`: it has not been scanned yet. */
export type NoProof = 'busy' | 'unread'

export async function beginProof(deps: ProveDeps, network: ProvenNetwork): Promise<ProofRun | NoProof> {
  const { db, holder, leaseMs } = deps
  const { reader } = network
  const lease = await takeLease(db, { stream: `balances/${reader.network}`, holder, ttlMs: leaseMs })
  if (lease === null) return 'busy'
  const position = await positionOf(db, reader.network)
  if (position === null) {
    await releaseLease(db, lease)
    return 'unread'
  }
  return {
    ...deps,
    ...network,
    position,
    save: (work) =>
      inTransaction(db, async (tx) => {
        await requireEpoch(tx, reader.network, position.epoch)
        await keepLease(tx, lease, leaseMs)
        return work(tx)
      }),
    end: () => releaseLease(db, lease),
  }
}

/** The history at the start of the run stays valid until the transaction ends. */
async function requireEpoch(tx: Transaction<Tables>, network: NetworkName, epoch: number): Promise<void> {
  const now = await positionOf(tx, network)
  if (now?.epoch !== epoch) throw new Fault('conflict', { what: `the final history of ${network} changed` })
}

export type PastBalances =
  | { kind: 'read'; amounts: BalanceReading['balances'] }
  | { kind: 'gone'; problem: string }

/** Few nodes keep past balances for long, and Solana nodes keep none. */
export async function readPast(
  {
    reader,
    settings,
  }: { reader: Pick<OnDemandReader, 'readBalances'>; settings: Pick<NetworkSettings, 'family'> },
  height: bigint,
  pairs: readonly Omit<AssetHolding, 'network'>[],
): Promise<PastBalances> {
  if (settings.family === 'solana') return { kind: 'gone', problem: 'Solana nodes keep no past balances' }
  const reading = await unlessRemote(reader.readBalances({ pairs, at: { height } }))
  if (typeof reading === 'string') return { kind: 'gone', problem: reading }
  if (reading.at.height === height) return { kind: 'read', amounts: reading.balances }
  return { kind: 'gone', problem: `the node no longer has the balances of block ${height}` }
}

/** The reason why no node provided the value. */
export async function unlessRemote<Value>(reading: Promise<Value>): Promise<Value | string> {
  try {
    return await reading
  } catch (error) {
    if (!isFault(error, 'remote_failed') && !isFault(error, 'rpc_disagreement')) throw error
    return messageOf(error)
  }
}
