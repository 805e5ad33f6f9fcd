import { mismatchKinds } from '../core/mismatch.ts'
import { type ObservedFee, observedFees } from '../store/books/observed-fees.ts'
import { type Context, withDatabase } from './context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from './lists.ts'
import { printJson } from './print.ts'

/** The next deposit lies outside the range of n samples with odds of 2 in n + 1: at most once in twenty. */
const sampleMin = 39

/**
 * Prints a policy file with a fee band for every route that shows one. For the other routes it says why there is none.
 */
export async function learnPolicyCommand(context: Context, options: ListOptions): Promise<void> {
  const observed = await withDatabase(context, (db) => observedFees(db, doubtful))
  const learned = observed.map(learnedOf)
  const page = pageOf(learned, options, paging)
  if (options.json === true) printJson(context, page)
  else if (learned.length === 0) context.stdout.write('# no deposit is settled yet\n')
  else context.stdout.write(`${textOf(page.items)}${goOnLine(context, page).replace(/^(?=.)/, '# ')}`)
}

const paging: ListKeyset<FeeBandProposal> = {
  list: 'routes',
  keyOf: ({ asset, settlementAsset }) => [asset, settlementAsset],
}

/** Mismatches that put the amounts of a deposit in doubt. An unexpected fee does not: the fees are what is learned. */
const doubtful = Object.entries(mismatchKinds)
  .filter(([kind, { family }]) => ['value', 'identity'].includes(family) && kind !== 'fee_out_of_band')
  .map(([kind]) => kind)

/** Between two assets, the share of the payment means nothing, so only the rate is measured. */
function learnedOf({ lowBps, highBps, ...one }: ObservedFee) {
  const share = one.rate === null ? { lowBps, highBps } : { lowBps: null, highBps: null }
  return { ...one, ...share, refused: refusalOf({ lowBps, highBps, ...one }) }
}

/** A fee of over a tenth is not a fee between assets of equal worth. */
const leastMaxBps = 1000

function refusalOf({ sample, lowBps, rate }: ObservedFee): string | null {
  if (rate !== null)
    return `${rate.paid} and ${rate.delivered} are different assets, so that a rate holds the fee and the price`
  if (sample < sampleMin)
    return `too few for a band: of ${sample}, the next one lies outside ${oddsOf(sample)}`
  if (lowBps >= 0 && lowBps <= leastMaxBps) return null
  const what = lowBps < 0 ? 'more was delivered than paid' : 'even the least that was kept is over a tenth'
  return `${what}: these assets are not worth the same`
}

type FeeBandProposal = ReturnType<typeof learnedOf>

function textOf(learned: readonly FeeBandProposal[]): string {
  const isAny = learned.some(({ refused }) => refused === null)
  return `policy:\n${isAny ? '  routes:\n' : '  routes: []\n'}${learned.map(routeText).join('')}`
}

function routeText(one: FeeBandProposal): string {
  const { asset, assetLabel, settlementAsset, settlementAssetLabel, sample, lowBps, highBps, refused } = one
  const reported = `    # ${assetLabel} to ${settlementAssetLabel}, ${sample} settled: ${measured(one)}.`
  if (refused !== null) return `${reported}\n    # No band: ${refused}.\n`
  return [
    `${reported} The next one lies outside ${oddsOf(sample)}.\n`,
    `    - match: { asset: { in: '${asset}', out: '${settlementAsset}' } }\n`,
    `      fee: { model: band, lowBps: ${lowBps}, highBps: ${highBps}, sample: ${sample} }\n`,
  ].join('')
}

function measured({ lowBps, highBps, rate }: FeeBandProposal): string {
  if (rate === null) return `${lowBps} to ${highBps} bps kept`
  return `${rate.low} to ${rate.high} ${rate.delivered} delivered for 1 ${rate.paid}`
}

/** The odds that the next deposit lies below the lowest or above the highest of the sample. */
function oddsOf(sample: number): string {
  return `2 times in ${sample + 1}`
}
