import { setTimeout as sleep } from 'node:timers/promises'
import { eventTypes } from '../../core/event.ts'
import type { Database } from '../../store/database.ts'
import { type FeedEvent, type FeedFilter, readFeed } from '../../store/events.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { printList } from '../lists.ts'
import { badValue, choiceOf } from '../options.ts'
import { AsWritten, printJson, type TableColumn, table } from '../print.ts'
import { untilSignal } from '../process.ts'

type EventOptions = {
  after: number
  limit: number
  type?: string
  service?: string
  owner?: string
  follow?: boolean
}

export async function listEventsCommand(
  context: Context,
  { after: afterNumber, limit, type, service, owner, follow = false }: EventOptions,
): Promise<void> {
  const types = type === undefined ? undefined : [choiceOf('--type', type, eventTypes)]
  const [after, filter] = [BigInt(afterNumber), { limit, types, service, owner }]
  await withDatabase(context, async (db) => {
    await checkFilters(context, db, { service, owner })
    const { events, next, newest } = await readFeed(db, after, filter)
    if (after > newest) throw badValue('--after', `${after}`, `the newest event is ${newest}`)
    if (follow) return followEvents(context, db, { ...filter, after })
    const page = { items: events.map(eventDocument), next: next < newest ? next.toString() : null }
    printList(context, page, { columns, empty: 'no events' })
  })
}

const lookEveryMs = 500

async function followEvents(
  context: Context,
  db: Database<Tables>,
  { after: first, ...filter }: FeedFilter & { after: bigint; limit: number },
): Promise<void> {
  const stopping = new AbortController()
  void untilSignal().then(() => stopping.abort())
  let hasHeader = false
  for (let after = first; !stopping.signal.aborted; ) {
    const { events, next, newest } = await readFeed(db, after, filter)
    const documents = events.map(eventDocument)
    if (context.json) for (const document of documents) printJson(context, document, 0)
    else if (documents.length > 0) {
      const text = table(documents, columns)
      context.stdout.write(hasHeader ? text.slice(text.indexOf('\n') + 1) : text)
      hasHeader = true
    }
    after = next
    if (after === newest) await sleep(lookEveryMs, null, { signal: stopping.signal }).catch(() => null)
  }
}

/** Names in `data` are those of the API. */
function eventDocument({ data, ...event }: FeedEvent) {
  return { ...event, data: new AsWritten(data) }
}

type EventDocument = ReturnType<typeof eventDocument>

const columns: readonly TableColumn<EventDocument>[] = [
  { title: 'NUMBER', value: ({ sequence }) => `${sequence}`, align: 'right' },
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'DEPOSIT', value: ({ depositId }) => `${depositId ?? ''}`, align: 'right' },
  { title: 'SERVICE', value: ({ service }) => service ?? '' },
  { title: 'OWNER', value: ({ owner }) => owner?.id ?? '' },
  { title: 'ABOUT', value: ({ data }) => aboutOf(data.document as FeedEvent['data']) },
]

/** The fields that say most, of each type of event. */
const aboutFields = ['mismatch', 'decision', 'kind', 'period', 'size', 'reason', 'state']

function aboutOf(data: FeedEvent['data']): string {
  return aboutFields
    .flatMap((name) => (typeof data[name] === 'string' ? [`${name} ${data[name]}`] : []))
    .join(', ')
}
