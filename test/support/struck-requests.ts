import type { RequestKnob } from '../../src/service/faults/fault-table.ts'
import type { World } from './world.ts'

export type Answer = { status: number | 'none'; ids: string[]; isLast: boolean }

/** How each error that strikes requests shows in an answer; `all` are the deposits in their order. */
export const shows: Record<RequestKnob, (answer: Answer, all: string[]) => boolean> = {
  refuseCallRate: ({ status }) => status === 429,
  failCallRate: ({ status }) => status === 500,
  stallCallRate: ({ status }) => status === 'none',
  reorderRecordsRate: ({ ids }, all) =>
    ids.some((id, place) => all.indexOf(id) > all.indexOf(ids[place + 1] ?? id)),
  driftPageRate: ({ status, isLast }) => status === 200 && !isLast,
}

/** One page of the list of deposits. */
export async function askForDeposits({ settings }: World): Promise<Answer> {
  const { url, auth } = settings.services[0]
  try {
    const response = await fetch(`${url}/v1/proxies/deposits?limit=100`, {
      headers: auth.headers,
      signal: AbortSignal.timeout(1000),
    })
    const page = (await response.json()) as { data?: { id: string }[]; next_cursor?: string | null }
    const ids = (page.data ?? []).map(({ id }) => id)
    return { status: response.status, ids, isLast: page.next_cursor === null }
  } catch {
    return { status: 'none', ids: [], isLast: true }
  }
}

/** The sum of a metric of the daemon over all lines that have these labels first. */
export async function metric({ daemon }: World, name: string, label: string): Promise<number> {
  const text = await (await fetch(`${daemon.opsUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{${label}}`))
  return lines.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)
}
