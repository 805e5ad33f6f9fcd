import { duration } from '../../presentation/text.ts'
import type { StoreTotals } from '../../store/gauges.ts'
import type { Live } from '../gauges.ts'
import { type Html, type HtmlContent, html, linkTo, type ShownColumn, tableOf, timeOf } from './html.ts'
import { scanPrefix } from './overview-tables.ts'
import { type ConsolePage, sectionOf } from './page.ts'
import type { ConsoleNetwork, NodeLine, Overview } from './reader.ts'

type NetworksPageData = {
  settings: readonly ConsoleNetwork[]
  overview: Overview
  nodes: readonly NodeLine[]
}

/** How far each network is read, what is missing, and how its nodes do. */
export function networksPage({ settings, overview, nodes }: NetworksPageData): ConsolePage {
  const { live, totals } = overview.gauges
  const names = settings.map(({ name }) => name)
  const read = live && networksTable(names, { live: live.value, totals: totals?.value ?? null })
  const body = html`<h1>Networks</h1>
<p class="asof">As of ${timeOf(overview.readAt)}</p>
${sectionOf('How far they are read', read ?? html`<p class="empty">Cannot be read now.</p>`)}
${sectionOf(
  'Nodes',
  tableOf(nodes, { caption: 'Nodes as this process sees them', columns: nodeColumns, empty: noNodes }),
  html`<p class="note">Since this process started. A score of 1 answers at once and never fails. The requests of all processes are in the metric depositd_rpc_node_requests_total.</p>`,
)}
${sectionOf('Settings', tableOf(settings, { caption: 'Networks of the settings', columns: settingColumns, empty: 'No networks: nothing is read from a chain.' }))}`
  return { title: 'Networks', entry: '/networks', body }
}

const noNodes =
  'This process has sent no requests to a node. A process with the role chain does, if it runs separately.'

const nodeColumns: readonly ShownColumn<NodeLine>[] = [
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'NODE', value: ({ node }) => node },
  { title: 'SCORE', value: ({ score }) => score.toFixed(2), align: 'right' },
  { title: 'REQUESTS', value: ({ requests }) => requests.toLocaleString('en'), align: 'right' },
  { title: 'ERRORS', value: ({ errors }) => errors.toLocaleString('en'), align: 'right' },
]

const settingColumns: readonly ShownColumn<ConsoleNetwork>[] = [
  { title: 'NETWORK', value: ({ name }) => name },
  { title: 'CHAIN', value: ({ chain }) => chain },
  { title: 'ASSETS', value: ({ assets }) => assets.join(', ') },
  { title: 'NODES', value: ({ nodes }) => `${nodes}`, align: 'right' },
]

type NetworkFigures = { live: Live; totals: StoreTotals | null }

/** The networks of the settings. */
export function networksTable(names: readonly string[], figures: NetworkFigures): Html {
  const rows = names.map((name) => networkLine(name, figures))
  return tableOf(rows, {
    caption: 'How far each network is read',
    columns,
    empty: 'No networks: nothing is read from a chain.',
  })
}

function networkLine(name: string, { live, totals }: NetworkFigures) {
  const stream = live.streams.find((one) => one.name === scanPrefix + name)
  const gaps = totals?.coverageGaps.find(({ network }) => network === name)
  const waits = live.stages.filter(({ stage, network }) => stage === 'finality' && network === name)
  const open = live.mismatches.filter(({ network }) => network === name)
  return {
    name,
    age: stream?.age ?? null,
    head: stream?.progress.head,
    final: stream?.progress.final,
    gaps,
    waits: Math.max(0, ...waits.map(({ oldest }) => oldest)),
    open: open.reduce((sum, { count }) => sum + count, 0),
  }
}

type NetworkLine = ReturnType<typeof networkLine>

const columns: readonly ShownColumn<NetworkLine>[] = [
  { title: 'NETWORK', value: ({ name }) => name, show: ({ name }) => html`<a href="/networks">${name}</a>` },
  {
    title: 'READ TO ITS END',
    value: ({ age }) => (age === null ? 'never' : `${duration(age)} ago`),
    align: 'right',
  },
  { title: 'HEAD', value: ({ head }) => heightText(head), align: 'right' },
  { title: 'FINAL', value: ({ final }) => heightText(final), align: 'right' },
  {
    title: 'WAITS FOR FINALITY',
    value: ({ waits }) => (waits === 0 ? '' : duration(waits)),
    align: 'right',
  },
  { title: 'NOT READ', value: gapText, show: gapLink, align: 'right' },
  {
    title: 'OPEN MISMATCHES',
    value: ({ open }) => (open === 0 ? '' : `${open}`),
    show: ({ name, open }) =>
      open === 0
        ? ''
        : html`<a href="${linkTo('/mismatches', { network: name, status: 'snoozed' })}">${open}</a>`,
    align: 'right',
  },
]

function heightText(height: number | undefined): string {
  return height?.toLocaleString('en') ?? ''
}

function gapText({ gaps }: NetworkLine): string {
  if (gaps === undefined || gaps.ranges === 0) return ''
  const { ranges, heights } = gaps
  return `${heights.toLocaleString('en')} blocks in ${ranges} ${ranges === 1 ? 'range' : 'ranges'}`
}

function gapLink(line: NetworkLine): HtmlContent {
  const text = gapText(line)
  return text === ''
    ? ''
    : html`<a href="${linkTo('/mismatches', { kind: 'coverage_gap', network: line.name, status: 'snoozed' })}">${text}</a>`
}
