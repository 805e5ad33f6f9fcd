import type { Logger } from 'pino'
import type { Prices, QuoteSettings } from '../deposits/prices.ts'
import { reopenDeposits } from '../faults/deposit-faults.ts'
import type { NetworkClient } from '../network/port.ts'
import { createRetryBackoff, type Loop, startLoop } from '../running/loop.ts'
import type { DepositServiceSettings, SweepSettings } from '../settings.ts'

import type { TransferSigningDeps } from './due-transfer.ts'
import { settleTransfers } from './settle-transfers.ts'
import { type NetworkLoopDeps, sweepNetwork, workNetwork } from './work-network.ts'

type StartTransfersDeps = Omit<NetworkLoopDeps, 'network' | 'backoff' | 'resumed'> & {
  settings: DepositServiceSettings
  networks: readonly NetworkClient[]
  onEvents(): void
}

/** Sweeps also run when more of the chain is final; the interval retries postponed ones. */
const sweepEveryMs = 10_000
const reopenEveryMs = 1000

/** Two loops per network, for deposits and payments and for sweeps; others for prices and faults if configured. */
export function startTransfers(parts: StartTransfersDeps): Loop[] {
  const { settings, networks, prices, log } = parts
  const { quotes, sweep, pollEveryMs: everyMs } = settings
  const paying: Loop[] = []
  const sweeping: Loop[] = []
  const changed = (): void => {
    for (const loop of paying) loop.wake()
    parts.onEvents()
  }
  for (const network of networks) {
    const { name } = network.settings
    const signing = { ...parts, network, backoff: createRetryBackoff(Date.now) }
    const work = { ...signing, resumed: createResumption(signing, changed) }
    const sweeper = sweep === null ? null : startSweeping(work, sweep)
    if (sweeper !== null) sweeping.push(sweeper)
    const turn = workNetwork(work, { changed, final: () => sweeper?.wake() })
    paying.push(startLoop({ name, everyMs, log }, turn))
  }
  return [...paying, ...sweeping, ...startReading(prices, quotes, log), ...startReopening(parts)]
}

function startSweeping(work: NetworkLoopDeps, sweep: SweepSettings): Loop {
  const name = `sweeping ${work.network.settings.name}`
  return startLoop({ name, everyMs: sweepEveryMs, log: work.log }, () => sweepNetwork(work, sweep))
}

function startReopening(parts: StartTransfersDeps): Loop[] {
  if (parts.settings.faults === null) return []
  const turn = async (): Promise<boolean> => {
    if ((await reopenDeposits(parts)) > 0) parts.onEvents()
    return false
  }
  return [startLoop({ name: 'reopening', everyMs: reopenEveryMs, log: parts.log }, turn)]
}

function startReading(prices: Prices, { source }: QuoteSettings, log: Logger): Loop[] {
  if (source === null) return []
  const turn = async (stopping: AbortSignal): Promise<boolean> => {
    await prices.refresh(stopping)
    return false
  }
  return [startLoop({ name: 'prices', everyMs: source.everyMs, log }, turn)]
}

/**
 * Every signer awaits this first: nodes do not know transfers that were never sent, and a new one must not spend their
 * funds.
 */
export function createResumption(signing: TransferSigningDeps, changed: () => void): () => Promise<void> {
  let resuming: Promise<void> | null = null
  const resume = async (): Promise<void> => {
    try {
      if ((await settleTransfers(signing)) > 0) changed()
    } catch (error) {
      resuming = null
      throw error
    }
  }
  return () => (resuming ??= resume())
}
