import { columnsOf, hasForm, type SampleColumn, saidAt, timeUnitOf, wordsOf } from '../infer/columns.ts'
import type { Section } from '../infer/find-records.ts'
import type { FoundCall } from './find-calls.ts'
import type { ProofNote } from './find-paging.ts'
import type { Probe } from './probe.ts'

const filterNames = [
  'updated_after',
  'updated_since',
  'updatedAfter',
  'updatedSince',
  'modified_since',
  'changed_since',
  'since',
  'created_after',
  'created_since',
  'createdAfter',
  'from',
  'from_date',
  'date_from',
  'start_time',
  'startTime',
  'after_time',
]

const formats = ['iso', 's', 'ms'] as const
type TimeFormat = (typeof formats)[number]

const future = new Date('2100-01-01T00:00:00Z')
const past = new Date('2001-09-10T00:00:00Z')

/**
 * A parameter counts if it hides all records with a time in the far future, and none with one in the past. Whether it
 * compares creations or updates is decided by a record that was updated after a creation.
 */
export async function findFilter(
  probe: Probe,
  { path, answer }: FoundCall,
): Promise<{ section: Section; note: ProofNote } | null> {
  const records = answer.listing?.records ?? []
  const times = columnsOf(records).filter((column) => hasForm(column, 'time'))
  for (const name of filterNames) {
    for (const as of orderedFormats(times)) {
      const count = async (time: Date) => {
        const filtered = await probe(path, { [name]: textOf(time, as) })
        return filtered === null ? null : (filtered.listing?.records.length ?? 0)
      }
      if ((await count(future)) !== 0 || ((await count(past)) ?? 0) === 0) continue
      const of = await comparedTime(probe, { path, name, as, records })
      const shown = `${name} in the year 2100 hides all records, and in 2001 none`
      const unsure = 'whether it compares creations or updates is unknown: no record shows it'
      return {
        section: { parameter: name, of: of ?? 'created', as },
        note: {
          path: ['list', 'since'],
          isProved: of !== null,
          text: of === null ? `${shown}; ${unsure}` : `${shown}; it compares the time ${of}`,
        },
      }
    }
  }
  return null
}

/** As the service itself writes times, first. */
function orderedFormats(times: readonly SampleColumn[]): TimeFormat[] {
  const unit = times.map(timeUnitOf).find((one) => one !== null)
  const own: TimeFormat = unit === 's' || unit === 'ms' ? unit : 'iso'
  return [own, ...formats.filter((one) => one !== own)]
}

function textOf(time: Date, as: TimeFormat): string {
  const milliseconds = time.getTime()
  return { iso: time.toISOString(), s: `${Math.floor(milliseconds / 1000)}`, ms: `${milliseconds}` }[as]
}

type TriedFilter = { path: string; name: string; as: TimeFormat; records: readonly unknown[] }

/** Between the creation and the update of a record, a filter for updates still returns it. */
async function comparedTime(
  probe: Probe,
  { path, name, as, records }: TriedFilter,
): Promise<'created' | 'updated' | null> {
  const columns = columnsOf(records).filter((column) => hasForm(column, 'time'))
  const at = (words: readonly string[], place: number) => {
    const column = columns.find((one) => wordsOf(one.path).last.some((word) => words.includes(word)))
    const leaf = column?.leaves[place]
    return column === undefined || leaf === null || leaf === undefined ? null : timeOf(column, leaf.text)
  }
  for (const [place, record] of records.entries()) {
    const [created, updated] = [
      at(['created', 'opened', 'creation'], place),
      at(['updated', 'changed', 'modified'], place),
    ]
    if (created === null || updated === null || updated - created < 2000) continue
    const between = new Date(updated - 1000)
    const filtered = await probe(path, { [name]: textOf(between, as) })
    const texts = (filtered?.listing?.records ?? []).map((one) => identityOf(one))
    return texts.includes(identityOf(record)) ? 'updated' : 'created'
  }
  return null
}

function timeOf(column: SampleColumn, text: string): number {
  const unit = timeUnitOf(column)
  if (unit === 's') return Number(text) * 1000
  return unit === 'ms' ? Number(text) : Date.parse(unit === 'utc' ? `${text.replace(' ', 'T')}Z` : text)
}

/** Transactions stay the same when a record changes. */
function identityOf(record: unknown): string {
  const columns = columnsOf([record])
  const kept = columns.filter(
    (column) => hasForm(column, 'transaction') || wordsOf(column.path).last.includes('id'),
  )
  return kept
    .flatMap(saidAt)
    .map(({ text }) => text)
    .join(' ')
}
