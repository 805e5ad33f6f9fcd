import { mapBounded } from '../chain/map-bounded.ts'
import { defaultReading } from '../chain/options.ts'
import { createReader } from '../chain/reader.ts'
import type { OnDemandReader, StagedTransfer, TransactionReading } from '../chain/types.ts'
import { lineOf } from '../core/errors.ts'
import type { TransactionFailure } from '../core/evidence.ts'
import type { StoredObservation } from '../core/explaining/verdict-reason.ts'
import { type ChainLeg, foldChainTransfers, foldFailures } from '../core/matching/fold.ts'
import { type BundleParts, canonicalText } from './bundle.ts'
import { type BundleCheck, judged, networkOf, notDone } from './verify-bundle.ts'

const readAtOnce = 4

/** Chosen by the auditor, by network. */
export type Nodes = ReadonlyMap<string, readonly string[]>

export async function verifyChains(
  parts: BundleParts,
  stored: readonly StoredObservation[],
  nodes: Nodes,
): Promise<BundleCheck[]> {
  const claims = shownOf(stored)
  const names = [...new Set([...claims.map(({ network }) => network), ...nodes.keys()])].toSorted()
  return Promise.all(
    names.map((name) => {
      const ofNetwork = claims.filter(({ network }) => network === name)
      return verifyChain(name, { parts, claims: ofNetwork, urls: nodes.get(name) ?? [] })
    }),
  )
}

type BundleTransaction = ChainLeg | TransactionFailure

function shownOf(stored: readonly StoredObservation[]): BundleTransaction[] {
  const observations = stored.map(({ observation }) => observation)
  return [
    ...foldChainTransfers(observations.filter((one) => one.kind === 'chain_transfer')),
    ...foldFailures(observations.filter((one) => one.kind === 'failure')),
  ]
}

type ChainCheckInput = { parts: BundleParts; claims: readonly BundleTransaction[]; urls: readonly string[] }

async function verifyChain(name: string, { parts, claims, urls }: ChainCheckInput): Promise<BundleCheck> {
  const check = `chain ${name}`
  const network = parts.networks.find((one) => one.name === name)
  if (urls.length === 0)
    return notDone(check, `use --rpc ${name}=URL to read ${claims.length} transfers again`)
  if (network === undefined) return judged(check, ['the bundle does not contain this network'], '')
  try {
    const reader = createReader(networkOf(network, urls))
    await reader.checkIdentity()
    const problems = await mapBounded([...claims], readAtOnce, (one) => problemsOf(one, reader))
    return judged(check, problems.flat(), `${claims.length} transfers confirmed on ${chainOf(network)}`)
  } catch (error) {
    return judged(check, [lineOf(error)], '')
  }
}

function chainOf({ chainId, genesisHash, reading }: BundleParts['networks'][number]): string {
  const chain = chainId === null ? `genesis ${genesisHash ?? 'as the node shows it'}` : `chain id ${chainId}`
  const finality = canonicalText(reading?.finality ?? defaultReading.finality)
  return `${chain}, final by ${finality}`
}

async function problemsOf(
  shown: BundleTransaction,
  reader: Pick<OnDemandReader, 'readTransaction'>,
): Promise<string[]> {
  const reading = await reader.readTransaction(shown.tx, new Set([shown.to]))
  const problems = 'state' in shown ? legProblems(shown, reading) : failureProblems(shown, reading)
  return problems.map((problem) => `${shown.tx}: ${problem}`)
}

function failureProblems({ height }: TransactionFailure, reading: TransactionReading): string[] {
  if (reading.kind !== 'failed') return ['it did not fail on this chain']
  return reading.height === height ? [] : [`it failed at height ${reading.height}`]
}

function legProblems(leg: ChainLeg, reading: TransactionReading): string[] {
  const found =
    reading.kind === 'read'
      ? reading.transfers.find(({ index, to }) => index === leg.index && to === leg.to)
      : undefined
  if (leg.state === 'orphaned')
    return found?.blockHash === leg.blockHash ? ['the bundle calls it removed, but it is in that block'] : []
  if (found === undefined) return [`no transfer ${leg.index} to ${leg.to}: ${reading.kind}`]
  const isFinal = leg.state !== 'final' || found.stage === 'final'
  return [...fieldProblems(leg, found), ...(isFinal ? [] : ['the bundle calls it final, but it is not'])]
}

const compared = ['asset', 'amount', 'from', 'to', 'height', 'blockHash'] as const

function fieldProblems(leg: ChainLeg, found: StagedTransfer): string[] {
  const differing = compared.filter((name) => leg[name] !== found[name])
  const isWhen = leg.blockAt.getTime() === found.blockAt.getTime()
  return [
    ...differing.map((name) => `${name} is ${String(found[name])}, not ${String(leg[name])}`),
    ...(isWhen ? [] : [`its block time is ${found.blockAt.toISOString()}, not ${leg.blockAt.toISOString()}`]),
  ]
}
