import type { TableColumn } from './text.ts'

/** Where events are sent to, as far as lists show it. */
export type EventEndpointRow = {
  name: string
  url: string
  payload: string
  /** Null for all. */
  types: readonly string[] | null
  services: readonly string[] | null
  owners: readonly string[] | null
  state: string
  reason: keyof typeof pauseReasons | null
  paused_at: Date | null
  delivered: bigint
  behind: bigint
  waiting: number
  failures: number
  failing_since: Date | null
}

export const endpointColumns: TableColumn<EventEndpointRow>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'URL', value: ({ url }) => url },
  { title: 'STATE', value: endpointState },
  { title: 'DELIVERED', value: ({ delivered }) => `${delivered}`, align: 'right' },
  { title: 'BEHIND', value: ({ behind }) => `${behind}`, align: 'right' },
  { title: 'WAITING', value: ({ waiting }) => `${waiting}`, align: 'right' },
  {
    title: 'FAILURES',
    value: ({ failures, failing_since: since }) =>
      since === null ? '0' : `${failures} since ${since.toISOString()}`,
  },
  { title: 'PAYLOAD', value: ({ payload }) => payload },
  { title: 'TYPES', value: ({ types }) => allOr(types) },
  { title: 'SERVICES', value: ({ services }) => allOr(services) },
  { title: 'OWNERS', value: ({ owners }) => allOr(owners) },
]

export const pauseReasons = {
  requested: 'by an administrator',
  undelivered: 'an event was not delivered for three days',
  gone: 'it answered 410',
} as const

/** `paused since 2026-11-20T08:00:00.000Z: it answered 410`. */
function endpointState({
  state,
  reason,
  paused_at: since,
}: Pick<EventEndpointRow, 'state' | 'reason' | 'paused_at'>): string {
  if (since === null || reason === null) return state
  return `${state} since ${since.toISOString()}: ${pauseReasons[reason]}`
}

function allOr(words: readonly string[] | null): string {
  return words?.join(', ') ?? 'all'
}

/** Null without an event: a test. */
export type EventAttemptRow = {
  at: Date
  type: string | null
  sequence: bigint | null
  depositId: bigint | null
  status: number | null
  problem: string | null
  durationMs: number
}

export const attemptColumns: TableColumn<EventAttemptRow>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'EVENT', value: ({ type }) => type ?? 'endpoint.test' },
  { title: 'SEQUENCE', value: ({ sequence }) => `${sequence ?? ''}`, align: 'right' },
  { title: 'DEPOSIT', value: ({ depositId }) => `${depositId ?? ''}`, align: 'right' },
  { title: 'STATUS', value: ({ status }) => `${status ?? ''}`, align: 'right' },
  { title: 'PROBLEM', value: attemptProblem },
  { title: 'MS', value: ({ durationMs }) => `${durationMs}`, align: 'right' },
]

/** Empty after success. */
function attemptProblem({ status, problem }: EventAttemptRow): string {
  if (problem !== null) return problem.replaceAll('_', ' ')
  return status !== null && status >= 200 && status < 300 ? '' : 'refused'
}

/** The status, or why there is none. */
export function attemptResult({ status, problem }: Pick<EventAttemptRow, 'status' | 'problem'>): string {
  return problem ?? `${status}`
}
