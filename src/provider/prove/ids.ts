import { hasForm, isEnumerable, isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { textDraft } from '../infer/draft-fields.ts'
import { candidateOf, countOf, type FieldEvidence, type ProvedField, proveField, unsure } from './proof.ts'
import { columnsFor, keyOf, type SampleTable } from './sample-table.ts'

/**
 * The id of a deposit: one per payment, and one payment per id, in webhooks and records alike. A short number is
 * never proved to be one, since others can guess it.
 */
export function proveId(
  table: SampleTable,
  { drafted, isOther }: { drafted: string | undefined; isOther: (column: SampleColumn) => boolean },
): ProvedField {
  const { transfers, deposits, without } = table.legs.deposit
  const keys = transfers.map((transfer) => (transfer === null ? null : keyOf(transfer)))
  const addresses = new Set(transfers.map((transfer) => transfer?.to))
  const known = deposits === 0 ? [] : columnsFor(table, 'id').filter((column) => !isOther(column))
  return proveIdAmong(
    known.filter((column) => isIdForm(column) && correspond(column, keys)),
    {
      drafted,
      deposits,
      values: deposits,
      by: `one for each of ${countOf(deposits, 'payment')} on the chain, in every sample of it`,
      without,
      isVaried: deposits >= variedMin && addresses.size < deposits,
    },
  )
}

/** Deposits, of which some went to the same address, so that nothing of an owner can fit by chance. */
const variedMin = 6

type IdEvidence = FieldEvidence & { isVaried: boolean }

/**
 * A number is only taken, and never proved, if no text fits.
 * @param isVaried if false, a text may fit by chance, and the number be the id
 */
function proveIdAmong(columns: readonly SampleColumn[], { isVaried, ...evidence }: IdEvidence): ProvedField {
  const [numbers, texts] = [columns.filter(isEnumerable), columns.filter((one) => !isEnumerable(one))]
  const isNumber = numbers.some(({ path }) => path === evidence.drafted)
  const candidates = (isVaried && texts.length > 0 ? texts : [...texts, ...numbers]).map((column) =>
    candidateOf(column, textDraft(column, 'required')),
  )
  const isDigits = texts.some((column) => saidAt(column).every(({ text }) => /^\d+$/.test(text)))
  const found = proveField(candidates, {
    ...evidence,
    doubt: isDigits ? 'only digits: it may be an amount' : null,
    drafted: isNumber && texts.length > 0 ? undefined : evidence.drafted,
  })
  if (found.candidate === null || texts.length > 0) return found
  const others = candidates.map(({ label }) => label).filter((label) => label !== found.candidate?.label)
  return { ...found, proof: unsure('a short number, which others can guess: is there another id?', others) }
}

function isIdForm(column: SampleColumn): boolean {
  const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
  const isFraction = column.leaves.some((leaf) => /^\d+\.\d+$/.test(leaf?.text ?? ''))
  return !isOther && !isFraction && hasForm(column, 'token') && column.leaves.every(isSaid)
}

function correspond({ leaves }: SampleColumn, keys: readonly (string | null)[]): boolean {
  const [keyOfId, idOfKey] = [new Map<string, string>(), new Map<string, string>()]
  return keys.every((key, place) => {
    const id = leaves[place]?.text
    if (key === null || id === undefined) return true
    const [knownKey, knownId] = [keyOfId.get(id) ?? key, idOfKey.get(key) ?? id]
    keyOfId.set(id, knownKey)
    idOfKey.set(key, knownId)
    return knownKey === key && knownId === id
  })
}

/** The id of an event: another one for each webhook of another content. */
export function proveEventId(
  payloads: readonly unknown[],
  outside: readonly SampleColumn[],
  drafted: string | undefined,
): ProvedField {
  const bodies = payloads.map((payload) => JSON.stringify(payload))
  const fitting = outside.filter((column) => isIdForm(column) && correspond(column, bodies))
  const events = new Set(bodies).size
  return proveIdAmong(fitting, {
    drafted,
    deposits: events,
    values: events,
    by: `another one for each of ${countOf(events, 'webhook')}`,
    without: 'no webhook was seen',
    isVaried: false,
  })
}
