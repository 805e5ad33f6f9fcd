import { mayBeLost, mismatchKinds } from '../core/mismatch.ts'
import type { KindEntry } from '../core/mismatches/kind-entry.ts'
import { type AssetLabels, decimalText, mismatchSentence } from './mismatch-sentence.ts'
import {
  type Fact,
  objectText,
  type ServicesShown,
  serviceColumn,
  type TableColumn,
  valueText,
} from './text.ts'

export type MismatchRow = {
  id: string
  /** Null if it is about no single service. */
  service: string | null
  kind: string
  severity: string
  subject: string
  network: string
  asset_symbol: string
  amount: string
  loss: string | null
  loss_base: string | null
  loss_asset: string | null
  loss_asset_symbol: string | null
  age: string
  status: string
  regressed: boolean
  assigned_to: string | null
  act_in: string
  detail: Readonly<Record<string, string>>
  assets: AssetLabels
}

export type MismatchDetail = {
  /** A row of `accounting.mismatches`. */
  mismatch: Readonly<Record<string, unknown>> & {
    kind: string
    severity: string
    subject: string
    status: string
    detail: Readonly<Record<string, string>>
    loss_asset: string | null
    assets: AssetLabels
  }
  deposit: {
    id: string
    state: string
    owner: string
    amount: string | null
    asset_symbol: string | null
    network: string | null
  } | null
  history: readonly HistoryLine[]
  attachments: readonly AttachedFile[]
}

export type AttachedFile = {
  id: string
  name: string
  bytes: number
  sha256: string
  added_by: string
  at: Date
}

type HistoryLine = {
  at: Date
  actor: string
  action: string
  text: string | null
  approved_by: string | null
  decision_id: bigint | null
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
  undoes: bigint | null
}

export const mismatchColumns: readonly TableColumn<MismatchRow>[] = [
  { title: 'ID', value: ({ id }) => id, align: 'right' },
  { title: 'SEVERITY', value: ({ severity }) => severity },
  { title: 'KIND', value: ({ kind }) => kind },
  serviceColumn,
  { title: 'ABOUT', value: ({ subject }) => subject },
  { title: 'AGE', value: ({ age }) => age },
  { title: 'ACT IN', value: ({ act_in: left }) => left },
  {
    title: 'CASE',
    value: ({ status, regressed, assigned_to: name }) =>
      [status, ...(regressed ? ['regressed'] : []), ...(name === null ? [] : [name])].join(', '),
  },
  { title: 'LOSS', value: lossText, align: 'right' },
  { title: 'DEPOSIT', value: amountText },
  { title: 'DETAIL', value: mismatchSentence },
]

/** With its asset's symbol; empty if there is none. */
export function lossText({ loss, loss_asset_symbol: symbol }: LossShown): string {
  return typeof loss === 'string' ? `${decimalText(loss)} ${valueText(symbol)}`.trimEnd() : ''
}

function amountText({ amount, asset_symbol: symbol, network }: MismatchRow): string {
  return symbol === '' ? '' : `${decimalText(amount)} ${symbol} on ${network}`
}

type LossShown = { loss?: unknown; loss_asset_symbol?: unknown }

/** `act_by` is null if the mismatch has ended. */
export type Advice = Pick<KindEntry, 'means' | 'next'> & { act_by: Date | null }

export function adviceOf({ mismatch }: Pick<MismatchDetail, 'mismatch'>): Advice {
  const { means, next, actWithinHours } = entryOf(mismatch.kind)
  return { means, next, act_by: actBy(mismatch, actWithinHours) }
}

/** The database may hold a kind of an older version. */
export function entryOf(kind: string): Pick<KindEntry, 'means' | 'next'> & { actWithinHours?: number } {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[kind] ?? { means: 'This kind of mismatch is no longer reported.', next: 'Resolve it.' }
}

function actBy(
  { opened_at: openedAt, status }: MismatchDetail['mismatch'],
  withinHours: number | undefined,
): Date | null {
  if (withinHours === undefined || !(openedAt instanceof Date) || !['open', 'snoozed'].includes(status))
    return null
  return new Date(openedAt.getTime() + withinHours * 3_600_000)
}

export function mismatchFacts(
  { mismatch, deposit }: MismatchDetail,
  { means, next, act_by: by, hasSeveralServices }: Advice & ServicesShown,
): Fact[] {
  const said = (name: string) => valueText(mismatch[name])
  const facts = [
    ['about', mismatch.subject],
    ...(hasSeveralServices ? [['service', said('service')]] : []),
    ['deposit', depositText(deposit)],
    ['loss', lossText({ loss: mismatch.loss, loss_asset_symbol: mismatch.loss_asset_symbol })],
    ['open for', said('age')],
    ['act by', valueText(by)],
    ['assigned', said('assigned_to')],
    ['snoozed', said('snoozed_until') || said('snooze_ends_with').replace(/^(?=.)/, 'until ')],
    [
      'resolved',
      mismatch.resolved_at === null
        ? ''
        : `${said('resolved_at')} by ${said('resolved_by')}: ${said('reason')}`,
    ],
    ['cleared', said('cleared_at')],
    ['says', mismatchSentence(mismatch)],
    ['means', means],
    ['next', next],
  ]
  return facts.map(([name = '', text = '']) => ({ name, lines: [text === '' ? '-' : text] }))
}

function depositText(deposit: MismatchDetail['deposit']): string {
  if (deposit === null) return ''
  const { id, state, owner, amount, asset_symbol: symbol, network } = deposit
  const paid = [amount, symbol, network === null ? null : `on ${network}`].filter((part) => part !== null)
  return `${id}: ${state}, ${paid.join(' ')}, for ${owner}`
}

export function historyColumns({
  kind,
  severity,
  assets,
}: MismatchDetail['mismatch']): readonly TableColumn<HistoryLine>[] {
  const stood = (state: HistoryLine['before']) => {
    const { detail, loss_asset: lossAsset } = state ?? {}
    if (typeof detail !== 'object' || detail === null) return objectText(state)
    return mismatchSentence({
      kind,
      detail: detail as Readonly<Record<string, string>>,
      loss_asset: typeof lossAsset === 'string' ? lossAsset : null,
      assets,
    })
  }
  return [
    { title: 'AT', value: ({ at }) => at.toISOString() },
    {
      title: 'WHO',
      value: (line) =>
        [line.actor, line.approved_by, isUnsigned(line, severity) ? 'not signed' : null]
          .filter((one) => one !== null)
          .join(', '),
    },
    { title: 'DID', value: ({ action }) => action.replaceAll('_', ' ') },
    { title: 'WHY', value: ({ text, undoes }) => text ?? (undoes === null ? '' : 'undo') },
    { title: 'FROM', value: ({ before }) => stood(before) },
    { title: 'TO', value: ({ after }) => stood(after) },
  ]
}

export const attachmentColumns: readonly TableColumn<AttachedFile>[] = [
  { title: 'FILE', value: ({ name }) => name },
  { title: 'BYTES', value: ({ bytes }) => bytes.toLocaleString('en'), align: 'right' },
  { title: 'SHA-256', value: ({ sha256 }) => sha256 },
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'BY', value: ({ added_by: by }) => by },
]

const signedActions = new Set(['written_off', 'write_off_withdrawn', 'matched', 'split'])

/** A decision without signatures, by the owner of the database. The policy and depositd itself sign nothing. */
function isUnsigned({ action, actor, decision_id: decision, after }: HistoryLine, severity: string): boolean {
  if (decision !== null || actor === 'policy' || actor === 'depositd') return false
  if (action !== 'resolved') return signedActions.has(action)
  return mayBeLost({ severity, loss: after?.loss ?? null })
}
