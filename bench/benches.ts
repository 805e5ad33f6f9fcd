import { runApi } from './api/run.ts'
import { runChain } from './chain/run.ts'
import { runChainSolana } from './chain/solana/run.ts'
import { runSolanaBlocks } from './chain/solana/run-blocks.ts'
import { runEvents } from './events/run.ts'
import { runGrowth } from './growth/run.ts'
import { runIntake } from './intake/run.ts'
import { runJourney } from './journey/run.ts'
import { runLedger } from './ledger/run.ts'
import { runReconcile } from './reconcile/run.ts'
import type { Figure, Result } from './result.ts'
import { runScrape } from './scrape/run.ts'
import { runSizes } from './sizes/run.ts'

/** How much is measured: `scale` is the part of the documented sizes, `seconds` what a round of one arm of B1 takes. */
export type Sizes = { rounds: number; seconds: number; scale: number; large: boolean }

const benches = {
  intake: runIntake,
  reconcile: runReconcile,
  'reconcile apply': (sizes: Sizes) => runReconcile({ ...sizes, parts: ['apply'] }),
  'reconcile match': (sizes: Sizes) => runReconcile({ ...sizes, parts: ['match'] }),
  ledger: runLedger,
  chain: runChain,
  'chain solana': runChainSolana,
  'chain blocks': runSolanaBlocks,
  journey: runJourney,
  events: runEvents,
  api: runApi,
  scrape: runScrape,
  growth: runGrowth,
  sizes: runSizes,
} satisfies Record<string, (sizes: Sizes) => Promise<Result>>

export type BenchName = keyof typeof benches
export const benchNames = Object.keys(benches) as BenchName[]

/** B1 to B8: what runs where no name is given. */
export const numbered = [
  'intake',
  'reconcile',
  'ledger',
  'chain',
  'chain solana',
  'journey',
] as const satisfies readonly BenchName[]

/** What `--json` prints and `--out` writes. A bench that is void has an error and no report. */
export type BenchDocument = {
  version: 1
  startedAt: string
  benches: { name: BenchName; seconds: number; report: object | null; error: string | null }[]
  figures: Figure[]
}

const smokeScales: Partial<Record<BenchName, number>> = {
  api: 0.001,
  chain: 0.005,
  // With fewer slots than requests for histories the chain is read by its blocks.
  'chain solana': 0.05,
  growth: 0.005,
  journey: 0.0005,
  ledger: 0.001,
  scrape: 0.01,
}

/** Seconds of work, to see that everything runs; its figures say nothing. */
export function smokeOf(name: BenchName): Omit<Sizes, 'large'> {
  return { rounds: 1, seconds: 0.2, scale: smokeScales[name] ?? 0.002 }
}

/** @throws where what an arm left is not right: nothing that was measured counts then. */
export function runBench(name: BenchName, sizes: Sizes): Promise<Result> {
  return benches[name](sizes)
}
