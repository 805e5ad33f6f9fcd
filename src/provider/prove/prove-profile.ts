import { type SampleColumn, saidAt } from '../infer/columns.ts'
import { textDraft } from '../infer/draft-fields.ts'
import type { Section } from '../infer/find-records.ts'
import type { Hints } from '../infer/hints.ts'
import type { ProfileDraft, Samples } from '../infer/infer-profile.ts'
import type { LegSide } from '../infer/rules.ts'
import { feeField } from './amounts.ts'
import { assetProofs, type LegColumn, networkProofs } from './dictionaries.ts'
import type { ProofFacts } from './facts.ts'
import { proveId } from './ids.ts'
import { legFields, refundField } from './legs.ts'
import { missingSamples } from './missing-samples.ts'
import { proveOwnerId, proveOwnerKind, proveOwnerWords } from './owners.ts'
import { inItems, withPayouts } from './payouts.ts'
import { ProfileLines } from './profile-lines.ts'
import { type FieldProof, type ProvedField, proveField } from './proof.ts'
import { type SampleTable, tableOf, tableOfLeg } from './sample-table.ts'
import { proveCreatedAt, proveOccurredAt, type TimeContext } from './times.ts'
import { proveList, proveWebhook, type RecordColumns } from './webhook-lines.ts'
import { proveStatus, proveStatusWords } from './words.ts'

/** Every line of the profile has a proof, or the reason why it is unsure. */
export type ProvedProfile = {
  profile: Section
  proofs: readonly FieldProof[]
  /** What other samples would prove. */
  missing: readonly string[]
}

/**
 * Reads the samples again by what the chains and the address book show. If these contradict the draft, they win.
 * Names of fields, their order and nesting prove nothing.
 */
export function proveProfile(
  { draft, payloads, answers, items }: Samples & { draft: ProfileDraft },
  facts: ProofFacts,
): ProvedProfile {
  const path = new ProfileLines(draft).pathOf(['webhook', 'record']) ?? ''
  const table = withPayouts(tableOf({ payloads, answers }, path, facts), facts)
  const { payouts } = table
  const samples: ProofSamples = {
    draft: payouts === undefined ? draft : { ...draft, profile: inItems(draft.profile, payouts.list) },
    payloads,
    answers,
    ...(items !== undefined && { items }),
    path,
    table,
  }
  let lines = proveLines(samples, facts)
  for (
    let taken = lines.provedColumns();
    taken.size > samples.table.taken.size;
    taken = lines.provedColumns()
  ) {
    samples.table = { ...table, taken }
    lines = proveLines(samples, facts)
  }
  const result = lines.result()
  return { ...result, missing: missingSamples({ payloads, answers, table, facts }, result.profile) }
}

type ProofSamples = Samples & { draft: ProfileDraft; path: string; table: SampleTable }

function proveLines(
  { draft, payloads, answers, items, path, table }: ProofSamples,
  facts: ProofFacts,
): ProfileLines {
  const lines = new ProfileLines(draft)
  const column = columnFinder(table)
  const amounts = proveLegs(lines, table, facts)
  proveRefund(lines, table)
  const idPath = ['record', 'id']
  const settled = proveId(table, {
    drafted: lines.pathOf(idPath),
    isOther: (one) => amounts.has(one.path),
  })
  const found = column(lines.settle(idPath, settled, true))
  // What is unsure proves nothing else.
  const id = lines.isProved(idPath) ? found : undefined
  const status = proveStatusLines(lines, table, id)
  const times = proveTimes(lines, { table, id, status })
  proveOwner(lines, table, facts)
  proveDictionaries(lines, table, facts)
  const columns: RecordColumns = { id, ...times }
  proveWebhook(lines, { payloads, items, table, path }, columns)
  proveList(lines, { answers, table }, columns)
  return lines
}

function columnFinder({ columns }: SampleTable): (path: string | undefined) => SampleColumn | undefined {
  return (path) => columns.find((column) => column.path === path)
}

const needed: Record<LegSide, readonly string[]> = {
  deposit: ['address', 'asset', 'amount'],
  settlement: ['address', 'asset'],
}

/** Paths of columns that are amounts of a leg. */
function proveLegs(lines: ProfileLines, table: SampleTable, facts: ProofFacts): ReadonlySet<string> {
  const amounts = new Set<string>()
  const sides = (['deposit', 'settlement'] as const).filter(
    (side) => lines.at(['record', side]) !== undefined || table.legs[side].columns.length > 0,
  )
  for (const side of sides) {
    const path = ['record', side]
    for (const { name, candidates, evidence } of legFields(side, table, facts.hints)) {
      const found = proveField(candidates, { ...evidence, drafted: lines.pathOf([...path, name]) })
      lines.settle([...path, name], found, needed[side].includes(name))
      if (name === 'amount') candidates.forEach(({ column }) => amounts.add(column.path))
    }
  }
  if (lines.at(['record', 'settlement']) === undefined) return amounts
  const path = ['record', 'settlement', 'fee']
  const { candidates, evidence } = feeField(table, facts.hints)
  lines.settle(path, proveField(candidates, { ...evidence, drafted: lines.pathOf(path) }))
  return amounts
}

function proveRefund(lines: ProfileLines, table: SampleTable): void {
  const path = ['record', 'refund', 'transaction']
  const { candidates, evidence } = refundField(table)
  lines.settle(path, proveField(candidates, { ...evidence, drafted: lines.pathOf(path) }))
  if (lines.at(path) === undefined) lines.drop(['record', 'refund'])
}

function proveStatusLines(
  lines: ProfileLines,
  table: SampleTable,
  id: SampleColumn | undefined,
): SampleColumn | undefined {
  const path = ['record', 'status']
  const drafted = lines.pathOf(path)
  const { candidate, proof } = proveStatus(table, id, drafted)
  const column = candidate?.column ?? columnFinder(table)(drafted)
  if (column === undefined) {
    lines.prove([...path, 'paths'], proof)
    return undefined
  }
  const { words, proofs } = proveStatusWords(table, column, id)
  const draft = candidate?.draft ?? textDraft(column, 'required')
  lines.settleWords(path, draft, { proof, words, proofs })
  return proof.kind === 'proved' ? column : undefined
}

type TimeColumns = Omit<RecordColumns, 'id'>

function proveTimes(
  lines: ProfileLines,
  {
    table,
    id,
    status,
  }: { table: SampleTable; id: SampleColumn | undefined; status: SampleColumn | undefined },
): TimeColumns {
  const column = columnFinder(table)
  const settled = (name: string, prove: (context: TimeContext) => ProvedField) => {
    const path = ['record', name]
    const found = column(lines.settle(path, prove({ table, id, status, drafted: lines.pathOf(path) })))
    return lines.isProved(path) ? found : undefined
  }
  const occurredAt = settled('occurredAt', proveOccurredAt)
  const createdAt = settled('createdAt', (context) => proveCreatedAt(context, occurredAt))
  return { occurredAt, createdAt }
}

/** If the address book refutes the drafted owner, it names the owners itself. */
function proveOwner(lines: ProfileLines, table: SampleTable, { hints }: ProofFacts): void {
  const path = ['record', 'owner']
  const column = columnFinder(table)
  const found = proveOwnerId(table, hints, lines.pathOf([...path, 'id']))
  const id = found.candidate?.column ?? column(lines.pathOf([...path, 'id']))
  const isKnown = !found.isRefuted && id !== undefined
  if (!isKnown || !proveOwnerLine(lines, { table, id, hints })) return lines.drop(path)
  lines.settle([...path, 'id'], found, true)
}

type OwnerColumn = { table: SampleTable; id: SampleColumn; hints: Hints }

/** False if no field says what kind of owner it is. */
function proveOwnerLine(lines: ProfileLines, { table, id, hints }: OwnerColumn): boolean {
  const path = ['record', 'owner', 'kind']
  const only = saidAt(id).every(({ text }) => hints.owners.has(text)) ? onlyKind(hints) : null
  if (only !== null) {
    const by = `all ${hints.owners.size} owners of the address book are of this kind`
    lines.put(path, { otherwise: only }, { kind: 'proved', by })
    return true
  }
  const { candidate, proof, isRefuted } = proveOwnerKind(table, id, { hints, drafted: lines.pathOf(path) })
  const column = columnFinder(table)
  const kind = candidate?.column ?? column(lines.pathOf(path))
  if (isRefuted || kind === undefined) return false
  const network = column(lines.pathOf(['record', 'settlement', 'network']))
  const words = proveOwnerWords(kind, id, { hints, network })
  lines.settleWords(path, candidate?.draft ?? textDraft(kind, 'required'), { proof, ...words })
  return true
}

function onlyKind({ owners }: Hints): string | null {
  const [kind, other] = new Set(owners.values())
  return kind === undefined || other !== undefined ? null : kind
}

function proveDictionaries(lines: ProfileLines, records: SampleTable, { hints }: ProofFacts): void {
  const legColumns = (name: string, isWanted: (draft: unknown) => boolean): LegColumn[] =>
    (['deposit', 'settlement'] as const).flatMap((side) => {
      const path = ['record', side, name]
      const table = tableOfLeg(side, records)
      const column = isWanted(lines.at(path)) ? columnFinder(table)(lines.pathOf(path)) : undefined
      return column === undefined ? [] : [{ side, table, column, isProved: lines.isProved(path) }]
    })
  lines.drop(['networks'])
  for (const { word, meaning, proof } of networkProofs(
    legColumns('network', () => true),
    hints,
  ))
    lines.put(['networks', word], meaning, proof)
  for (const { word, meaning, proof } of assetProofs(legColumns('asset', isBySymbol), hints))
    lines.put(['assets', word], meaning, proof)
}

function isBySymbol(draft: unknown): boolean {
  return typeof draft === 'object' && draft !== null && 'as' in draft && draft.as === 'symbol'
}
