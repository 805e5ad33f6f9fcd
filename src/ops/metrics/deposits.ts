import type { Cell, EvidenceSource } from '../../core/judging/matrix.ts'
import { depositStates } from '../../core/judging/reconcile.ts'
import type { LagStage } from '../../core/lag.ts'
import { mismatchKinds, type Severity } from '../../core/mismatch.ts'
import type { ResponsibleParty } from '../../core/mismatches/kind-entry.ts'
import { counter, gauge, histogram, lagBuckets } from './declare.ts'
import { assets, networks, type OpenSet } from './label-values.ts'

/** Lists every member of a union once, in order. */
function every<Member extends string>(members: Readonly<Record<Member, true>>): readonly Member[] {
  return Object.keys(members) as Member[]
}

const stages = every<LagStage>({
  delivery: true,
  apply: true,
  api_detection: true,
  chain_detection: true,
  finality: true,
  settlement: true,
  reconciliation: true,
})
const sources = every<EvidenceSource>({ webhook: true, api: true, chain: true })
const cells = every<Cell>({
  absent: true,
  present: true,
  agrees: true,
  differs: true,
  not_applicable: true,
})
/** The highest first. */
export const severities = every<Severity>({ severe: true, warning: true, info: true })
const kinds = Object.keys(mismatchKinds)

const sides = every<ResponsibleParty>({
  webhook: true,
  api: true,
  service: true,
  payer: true,
  chain: true,
  settings: true,
  books: true,
  unknown: true,
})
const services: OpenSet = { set: 'service', upTo: 16 }
/** Further causes are counted with the last number. */
export const waitingNumbers = ['1', '2', '3', '4', '5', '6', '7', '8'] as const
const ofCauses = { kind: kinds, service: services, network: networks, side: sides, severity: severities }

/** How long a mismatch has been open. Each class excludes the younger ones. */
export const mismatchAges = ['under_1h', 'under_24h', 'under_3d', 'under_7d', 'under_30d', 'older'] as const

export const ofDeposits = {
  stageLag: histogram('stage_lag_seconds', 'How long a completed stage took.', {
    labels: { stage: stages, network: networks },
    buckets: lagBuckets,
  }),
  stageOldest: gauge(
    'stage_oldest_open_seconds',
    'How long the oldest deposit, or for apply the oldest observation, has waited for a stage to complete.',
    { labels: { stage: stages, network: networks } },
  ),
  stageOldestUnnamed: gauge(
    'stage_oldest_unnamed_seconds',
    'The same of deposits about which no mismatch is open: one that is open has an alert of its own.',
    { labels: { stage: stages, network: networks } },
  ),
  deposits: gauge('deposits', 'Deposits by state.', { labels: { state: depositStates, network: networks } }),
  matrixCells: gauge(
    'matrix_cells',
    'What each source says of each leg of a deposit: how many of the last 24 hours of deposits have the cell.',
    { labels: { leg: ['deposit', 'settlement'], source: sources, cell: cells } },
  ),
  mismatchesOpen: gauge(
    'mismatches_open',
    `Open mismatches: neither cleared by evidence nor resolved by a person. ${kindsBySeverity()}`,
    { labels: { kind: kinds, severity: severities, network: networks } },
  ),
  causesOpen: gauge(
    'causes_open',
    'Causes of open mismatches: those of the same kind, service, network and side at fault, opened soon after each other.',
    { labels: ofCauses },
  ),
  causesWaiting: gauge(
    'causes_waiting',
    'Of these, the causes that call for people: above the loss and age of the settings, and not taken, or overdue. nth tells apart those that are alike.',
    { labels: { ...ofCauses, nth: waitingNumbers } },
  ),
  mismatchesOpenByAge: gauge(
    'mismatches_open_by_age',
    'Open mismatches by how long they have been open, each age without those before it.',
    { labels: { severity: severities, age: mismatchAges } },
  ),
  mismatchesOpened: counter('mismatches_opened_total', 'Mismatches opened, or opened again.', {
    labels: { kind: kinds, severity: severities, network: networks },
  }),
  mismatchesResolved: counter(
    'mismatches_resolved_total',
    'Mismatches that ended: by evidence, or by a person.',
    { labels: { kind: kinds, how: ['evidence', 'person'] } },
  ),
  mismatchOldest: gauge('mismatch_oldest_seconds', 'Age of the oldest open mismatch.', {
    labels: { kind: kinds, severity: severities },
  }),
  mismatchValue: gauge(
    'mismatch_value',
    'What may be lost by open mismatches, in units of the asset; of each transfer the largest loss. Approximate.',
    {
      labels: { asset: assets, severity: severities },
      unit: 'units',
    },
  ),
}

function kindsBySeverity(): string {
  const bySeverity = Map.groupBy(Object.entries(mismatchKinds), ([, { severity }]) => severity)
  return [...bySeverity]
    .map(([severity, all]) => `${severity}: ${all.map(([kind]) => kind).join(', ')}.`)
    .join(' ')
}
