import { defaultBounds } from '../../src/chain/options.ts'
import { historyCalls } from '../../src/cli/doctor/cost.ts'
import type { HistoryProgress } from '../../src/store/chain/history.ts'
import type { Line } from '../soak/judge.ts'
import { total } from './count-calls.ts'
import type { OnboardedYear } from './onboard-year.ts'
import type { MeasureChoices, MeasuredWorld } from './world.ts'

/** Of the deposits: those before history is read from. They are read by their ids, or not covered. */
export const shareBefore = 0.01
/** Of whole blocks that one reading covers: those in flight at a kill are read again. */
const blocksPerReading = Number(defaultBounds.blocksPerScan)

/** What the estimate may be wrong by. */
const estimateFactor = 2
/** From a payment to its journal, beside reading history. */
const bookedWithinSeconds = 15
type FiguresRequest = {
  name: string
  progress: readonly HistoryProgress[]
  before: ReadonlyMap<string, number>
  finalBefore: ReadonlyMap<string, number>
}

export function networkFigures(
  { settings, counters, ground, choices }: MeasuredWorld,
  { name, progress, before, finalBefore }: FiguresRequest,
) {
  const network = settings.networks.find((one) => one.name === name)
  const read = progress.find((one) => one.network === name)
  const counter = counters.get(name)
  if (network === undefined || read === undefined || counter === undefined)
    throw new Error(`${name} was not read`)
  const addresses = new Set(
    ground.addresses.flatMap((one) => [
      ...(one.network === name ? [one.address] : []),
      ...(one.forward.network === name ? [one.forward.recipient] : []),
    ]),
  ).size
  const here = ground.paid.filter((one) => one.network === name).length
  const forwarded =
    choices.deposits *
    (ground.addresses.filter(({ forward }) => forward.network === name).length / ground.addresses.length)
  const payments = Math.round((1 - shareBefore) * (here + forwarded))
  const estimate = historyCalls(network, { from: read.from, to: read.to, addresses, payments })
  const repeated = [...counter.seen].reduce((sum, [key, count]) => {
    const [, height] = /^(?:eth_getBlockByNumber|getBlock) (\w+)$/.exec(key) ?? []
    return height !== undefined && Number(height) <= (finalBefore.get(name) ?? 0) ? sum + count - 1 : sum
  }, 0)
  return {
    name,
    heights: Number(read.to - read.from) + 1,
    addresses,
    payments,
    estimate,
    requests: read.requests ?? 0,
    allCalls: total(counter) - (before.get(name) ?? 0),
    repeated,
    byMethod: Object.fromEntries(counter.calls),
  }
}

type Figures = Pick<MeasureChoices, 'deposits' | 'rate' | 'kills'> & {
  onboarded: OnboardedYear | null
  readSeconds: number
  decidedSeconds: number
  networks: readonly ReturnType<typeof networkFigures>[]
  listCalls: number
  states: Readonly<Record<string, number>>
  delays: readonly number[]
}

export function judge({
  deposits,
  kills,
  onboarded,
  readSeconds,
  decidedSeconds,
  networks,
  listCalls,
  states,
  delays,
}: Figures): Line[] {
  const slowest = Math.max(0, ...delays)
  return [
    free('deposits', `${deposits}`),
    ...(onboarded === null ? [] : [free('onboarded after', `${onboarded.seconds} s`)]),
    free('history read after', `${readSeconds} s`),
    free('every deposit decided after', `${decidedSeconds} s`),
    free(
      'at the end',
      Object.entries(states)
        .map(([what, count]) => `${what} ${count}`)
        .join(', '),
    ),
    free('calls of the list', `${listCalls}`),
    ...networks.flatMap(({ name, requests, estimate, allCalls, repeated, heights }): Line[] => [
      {
        what: `${name}: calls for history, ${heights} heights`,
        measured: `${requests}, estimated ${estimate.least} to ${estimate.most}`,
        limit: `within a factor of ${estimateFactor}`,
        isHeld: requests <= estimate.most * estimateFactor && requests >= estimate.least / estimateFactor,
      },
      {
        what: `${name}: blocks of the history read again`,
        measured: `${repeated}`,
        limit: `at most ${(kills + 1) * blocksPerReading}`,
        isHeld: repeated <= (kills + 1) * blocksPerReading,
      },
      free(`${name}: calls, with new blocks and named transactions`, `${allCalls}`),
    ]),
    {
      what: 'new payments booked within, slowest',
      measured: `${slowest.toFixed(1)} s of ${delays.length}`,
      limit: `${bookedWithinSeconds} s`,
      isHeld: slowest <= bookedWithinSeconds,
    },
  ]
}

function free(what: string, measured: string): Line {
  return { what, measured, limit: '', isHeld: null }
}
