import { parsePolicyFile } from '../config/policies.ts'
import { type Settings } from '../config/settings.ts'
import { type Rules, rulesOf } from '../core/decide.ts'
import { Fault } from '../core/errors.ts'
import { type VerdictChange, type VerdictSummary } from '../core/explaining/compare-decisions.ts'
import { mismatchKinds } from '../core/mismatch.ts'
import { type Journal } from '../core/posting.ts'
import { ruleSetOf } from '../core/rule-set.ts'
import { rulesInForce } from '../jobs/books/activate-rules.ts'
import { tryRules } from '../jobs/books/decide-again.ts'
import { policyChangeOf } from '../jobs/people/policy-procedure.ts'
import { transferDocument } from '../presentation/journal.ts'
import { type AssetNames, readAssetNames } from '../store/assets.ts'
import { type ObservedFee, observedFees } from '../store/scorecard.ts'
import { attachedSettings, type Context, longQueryMs, withDatabase } from './context.ts'
import { readTextFile } from './files.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from './lists.ts'
import { decideCommand } from './people/decide.ts'
import { type News, print, reportProgress, type TableColumn, table } from './print.ts'

type ReconcileOptions = { policy: string; limit: number }

type Count = { what: string; before: string; after: string; count: number }

/** Bad news if anything would change, so that a script can test whether a policy is neutral. */
export async function reconcileCommand(context: Context, options: ReconcileOptions): Promise<News> {
  const { limit } = options
  const settings = attachedSettings(context)
  const proposed = readProposed(options.policy, settings)
  const report = reportProgress(context)
  const found = { groups: 0, deposits: 0, changed: 0 }
  const counts = new Map<string, Count>()
  const shown: VerdictChange[] = []
  const assets = await withDatabase(
    context,
    async (db) => {
      const current = await rulesInForce(db, rulesOf(settings))
      await tryRules(db, { current, proposed, now: new Date() }, ({ groups, deposits, of, changes }) => {
        found.groups += groups
        found.deposits += deposits
        found.changed += changes.length
        for (const change of changes) add(counts, change)
        shown.push(...changes.slice(0, limit - shown.length))
        report(`groups decided with both policies: ${found.groups} of ${of}`)
      })
      return readAssetNames(db)
    },
    longQueryMs,
  )
  const summary = [...counts.values()]
  const changes = shown.map((one) => documentOf(one, assets))
  print(context, { ...found, summary, changes }, reconcileText({ ...found, summary, shown }))
  return found.changed === 0 ? 'good' : 'bad'
}

function documentOf({ before, after, ...about }: VerdictChange, assets: AssetNames): object {
  const outcome = ({ journals, ...rest }: VerdictSummary) => ({
    ...rest,
    journals: journals.map(({ transfers, ...journal }) => ({
      ...journal,
      transfers: transfers.map((one) => transferDocument(one, assets)),
    })),
  })
  return { ...about, before: outcome(before), after: outcome(after) }
}

function readProposed(path: string, settings: Settings): Rules {
  const text = readTextFile('--policy', path, 'give a YAML file with the section "policy"')
  const { policies, faults } = parsePolicyFile(text, settings)
  if (policies === null) throw new Fault('settings_bad', { faults: faults.map((one) => `${path}, ${one}`) })
  return { ...rulesOf(settings), ...policies }
}

function add(counts: Map<string, Count>, { before, after }: VerdictChange): void {
  const isNew = ({ key }: Journal) => before.journals.every((one) => one.key !== key)
  const found = [
    ...(before.state === after.state ? [] : [['state', stateText(before), stateText(after)]]),
    ...lost(before.mismatches, after.mismatches).map((kind) => [kind, 'open', '-']),
    ...lost(after.mismatches, before.mismatches).map((kind) => [kind, '-', 'open']),
    ...after.journals.filter(isNew).map(({ kind }) => ['journal', '-', kind]),
  ]
  for (const [what = '', from = '', to = ''] of found) {
    const key = `${what} ${from} ${to}`
    counts.set(key, { what, before: from, after: to, count: (counts.get(key)?.count ?? 0) + 1 })
  }
}

function lost<Item>(from: readonly Item[], to: readonly Item[]): Item[] {
  return from.filter((one) => !to.includes(one))
}

type ReconcileReport = { deposits: number; changed: number; summary: Count[]; shown: VerdictChange[] }

function reconcileText({ deposits, changed, summary, shown }: ReconcileReport): string {
  if (changed === 0) return `nothing would change: ${deposits} deposits decided with both policies\n`
  const more =
    changed > shown.length ? `and ${changed - shown.length} more; a higher --limit shows them\n` : ''
  return [
    table(shown, columns),
    more,
    '\n',
    table(summary, summaryColumns),
    `\n${changed} of ${deposits} deposits would change; nothing was written\n`,
  ].join('')
}

const columns: TableColumn<VerdictChange>[] = [
  { title: 'DEPOSIT', value: ({ id }) => id?.toString() ?? '-', align: 'right' },
  {
    title: 'SERVICE ID OR TRANSFER',
    value: ({ serviceId, withdrawal, transfer }) => serviceId ?? withdrawal ?? transfer ?? '-',
  },
  { title: 'STATE', value: ({ before, after }) => step(stateText(before), stateText(after)) },
  { title: 'MISMATCHES', value: ({ before, after }) => step(kindsText(before), kindsText(after)) },
  { title: 'JOURNALS', value: ({ after }) => after.journals.map(({ kind }) => kind).join(', ') || '-' },
]

const summaryColumns: TableColumn<Count>[] = [
  { title: 'WHAT', value: ({ what }) => what },
  { title: 'BEFORE', value: ({ before }) => before },
  { title: 'AFTER', value: ({ after }) => after },
  { title: 'DEPOSITS', value: ({ count: times }) => times.toString(), align: 'right' },
]

function step(before: string, after: string): string {
  return before === after ? before : `${before} -> ${after}`
}

function stateText({ state }: VerdictSummary): string {
  return state ?? '-'
}

function kindsText({ mismatches }: VerdictSummary): string {
  return mismatches.join(', ') || 'none'
}

/** Asks for the approval of the policy of the settings, and signs it. */
export async function approvePolicyCommand(
  context: Context,
  options: { breakGlass?: string },
): Promise<void> {
  const change = policyChangeOf(ruleSetOf(attachedSettings(context)))
  await decideCommand(context, { kind: 'policy', change }, options.breakGlass)
}

/** The next deposit lies outside the range of n samples with odds of 2 in n + 1: at most once in twenty. */
const sampleMin = 39

/** A fee band for every service and route that shows one; for the others, why there is none. */
export async function learnPolicyCommand(context: Context, options: ListOptions): Promise<void> {
  const observed = await withDatabase(context, (db) => observedFees(db, doubtful))
  const learned = observed.map(learnedOf)
  const page = pageOf(learned, options, paging)
  const more = goOnLine(context, page).replace(/^(?=.)/, '# ')
  const hasSeveralServices = new Set(learned.map(({ service }) => service)).size > 1
  print(
    context,
    page,
    learned.length === 0
      ? '# no settled deposits yet\n'
      : `${policyText(page.items, hasSeveralServices)}${more}`,
  )
}

const paging: ListKeyset<FeeBandProposal> = {
  list: 'routes',
  keyOf: ({ service, asset, settlementAsset }) => [service, asset, settlementAsset],
}

/** These put the amounts of a deposit in doubt. An unexpected fee does not: fees are what is learned. */
const doubtful = Object.entries(mismatchKinds)
  .filter(([kind, { family }]) => ['value', 'identity'].includes(family) && kind !== 'fee_out_of_band')
  .map(([kind]) => kind)

/** Between two assets, the share of the payment means nothing, so only the rate is measured. */
function learnedOf({ lowBps, highBps, ...one }: ObservedFee) {
  const share = one.rate === null ? { lowBps, highBps } : { lowBps: null, highBps: null }
  return { ...one, ...share, refused: refusalOf({ lowBps, highBps, ...one }) }
}

/** Over a tenth is no fee between assets of equal worth. */
const leastMaxBps = 1000

function refusalOf({ sample, lowBps, rate }: ObservedFee): string | null {
  if (rate !== null)
    return `${rate.paid} and ${rate.delivered} are different assets, so the rate includes the price`
  if (sample < sampleMin)
    return `too few deposits: after ${sample}, the next one lies outside ${oddsOf(sample)}`
  if (lowBps >= 0 && lowBps <= leastMaxBps) return null
  const what = lowBps < 0 ? 'more was delivered than paid' : 'the lowest fee is over a tenth'
  return `${what}: these assets do not have equal worth`
}

type FeeBandProposal = ReturnType<typeof learnedOf>

/** `hasSeveralServices`: of the whole list, not of this page. */
function policyText(learned: readonly FeeBandProposal[], hasSeveralServices: boolean): string {
  const isAny = learned.some(({ refused }) => refused === null)
  const routes = learned.map((one) => routeText(one, hasSeveralServices))
  return `policy:\n${isAny ? '  routes:\n' : '  routes: []\n'}${routes.join('')}`
}

function routeText(one: FeeBandProposal, isNamed: boolean): string {
  const { asset, assetLabel, settlementAsset, settlementAssetLabel, sample, lowBps, highBps, refused } = one
  const [by, service] = isNamed ? [`${one.service}: `, `service: ${one.service}, `] : ['', '']
  const reported = `    # ${by}${assetLabel} to ${settlementAssetLabel}, ${sample} settled: ${measured(one)}.`
  if (refused !== null) return `${reported}\n    # No band: ${refused}.\n`
  return [
    `${reported} The next one lies outside ${oddsOf(sample)}.\n`,
    `    - match: { ${service}asset: { in: '${asset}', out: '${settlementAsset}' } }\n`,
    `      fee: { model: band, lowBps: ${lowBps}, highBps: ${highBps}, sample: ${sample} }\n`,
  ].join('')
}

function measured({ lowBps, highBps, rate }: FeeBandProposal): string {
  if (rate === null) return `fee ${lowBps} to ${highBps} bps`
  return `${rate.low} to ${rate.high} ${rate.delivered} delivered for 1 ${rate.paid}`
}

function oddsOf(sample: number): string {
  return `2 times in ${sample + 1}`
}
