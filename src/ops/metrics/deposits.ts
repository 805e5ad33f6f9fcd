import { evidenceSources, matrixCells } from '../../core/judging/matrix.ts'
import { depositStates } from '../../core/judging/reconcile.ts'
import { lagStages } from '../../core/lag.ts'
import { mismatchKinds } from '../../core/mismatch.ts'
import { responsibleParties, severities } from '../../core/mismatches/kind-entry.ts'
import { assets, counter, gauge, histogram, lagBuckets, networks, routes, services } from './declare.ts'

const kinds = Object.keys(mismatchKinds)
/** Further causes are counted with the last number. */
export const waitingNumbers = ['1', '2', '3', '4', '5', '6', '7', '8'] as const
const ofCauses = {
  kind: kinds,
  service: services,
  network: networks,
  side: responsibleParties,
  severity: severities,
}

/** Each class excludes the younger ones. */
export const mismatchAges = ['under_1h', 'under_24h', 'under_3d', 'under_7d', 'under_30d', 'older'] as const

export const ofDeposits = {
  stageLag: histogram('stage_lag_seconds', 'How long a completed stage took.', {
    labels: { stage: lagStages, service: services, network: networks },
    buckets: lagBuckets,
  }),
  stageOldest: gauge(
    'stage_oldest_open_seconds',
    'How long the oldest deposit, or for apply the oldest observation, has waited for a stage to complete.',
    { labels: { stage: lagStages, service: services, network: networks } },
  ),
  stageOldestUnnamed: gauge(
    'stage_oldest_unnamed_seconds',
    'The same of deposits about which no mismatch is open: one that is open has an alert of its own.',
    { labels: { stage: lagStages, service: services, network: networks } },
  ),
  deposits: gauge('deposits', 'Deposits by state.', {
    labels: { state: depositStates, service: services, network: networks },
  }),
  matrixCells: gauge(
    'matrix_cells',
    'What each source says of each leg of a deposit: how many of the last 24 hours of deposits have the cell.',
    {
      labels: {
        service: services,
        leg: ['deposit', 'settlement'],
        source: evidenceSources,
        cell: matrixCells,
      },
    },
  ),
  mismatchesOpen: gauge(
    'mismatches_open',
    `Open mismatches: neither cleared by evidence nor resolved by a person. ${kindsBySeverity()}`,
    { labels: { kind: kinds, severity: severities, service: services, network: networks } },
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
    { labels: { severity: severities, service: services, age: mismatchAges } },
  ),
  mismatchesOpened: counter('mismatches_opened_total', 'Mismatches opened, or opened again.', {
    labels: { kind: kinds, severity: severities, service: services, network: networks },
  }),
  mismatchesResolved: counter(
    'mismatches_resolved_total',
    'Mismatches that ended: by evidence, or by a person.',
    { labels: { kind: kinds, service: services, how: ['evidence', 'person'] } },
  ),
  mismatchOldest: gauge('mismatch_oldest_seconds', 'Age of the oldest open mismatch.', {
    labels: { kind: kinds, severity: severities, service: services },
  }),
  mismatchValue: gauge(
    'mismatch_value',
    'What may be lost by open mismatches, in units of the asset; of each transfer the largest loss. Approximate.',
    {
      labels: { asset: assets, severity: severities, service: services },
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

/** By prefix. The subject of an account is never a label. */
const accountClasses = [
  'in_transit',
  'forwarded',
  'stable_wallet',
  'receivable',
  'trading',
  'fees',
  'tolerance',
  'write_off',
  'deposits',
  'suspense',
] as const

/** An account without a class is `other`. */
export const shownAccounts = [...accountClasses, 'other'] as const

const ofAsset = { labels: { asset: assets }, unit: 'units' } as const

export const ofBooks = {
  assetInfo: gauge('asset_info', 'Always 1; the labels name the network and the symbol of an asset.', {
    labels: { asset: assets, network: networks, symbol: { set: 'symbol', upTo: 64 } },
    unit: 'flag',
  }),
  ledgerBalance: gauge(
    'ledger_balance',
    'Balance of the books by what accounts are for, in units of the asset, debit balances positive; approximate.',
    { labels: { account: shownAccounts, network: networks, asset: assets }, unit: 'units' },
  ),
  ledgerImbalance: gauge(
    'ledger_imbalance',
    'Sum of all entries of an asset; anything but 0 is an emergency.',
    ofAsset,
  ),
  ledgerUntied: gauge(
    'ledger_untied',
    'What the audit found wrong in the books of an asset beside their sum, in units of the asset: in_transit, left of deposits that are closed; tie_out, not agreeing with proved balances.',
    { labels: { control: ['in_transit', 'tie_out'], asset: assets }, unit: 'units' },
  ),
  ledgerSealAge: gauge(
    'ledger_seal_age_seconds',
    'How long the oldest unsealed row of the log has waited for a seal; 0 if all are sealed.',
  ),
  ledgerUnsigned: gauge(
    'ledger_unsigned_decisions',
    'Decisions of the last 24 hours that the owner of the database made without signatures: journals by hand, write-offs, matches, closed and reopened months, changes of the policy.',
  ),
  policyWaiting: gauge(
    'policy_waiting',
    '1 while the policy of the settings is not active, because people have yet to approve it.',
  ),
}

/** Of each service, the total and the routes with the most deposits, the same on every replica. */
export function busiest<Line extends { service: string; route: string; deposits: bigint }>(
  lines: readonly Line[],
): Line[] {
  const rank = (left: Line, right: Line) =>
    Number(right.deposits - left.deposits) || (left.route < right.route ? -1 : 1)
  const ofServices = Map.groupBy(lines, ({ service }) => service)
  return [...ofServices.values()].flatMap((same) => same.toSorted(rank).slice(0, routes.upTo))
}

const ofRoute = { labels: { service: services, route: routes } }
/** Prometheus reserves the label `quantile` for summaries, which these are not. */
const spread = { labels: { service: services, route: routes, percentile: ['p50', 'p95', 'p99'] } }

export const ofScorecard = {
  scorecardCompleteness: gauge(
    'scorecard_completeness_ratio',
    'Of the steps that API or chain know of the last 24 hours of deposits, the share that webhooks reported.',
    ofRoute,
  ),
  scorecardDelivery: gauge(
    'scorecard_delivery_seconds',
    'From an event to its webhook, of the last 24 hours of deposits.',
    spread,
  ),
  scorecardSettle: gauge(
    'scorecard_settle_seconds',
    'From a final payment to its proved delivery, of the last 24 hours of deposits.',
    spread,
  ),
  scorecardDuplicates: gauge(
    'scorecard_duplicates_ratio',
    'How often webhooks came again, as a share of webhooks, of the last 24 hours of deposits.',
    ofRoute,
  ),
  scorecardFee: gauge(
    'scorecard_fee_ratio',
    'Stated fee by delivered and fee together, of the last 24 hours of deposits; approximate.',
    ofRoute,
  ),
}
