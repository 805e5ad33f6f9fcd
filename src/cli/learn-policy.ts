import { mismatchKinds } from '../core/mismatch.ts'
import { type ObservedFee, observedFees } from '../store/books/observed-fees.ts'
import { type Context, withDatabase } from './context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from './lists.ts'
import { printJson } from './print.ts'

/** One deposit more lies outside of what so many showed once in twenty times, or less often: 2 of n + 1. */
const sampleMin = 39

/** Prints a policy file with a band of fees for every route that shows one, and says of the others why there is none. */
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

/** What puts the amounts of a deposit in doubt; that a fee is not as expected is what is to be learned. */
const doubtful = Object.entries(mismatchKinds)
  .filter(([kind, { family }]) => ['value', 'identity'].includes(family) && kind !== 'fee_out_of_band')
  .map(([kind]) => kind)

/** Of two assets a share of what was paid says nothing: only what was delivered for one unit is measured. */
function learnedOf({ lowBps, highBps, ...one }: ObservedFee) {
  const share = one.rate === null ? { lowBps, highBps } : { lowBps: null, highBps: null }
  return { ...one, ...share, refused: refusalOf({ lowBps, highBps, ...one }) }
}

/** A fee of a tenth is no fee of a transfer between assets that are worth the same. */
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
  const told = `    # ${assetLabel} to ${settlementAssetLabel}, ${sample} settled: ${measured(one)}.`
  if (refused !== null) return `${told}\n    # No band: ${refused}.\n`
  return [
    `${told} The next one lies outside ${oddsOf(sample)}.\n`,
    `    - match: { asset: { in: '${asset}', out: '${settlementAsset}' } }\n`,
    `      fee: { model: band, lowBps: ${lowBps}, highBps: ${highBps}, sample: ${sample} }\n`,
  ].join('')
}

function measured({ lowBps, highBps, rate }: FeeBandProposal): string {
  if (rate === null) return `${lowBps} to ${highBps} bps kept`
  return `${rate.low} to ${rate.high} ${rate.delivered} delivered for 1 ${rate.paid}`
}

/** How often a further deposit lies below the lowest or above the highest of so many alike. */
function oddsOf(sample: number): string {
  return `2 times in ${sample + 1}`
}
