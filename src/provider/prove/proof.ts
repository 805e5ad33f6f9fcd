import type { SampleColumn } from '../infer/columns.ts'
import type { FieldDraft } from '../infer/draft-fields.ts'

export type LineProof =
  | { kind: 'proved'; by: string }
  | { kind: 'unsure'; why: string; alternatives: readonly string[] }

/** `path` is that of a line of the profile. */
export type FieldProof = { path: readonly string[]; proof: LineProof }

/** Deposits that have to agree before a field counts as proved. */
export const depositsMin = 3

/** One way to read a field: a column, and the unit or format that its values then have. */
export type FieldCandidate = { column: SampleColumn; draft: FieldDraft; label: string }

export function candidateOf(column: SampleColumn, draft: FieldDraft): FieldCandidate {
  return { column, draft, label: column.path }
}

/** Without a candidate, no column agrees with the facts; `isRefuted` if there were enough of them. */
export type ProvedField = { candidate: FieldCandidate | null; proof: LineProof; isRefuted: boolean }

export type FieldEvidence = {
  /** Path in the draft, if names found one. */
  drafted: string | undefined
  /** Of which a fact is known. */
  deposits: number
  /** Different values among the facts. */
  values: number
  valuesMin?: number
  by: string
  /** If there are no facts. */
  without: string
  /** If facts leave a doubt that no column can remove. */
  doubt?: string | null
}

/** A person can compare so many. */
const alternativesMax = 6

export const unsure = (why: string, alternatives: readonly string[] = []): LineProof => ({
  kind: 'unsure',
  why,
  alternatives: alternatives.slice(0, alternativesMax),
})

/**
 * The field is proved if only one reading agrees with every fact, over enough deposits and values. Of several, the
 * drafted one is kept, and the field is unsure. Too few facts do not overrule the draft.
 */
export function proveField(candidates: readonly FieldCandidate[], evidence: FieldEvidence): ProvedField {
  const { drafted, deposits } = evidence
  const isDecided = deposits >= depositsMin
  const isOpen = isDecided || drafted === undefined
  const same = candidates.find(({ column }) => column.path === drafted)
  const candidate = same ?? (isOpen ? candidates[0] : undefined) ?? null
  const others = candidates.filter((one) => one !== candidate).map(({ label }) => label)
  if (candidate === null && (isDecided || deposits === 0)) return notFound(evidence)
  const doubt = doubtOf(evidence, others.length > 0)
  const proof: LineProof = doubt === null ? { kind: 'proved', by: evidence.by } : unsure(doubt, others)
  return { candidate, proof, isRefuted: false }
}

function notFound({ deposits, without, doubt }: FieldEvidence): ProvedField {
  if (deposits === 0) return { candidate: null, proof: unsure(without), isRefuted: false }
  const proof = unsure(doubt ?? 'no field agrees with the facts')
  return { candidate: null, proof, isRefuted: (doubt ?? null) === null }
}

function doubtOf({ deposits, values, valuesMin = 2, without, doubt }: FieldEvidence, isOpen: boolean) {
  if (deposits === 0) return without
  if (deposits < depositsMin) return `only ${countOf(deposits, 'deposit')} seen; ${depositsMin} are needed`
  if (isOpen) return 'other fields fit as well'
  if (values < valuesMin) return `only ${countOf(values, 'value')} seen; ${valuesMin} are needed`
  return doubt ?? null
}

export function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
