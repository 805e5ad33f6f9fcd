import type { RawService } from '../../test/support/raw-service.ts'
import { startRawService } from '../../test/support/raw-service.ts'

/** The service's API with what it has settled by now, oldest first. */
export type ListedService = RawService & { settle: (record: ListedRecord) => void }

export type ListedRecord = { id: string; updated_at: string }

const pageMax = 100

/** Lists records as the project's own service does, and tells each alone. */
export async function startListedService(): Promise<ListedService> {
  const records: ListedRecord[] = []
  const byId = new Map<string, ListedRecord>()
  const service = await startRawService(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://service')
    const id = /deposits\/([^/]+)$/.exec(pathname)?.[1]
    const body = id === undefined ? pageOf(records, searchParams) : byId.get(id)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { code: 'not_found' }))
  })
  const settle = (record: ListedRecord) => {
    records.push(record)
    byId.set(record.id, record)
  }
  return { url: service.url, settle, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

/** It answers beside whoever sends, in one process: what it takes to find a page must not grow with what is listed. */
function pageOf(records: readonly ListedRecord[], asked: URLSearchParams) {
  const limit = Math.min(pageMax, Number(asked.get('limit') ?? pageMax))
  const cursor = asked.get('cursor')
  const from = cursor === null ? firstSince(records, asked.get('updated_since') ?? '') : Number(cursor)
  const next = from + limit < records.length ? String(from + limit) : null
  return { data: records.slice(from, from + limit), next_cursor: next }
}

/** Their times are all of one form, in which the order of texts is that of times. */
function firstSince(records: readonly ListedRecord[], since: string): number {
  let [from, to] = [0, records.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((records[middle]?.updated_at ?? '') < since) from = middle + 1
    else to = middle
  }
  return from
}
