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

function pageOf(records: readonly ListedRecord[], asked: URLSearchParams) {
  const since = asked.get('updated_since') ?? ''
  const limit = Math.min(pageMax, Number(asked.get('limit') ?? pageMax))
  const updated = records.findIndex(({ updated_at: at }) => Date.parse(at) >= (Date.parse(since) || 0))
  const from = asked.has('cursor') ? Number(asked.get('cursor')) : updated < 0 ? records.length : updated
  const next = from + limit < records.length ? String(from + limit) : null
  return { data: records.slice(from, from + limit), next_cursor: next }
}
