import type { Logger } from 'pino'
import { convertDeposits } from '../deposits/convert-deposits.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import { recordScan } from '../deposits/record-scan.ts'
import type { Faults } from '../faults/faults.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { Network } from '../network/port.ts'
import { watchedAddresses } from '../owners.ts'
import { createPostponed, type Postponed } from '../running/postponed.ts'
import type { ServiceSettings } from '../settings.ts'
import { readPosition } from '../streams.ts'
import type { ServiceDatabase } from '../tables.ts'
import { dueForwards, dueRefunds } from './due-deposits.ts'
import { dueSweeps, sweepsMax } from './due-sweeps.ts'
import { dueWithdrawals } from './due-withdrawals.ts'
import { replaceFees } from './replace-fees.ts'
import { settleTransfers } from './settle-transfers.ts'
import { signTransfers } from './sign-transfers.ts'
import { paymentsMax } from './wanted.ts'

export type NetworkWork = {
  settings: Pick<ServiceSettings, 'networks' | 'quotes' | 'sweep' | 'replaceAfterMs'>
  db: ServiceDatabase
  deposits: Deposits
  keyring: Keyring
  prices: Prices
  faults: Faults
  log: Logger
  /** Called where deposits have changed: another network may have something to pay, and there are events to send. */
  changed(): void
}

type Work = NetworkWork & { network: Network; postponed: Postponed }

/**
 * Makes the turn of one network's loop, which returns whether more is waiting. A turn reads the chain, decides what
 * becomes of the deposits that are final, signs what is to be paid here, and follows what was signed.
 */
export function workNetwork(parts: NetworkWork, network: Network): () => Promise<boolean> {
  const work = { ...parts, network, postponed: createPostponed(Date.now) }
  let followed: { height: bigint; more: boolean } | null = null
  return async () => {
    const { height, more, recorded } = await readChain(work)
    const converted = await convertDeposits({ ...work, terms: work.settings.quotes }, network.settings.name)
    const paid = await payWanted(work)
    if (recorded || converted + paid > 0) work.changed()
    // What was sent ends by becoming final, and what is final can be swept: until the height grows there is no news.
    if (followed === null || followed.more || followed.height !== height) {
      followed = { height, more: await follow(work) }
    }
    return more || followed.more || paid >= paymentsMax
  }
}

async function readChain({ settings, db, deposits, network }: Work) {
  const scan = await network.scan(await readPosition(db, network), () =>
    watchedAddresses(db, network.settings),
  )
  const recorded = await recordScan({ db, deposits, networks: settings.networks }, network.settings, scan)
  return { height: scan.position.finalHeight, more: scan.more, recorded }
}

async function payWanted(work: Work): Promise<number> {
  const wanted = [...(await dueForwards(work)), ...(await dueRefunds(work)), ...(await dueWithdrawals(work))]
  return signTransfers(work, wanted)
}

/** Returns whether more is waiting to be swept. */
async function follow(work: Work): Promise<boolean> {
  const { sweep, replaceAfterMs } = work.settings
  const settled = await settleTransfers(work)
  const replaced = await replaceFees(work, replaceAfterMs)
  if (settled + replaced > 0) work.changed()
  return sweep !== null && (await signTransfers(work, await dueSweeps(work, sweep))) >= sweepsMax
}
