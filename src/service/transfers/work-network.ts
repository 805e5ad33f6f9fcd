import type { Logger } from 'pino'
import { convertDeposits } from '../deposits/convert-deposits.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import { recordScan } from '../deposits/record-scan.ts'
import type { Faults } from '../faults/faults.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { NetworkClient } from '../network/port.ts'
import { watchedAddresses } from '../owners.ts'
import type { RetryBackoff } from '../running/postponed.ts'
import type { DepositServiceSettings } from '../settings.ts'
import { readPosition } from '../streams.ts'
import type { ServiceDatabase } from '../tables.ts'
import { dueForwards, dueRefunds } from './due-deposits.ts'
import { dueSweeps, type SweepSettings, sweepsMax } from './due-sweeps.ts'
import { dueWithdrawals } from './due-withdrawals.ts'
import { replaceFees } from './replace-fees.ts'
import { settleTransfers } from './settle-transfers.ts'
import { signTransfers } from './sign-transfers.ts'
import { paymentsMax } from './wanted.ts'

export type NetworkLoopDeps = {
  settings: Pick<DepositServiceSettings, 'networks' | 'quotes' | 'replaceAfterMs'>
  db: ServiceDatabase
  deposits: Deposits
  keyring: Keyring
  prices: Prices
  faults: Faults
  log: Logger
  network: NetworkClient
  /** What could not be paid or swept lately on this network. */
  postponed: RetryBackoff
  /** What was stored by an earlier run is settled or sent. Nothing is signed before. */
  resumed(): Promise<void>
}

/** Whom the loop of a network wakes. */
export type Listeners = {
  /** Deposits have changed: another network may have something to pay, and there are events to send. */
  changed(): void
  /** More of the chain is final: more may be swept. */
  final(): void
}

/**
 * Makes the turn of one network's loop, which returns whether more is waiting. A turn reads the chain, decides what
 * becomes of the deposits that are final, signs what is to be paid here, and follows what was signed.
 */
export function workNetwork(work: NetworkLoopDeps, listeners: Listeners): () => Promise<boolean> {
  const { network, settings } = work
  const follow = createFollower(work)
  let followed: bigint | null = null
  return async () => {
    const { height, more, recorded } = await readChain(work)
    await work.resumed()
    const converted = await convertDeposits({ ...work, terms: settings.quotes }, network.settings.name)
    const paid = await payWanted(work)
    // What was sent ends by becoming final: until that height grows there is no news.
    const isNews = followed !== height
    const ended = isNews ? await follow() : 0
    followed = height
    if (isNews) listeners.final()
    if (recorded || converted + paid + ended > 0) listeners.changed()
    return more || paid >= paymentsMax
  }
}

/**
 * Signs what is to be swept from the deposit addresses of a network, and returns whether more is waiting. It has a
 * loop of its own, so that no forward waits for a sweep.
 */
export async function sweepNetwork(work: NetworkLoopDeps, sweep: SweepSettings): Promise<boolean> {
  await work.resumed()
  return (await signTransfers(work, await dueSweeps(work, sweep))) >= sweepsMax
}

async function readChain({ settings, db, deposits, network }: NetworkLoopDeps) {
  const scan = await network.scan(await readPosition(db, network), () =>
    watchedAddresses(db, network.settings),
  )
  const recorded = await recordScan({ db, deposits, networks: settings.networks }, network.settings, scan)
  return { height: scan.position.finalHeight, more: scan.more, recorded }
}

async function payWanted(work: NetworkLoopDeps): Promise<number> {
  const wanted = [...(await dueForwards(work)), ...(await dueRefunds(work)), ...(await dueWithdrawals(work))]
  return signTransfers(work, wanted)
}

/** Whether a fee is too low shows only after a while, and is not asked at every turn. */
function createFollower(work: NetworkLoopDeps): () => Promise<number> {
  const { replaceAfterMs } = work.settings
  let replaceAt = 0
  return async () => {
    const settled = await settleTransfers(work)
    if (Date.now() < replaceAt) return settled
    replaceAt = Date.now() + replaceAfterMs / 2
    return settled + (await replaceFees(work, replaceAfterMs))
  }
}
