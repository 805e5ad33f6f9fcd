import { toTxId } from '../../core/asset.ts'
import { type DecidedDeposit, decide, type LegFacts, type Rules, rulesOf } from '../../core/decide.ts'
import { decideAsOf, isSameDeposit } from '../../core/explaining/decide-as-of.ts'
import { explainAll } from '../../core/explaining/explain.ts'
import { formatAmount } from '../../core/money.ts'
import { rulesInForce } from '../../jobs/books/activate-rules.ts'
import { mismatchText } from '../../presentation/deposit.ts'
import { transferDocument } from '../../presentation/journal.ts'
import { reasonDocument, reasonText } from '../../presentation/reasons.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import { type GroupEvidence, loadEvidence } from '../../store/books/load-evidence.ts'
import { type DepositReport, showDeposits } from '../../store/books/show-deposits.ts'
import type { Database } from '../../store/database.ts'
import { mismatchesAt } from '../../store/mismatches/show-mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { legDocument, mismatchDocument, verdictDocument } from '../documents.ts'
import { noDeposit, onlyOne } from '../options.ts'
import { print, printable } from '../print.ts'
import { indent, journalText, matrixTable, section, showCurrentDeposit } from './deposits.ts'

export async function showDepositCommand(
  context: Context,
  id: string,
  { asOf: at }: { asOf?: Date },
): Promise<void> {
  if (at === undefined) return showCurrentDeposit(context, id)
  const settings = attachedSettings(context)
  const reports = await withDatabase(context, async (db) => {
    const rules = await rulesInForce(db, rulesOf(settings))
    const found = await showDeposits(db, toTxId(id))
    if (found.length === 0) throw noDeposit(id)
    const shown = context.json ? [onlyOne(id, found)] : found
    const names = await readAssetNames(db)
    return Promise.all(
      shown.map(async (one) => ({ report: await depositAsOf(db, one, { rules, at, names }), names })),
    )
  })
  print(context, reports.map(documentOf)[0], printable(reports.map(textOf).join('\n')))
}

type AsOfQuery = { rules: Rules; at: Date; names: AssetNames }

/** Several deposits if they were merged later. */
async function depositAsOf(
  db: Database<Tables>,
  { id, groupId }: DepositReport,
  { rules, at, names }: AsOfQuery,
) {
  const evidence = await loadEvidence(db, groupId)
  const now = evidence && decide(evidence.group, rules, at).deposits.find((one) => one.id === id)
  if (!evidence || !now) throw noDeposit(id.toString())
  const then = decideAsOf(datedGroup(evidence), rules, at).filter((one) => isSameDeposit(one, now))
  const deposits = explainAll(then, evidence.rows, rules)
  const rows = new Set(deposits.flatMap(({ reasons }) => reasons.flatMap((one) => one.evidence)))
  return {
    deposit: id,
    asOf: at,
    knownSince: firstOf(evidence, now, rules),
    deposits: numbered(deposits, evidence, id),
    mismatches: await mismatchesAt(db, [...idsOf(evidence, id)], at),
    journals: journalsAt(evidence, id, { at, names }),
    evidence: evidence.rows
      .filter(({ inboxId }) => rows.has(inboxId))
      .map(({ inboxId, source, storedAt, receivedAt }) => ({ inboxId, source, storedAt, receivedAt })),
  }
}

function datedGroup({ group, rows, deposits, recordedAt, approvals }: GroupEvidence) {
  const never = new Date(Number.NaN)
  const madeAt = new Map(deposits.map(({ id, createdAt }) => [id, createdAt]))
  return {
    observations: rows.map(({ readableAt, ...row }) => ({ ...row, knownAt: readableAt })),
    approvals,
    deposits: group.deposits.map((deposit) => ({ deposit, knownAt: madeAt.get(deposit.id) ?? never })),
    journals: group.journals.map((journal) => ({
      journal,
      knownAt: recordedAt.get(journal.key) ?? never,
    })),
  }
}

/** When the first evidence of today's verdict was stored. */
function firstOf({ rows }: GroupEvidence, now: DecidedDeposit, rules: Rules): Date | null {
  const [explained] = explainAll([now], rows, rules)
  const ids = new Set(explained?.reasons.flatMap((one) => one.evidence))
  const times = rows.filter(({ inboxId }) => ids.has(inboxId)).map(({ readableAt }) => readableAt.getTime())
  return times.length === 0 ? null : new Date(Math.min(...times))
}

/**
 * A merged row lost the identifiers that matched it. If exactly one deposit is without a number, and one was
 * merged, they are the same.
 */
function numbered<Deposit extends { id: bigint | null }>(
  asOf: readonly Deposit[],
  { deposits }: GroupEvidence,
  id: bigint,
): Deposit[] {
  const merged = deposits.filter(({ mergedInto }) => mergedInto === id)
  const isClear = merged.length === 1 && asOf.filter((one) => one.id === null).length === 1
  return asOf.map((one) => (one.id === null && isClear ? { ...one, id: merged[0]?.id ?? null } : one))
}

function idsOf({ deposits }: GroupEvidence, id: bigint): ReadonlySet<bigint> {
  return new Set([id, ...deposits.filter(({ mergedInto }) => mergedInto === id).map((one) => one.id)])
}

function journalsAt(evidence: GroupEvidence, id: bigint, { at, names }: Omit<AsOfQuery, 'rules'>) {
  const ids = idsOf(evidence, id)
  const isThen = (key: string) => {
    const recordedAt = evidence.recordedAt.get(key)
    return recordedAt !== undefined && recordedAt <= at
  }
  return evidence.group.journals
    .filter(({ key, depositId }) => depositId !== null && ids.has(depositId) && isThen(key))
    .map(({ key, eventAt, transfers }) => ({
      posting_key: key,
      event_at: eventAt,
      transfers: transfers.map((one) => transferDocument(one, names)),
    }))
}

type NamedReport = { report: Awaited<ReturnType<typeof depositAsOf>>; names: AssetNames }

function documentOf({ report, names }: NamedReport): object {
  const assets = Object.fromEntries(names)
  return {
    ...report,
    deposits: report.deposits.map(({ id, verdict, payment, delivery, reasons }) => ({
      id,
      verdict: verdictDocument(verdict, { asset: delivery?.asset ?? null, assets }),
      payment: legDocument(payment, assets),
      delivery: legDocument(delivery, assets),
      reasons: reasons.map((one) => reasonDocument(one, assets)),
    })),
    mismatches: report.mismatches.map(mismatchDocument),
  }
}

function textOf({ report, names }: NamedReport): string {
  const { deposit, asOf, knownSince, deposits, mismatches, journals } = report
  const title = `deposit ${deposit} as of ${asOf.toISOString()}`
  if (deposits.length === 0)
    return `${title}: not known yet; its first evidence was stored ${knownSince?.toISOString() ?? 'later'}\n`
  const labels = Object.fromEntries(names)
  const parts = deposits.map(({ id, verdict, payment, delivery, reasons }) =>
    [
      `${title}: ${verdict.state}${id === deposit ? '' : ` (as deposit ${id ?? 'without a stored number'}, merged since)`}\n`,
      `  paid       ${legText(payment, names)}\n`,
      `  delivered  ${legText(delivery, names)}\n\n`,
      indent(matrixTable(verdict.matrix)),
      section(
        'why, by the current settings',
        reasons.map((reason) => reasonText(reason, labels)),
      ),
    ].join(''),
  )
  return [
    ...parts,
    section('mismatches open at that time', mismatches.map(mismatchText)),
    section('journals recorded by then', journals.map(journalText)),
  ].join('')
}

function legText(leg: LegFacts | null, names: AssetNames): string {
  if (leg === null) return '-'
  const known = names.get(leg.asset)
  const asset = known === undefined ? leg.asset : `${known.symbol} on ${known.network}`
  const amount = leg.amount === null ? '-' : formatAmount(leg.amount, known?.decimals ?? 0)
  return `${amount} ${asset} to ${leg.address}`
}
