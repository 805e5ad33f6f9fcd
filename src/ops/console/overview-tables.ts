import type { OpenCause } from '../../core/cause.ts'
import { depositStates } from '../../core/judging/reconcile.ts'
import { causeFilters, firstCauses, lossLines } from '../../presentation/cause.ts'
import { columnsFor, duration, type ServicesShown, serviceColumn } from '../../presentation/text.ts'
import type { StoreTotals } from '../../store/gauges.ts'
import type { Live } from '../gauges.ts'
import { shownAccounts } from '../metrics/deposits.ts'
import type { ReadinessReport } from '../readiness.ts'
import { type Html, html, linkTo, readable, type ShownColumn, tableOf, timeOf } from './html.ts'
import { badge, severityColumn, type Tone } from './page.ts'
import type { ConsoleChoices } from './reader.ts'

/** What the settings do not name is no filter. */
function listOf(cause: OpenCause, choices: CausesShown): string {
  return linkTo('/mismatches', causeFilters(cause, choices))
}

function causeColumns(choices: CausesShown): readonly ShownColumn<OpenCause>[] {
  return [
    severityColumn,
    {
      title: 'KIND',
      value: ({ kind }) => kind,
      show: (cause) => html`<a href="${listOf(cause, choices)}">${cause.kind}</a>`,
    },
    serviceColumn,
    { title: 'NETWORK', value: ({ network }) => network },
    { title: 'AT FAULT', value: ({ side }) => side },
    { title: 'MISMATCHES', value: ({ count }) => `${count}`, align: 'right' },
    {
      title: 'LOSS',
      value: (cause) => lossLines(cause).join(', '),
      show: (cause) => lossLines(cause).map((line) => html`<div>${readable(line)}</div>`),
      align: 'right',
    },
    { title: 'FIRST', value: ({ since }) => since.toISOString(), show: ({ since }) => timeOf(since) },
    { title: 'LAST', value: ({ until }) => until.toISOString(), show: ({ until }) => timeOf(until) },
    {
      title: 'ALERT',
      value: ({ callsForPeople }) => (callsForPeople ? 'calls for a person' : ''),
      show: ({ callsForPeople }) => (callsForPeople ? badge('severe', 'calls for a person') : ''),
    },
  ]
}

export type CausesShown = ServicesShown & Pick<ConsoleChoices, 'services' | 'networks'>

export function causesTable(causes: readonly OpenCause[], choices: CausesShown): Html | null {
  if (causes.length === 0) return null
  const rows = firstCauses(causes)
  return html`${tableOf(rows.slice(0, causesMax), { caption: 'Open mismatches by cause', columns: columnsFor(causeColumns(choices), choices), empty: '' })}
${rows.length > causesMax ? html`<p class="note">${rows.length - causesMax} more causes are not shown; <a href="/mismatches">Mismatches</a> lists all.</p>` : null}
<p class="note">Mismatches of the same kind, service, network and side at fault that were opened within an hour of each other, also snoozed ones. The loss is per asset.</p>`
}

const causesMax = 50

export function risksTable(
  { atRisk }: Live,
  { totals, ...services }: ServicesShown & { totals: StoreTotals | null },
): Html | null {
  if (atRisk.length === 0) return null
  const columns: ShownColumn<Live['atRisk'][number]>[] = [
    serviceColumn,
    { title: 'ASSET', value: ({ asset }) => assetText(asset, totals) },
    severityColumn,
    { title: 'LOSS', value: ({ units }) => unitsText(units), align: 'right' },
  ]
  return html`<h3>What may be lost</h3>
${tableOf(atRisk, { caption: 'What may be lost by open mismatches', columns: columnsFor(columns, services), empty: '' })}
<p class="note">Per asset. Each transfer counts once, with its largest loss, under its highest severity.</p>`
}

export function assetText(key: string, totals: StoreTotals | null): string {
  const known = totals?.assets.find(({ asset }) => asset === key)
  return known === undefined ? key : `${known.symbol} on ${known.network}`
}

/** Six decimals; the ledger has all of them. */
export function unitsText(units: number): string {
  return units.toLocaleString('en', { maximumFractionDigits: 6 })
}

export function moneyTable(totals: StoreTotals): Html {
  const { balances, assets } = totals
  const accounts = shownAccounts.filter((name) => balances.some(({ account }) => account === name))
  const columns: ShownColumn<string>[] = [
    { title: 'ASSET', value: (asset) => assetText(asset, totals) },
    ...accounts.map((name): ShownColumn<string> => {
      const value = (asset: string) => {
        const found = balances.find((one) => one.account === name && one.asset === asset)
        return found === undefined || found.units === 0 ? '' : unitsText(found.units)
      }
      return { title: name.replaceAll('_', ' ').toUpperCase(), value, align: 'right' }
    }),
  ]
  const rows = assets.map(({ asset }) => asset)
  return html`${tableOf(rows, { caption: 'Balances by asset and purpose', columns, empty: 'Nothing is booked yet.' })}
<p class="note">Debit balances are positive, to six digits; <a href="/ledger">the ledger</a> has each account, exactly.</p>`
}

/** Only the known networks link to a list of deposits. */
export function statesTable({ deposits }: StoreTotals, known: readonly string[]): Html {
  const states = depositStates.filter((state) => deposits.some((one) => one.state === state))
  const networks = [...new Set(deposits.map(({ network }) => network))].toSorted()
  const columns: ShownColumn<string>[] = [
    { title: 'NETWORK', value: (network) => (network === '' ? 'not known yet' : network) },
    ...states.map((state): ShownColumn<string> => {
      const value = (network: string) => {
        const found = deposits.filter((one) => one.state === state && one.network === network)
        return found.length === 0 ? '' : `${found.reduce((sum, { count }) => sum + count, 0)}`
      }
      const show = (network: string) =>
        known.includes(network) && value(network) !== ''
          ? html`<a href="${linkTo('/deposits', { state, network })}">${value(network)}</a>`
          : value(network)
      return { title: state.toUpperCase(), value, show, align: 'right' }
    }),
  ]
  return tableOf(networks, { caption: 'Deposits by network and state', columns, empty: 'No deposits yet.' })
}

export function stagesTable({ stages }: Live, services: ServicesShown): Html {
  const rows = stages.toSorted((left, right) => right.oldest - left.oldest)
  const columns: ShownColumn<Live['stages'][number]>[] = [
    { title: 'STAGE', value: ({ stage }) => stage.replaceAll('_', ' ') },
    serviceColumn,
    { title: 'NETWORK', value: ({ network }) => network },
    { title: 'OLDEST', value: ({ oldest }) => duration(oldest), align: 'right' },
  ]
  const caption = 'The oldest that waits for each stage'
  return tableOf(rows, { caption, columns: columnsFor(columns, services), empty: 'Nothing waits.' })
}

export const scanPrefix = 'scan/'

/** What is read other than networks. */
export function streamsTable({ streams }: Live): Html {
  const columns: ShownColumn<Live['streams'][number]>[] = [
    { title: 'STREAM', value: ({ name }) => name },
    { title: 'LAST READ', value: ({ age }) => `${duration(age)} ago`, align: 'right' },
  ]
  const rows = streams
    .filter(({ name }) => !name.startsWith(scanPrefix))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
  return tableOf(rows, { caption: 'When each source was last read', columns, empty: 'Nothing was read yet.' })
}

export function partsTable({ unready, warnings, fine }: ReadinessReport): Html {
  const rows: { part: string; tone: Tone; word: string; problem: string }[] = [
    ...unready.map((one) => ({ ...one, tone: 'severe' as const, word: 'not ready' })),
    ...warnings.map((one) => ({ ...one, tone: 'warning' as const, word: 'warning' })),
    ...fine.map((part) => ({ part, tone: 'fine' as const, word: 'fine', problem: '' })),
  ]
  const columns: ShownColumn<(typeof rows)[number]>[] = [
    { title: 'PART', value: ({ part }) => part },
    { title: 'STATE', value: ({ word }) => word, show: ({ tone, word }) => badge(tone, word) },
    { title: 'SAYS', value: ({ problem }) => problem },
  ]
  return tableOf(rows, { caption: 'Parts of the daemon', columns, empty: 'Nothing is known.' })
}
