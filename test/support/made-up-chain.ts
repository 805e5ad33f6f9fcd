import { sql } from 'kysely'
import type { BalanceMovement, ChainTransfer } from '../../src/chain/types.ts'
import type { Address, AssetKey, NetworkSettings, TxId } from '../../src/core/asset.ts'
import { Fault } from '../../src/core/errors.ts'
import type { Amount } from '../../src/core/money.ts'
import type { NoProof, ProvenNetwork } from '../../src/jobs/chain/proof-run.ts'
import { type BalanceProofResult, proveBalances } from '../../src/jobs/chain/prove-balances.ts'
import { appendChainTransfers, appendMovements } from '../../src/store/chain/chain-transfers.ts'
import { enrolAddresses } from '../../src/store/chain/chain-watch.ts'
import { addCoverage } from '../../src/store/chain/coverage.ts'
import { inTransaction } from '../../src/store/database.ts'
import { moveCursor, takeLease } from '../../src/store/streams.ts'
import type { Books } from './books.ts'
import { at, base, channelAddress, payment, txId, usdcOnBase, usdtOnBase, walletAddress } from './evidence.ts'

/** What happens on the made-up chain, and who gets to know of it, by which way. */
export type Happening = {
  height: bigint
  change: bigint
  /** `scan`: scans show it; `asked`: only whoever asks for movements; `reread`: a second reading; `never`: nobody. */
  shown: 'scan' | 'asked' | 'reread' | 'never'
}

type Unexplained = { subject: string; value: string; detail: Record<string, string> }

/** What a channel holds of USDC on a chain that keeps what it is told. It begins at height 100. */
export type MadeUpChain = {
  /** What happened, and what was asked for since the last proof. */
  happenings: Happening[]
  asked: string[]
  /** Balances at and below this height cannot be read, as on nodes that keep no old state. */
  forgotten: bigint
  unreadable: AssetKey | null
  /** What was sent in a stretch that begins here cannot be read, as on nodes that keep no old logs. */
  unsent: bigint | null
  /** What a second reading ends in. */
  rereadError: Error | null
  minutes: number
  /** Where the settings let reading begin. */
  startHeight: bigint | null
  /** Those that are in the settings. */
  assets: readonly AssetKey[]
  /** What a scan leaves behind: the cursor, and everything up to it covered unless told otherwise. */
  scanTo(height: bigint, covered?: boolean, epoch?: number): Promise<void>
  /** What happens while balances are read. */
  meanwhile: () => Promise<void>
  /** Something happens, and the scan stores what it shows. */
  happen(...happenings: Happening[]): Promise<void>
  /** Stores a payment as a scan does. */
  show(happening: Happening): Promise<void>
  /** What the jobs know of the network. */
  network(): ProvenNetwork
  prove(holder?: string): Promise<BalanceProofResult | NoProof>
  /** The open mismatches. */
  unexplained(): Promise<Unexplained[]>
}

export const provenSubject = `balance/base/${channelAddress}/${usdcOnBase.slice('base/'.length)}`

export async function startChain({ db }: Books): Promise<MadeUpChain> {
  const chain: MadeUpChain = {
    happenings: [],
    asked: [],
    forgotten: -1n,
    unreadable: null,
    unsent: null,
    rereadError: null,
    minutes: 0,
    startHeight: null,
    assets: [usdcOnBase, usdtOnBase],
    meanwhile: () => Promise.resolve(),
    scanTo: (height, covered = true, epoch = 0) => {
      reached = height
      return inTransaction(db, async (tx) => {
        const lease = await takeLease(tx, { stream: 'scan/base', holder: 'scan', ttlMs: 60_000 })
        if (lease === null) throw new Error('the scan is free')
        const final = { height: height.toString(), hash: `0x${height}` }
        const cursor = { final, seenHeight: final.height, trail: [], epoch }
        await moveCursor(tx, lease, { cursor, progress: {} })
        const assets = [usdcOnBase, usdtOnBase].toSorted()
        if (covered) await addCoverage(tx, base, { watched: 2, assets, proved: [{ from: 100n, to: height }] })
      })
    },
    async happen(...happenings) {
      chain.happenings.push(...happenings)
      const shown = happenings.filter((one) => one.shown === 'scan')
      await inTransaction(db, async (tx) => {
        await appendChainTransfers(tx, shown.filter(({ change }) => change > 0n).map(chainTransferOf))
        await appendMovements(tx, shown.filter(({ change }) => change < 0n).map(movementOf))
      })
    },
    async show(happening) {
      await inTransaction(db, (tx) => appendChainTransfers(tx, [chainTransferOf(happening)]))
    },
    network() {
      const reader = readerOf(chain, () => reached)
      return { reader, settings: settingsOf(chain), startHeight: chain.startHeight }
    },
    prove(holder = 'me') {
      chain.asked.length = 0
      const now = () => at(chain.minutes++)
      return proveBalances({ db, holder, leaseMs: 600_000, now }, chain.network())
    },
    async unexplained() {
      const { rows } = await sql<Unexplained>`
        select subject, value, detail from mismatch
        where kind = 'unexplained_balance' and cleared_at is null order by subject`.execute(db)
      return rows
    },
  }
  let reached = 0n
  const enrolment = { addresses: [channelAddress, walletAddress], fromHeight: 100n }
  await inTransaction(db, (tx) => enrolAddresses(tx, base, enrolment))
  await chain.scanTo(100n)
  return chain
}

function chainTransferOf({ height, change }: Happening) {
  return payment({ tx: txOf(height), amount: change as Amount, height, blockHash: `0x${height}` })
}

function transferOf(happening: Happening): ChainTransfer {
  const {
    kind: _kind,
    stage: _stage,
    role: _role,
    epoch: _epoch,
    receivedAt: _at,
    ...facts
  } = chainTransferOf(happening)
  return facts
}

function movementOf({ change, height }: Happening): BalanceMovement {
  const place = { network: base, tx: txOf(height), index: 'm', height, blockHash: `0x${height}` }
  return { ...place, asset: usdcOnBase, address: channelAddress, change, recipients: [] }
}

function txOf(height: bigint): TxId {
  return txId(`${height}`)
}

function readerOf(chain: MadeUpChain, reached: () => bigint): ProvenNetwork['reader'] {
  const within = (from: bigint, to: bigint, addresses: ReadonlySet<Address>) =>
    chain.happenings.filter(({ height }) => addresses.has(channelAddress) && height >= from && height <= to)
  return {
    network: base,
    async readBalances({ pairs, at: wanted }) {
      await chain.meanwhile()
      chain.asked.push(`balances ${wanted?.height}`)
      const height = wanted === null || wanted.height <= chain.forgotten ? reached() : wanted.height
      if (pairs.some(({ asset }) => asset === chain.unreadable))
        throw new Fault('remote_failed', { what: 'node', problem: 'execution reverted' })
      const balances = pairs.map(({ address, asset }) =>
        asset === usdcOnBase ? sum(within(0n, height, new Set([address]))) : 0n,
      )
      return { at: { height, hash: `0x${height}` }, balances }
    },
    readMovements({ from, to, addresses }) {
      chain.asked.push(`movements ${from}-${to}`)
      if (from === chain.unsent)
        return Promise.reject(
          new Fault('remote_failed', { what: 'node', problem: 'history has been pruned' }),
        )
      const found = within(from, to, addresses).filter(({ shown }) => shown === 'asked')
      return Promise.resolve(found.map(movementOf))
    },
    async readRange({ from, to, watched, traced }) {
      if (chain.rereadError !== null) throw chain.rereadError
      chain.asked.push(`range ${from}-${to}${traced === true ? ' traced' : ''}`)
      const found = within(from, to, watched).filter(({ shown }) => shown === 'reread')
      const proved = [{ from, to }]
      return { transfers: found.map(transferOf), movements: [], proved, dissent: [], reached: to }
    },
  }
}

function sum(happenings: readonly Happening[]): bigint {
  return happenings.reduce((total, { change }) => total + change, 0n)
}

function settingsOf({ assets }: MadeUpChain): NetworkSettings {
  return {
    name: base,
    family: 'evm',
    chainId: 8453,
    rpcUrls: ['http://127.0.0.1'],
    assets: assets.map((key) => ({ key, network: base, symbol: 'USD', decimals: 6 })),
  }
}
