import type { Fault } from '../core/errors.ts'
import { bodyProblems, createProblems, httpProblems } from '../http/problem.ts'

const table = {
  ...httpProblems,
  ...bodyProblems,
  token_missing: [401, 'The token is missing'],
  token_unknown: [401, 'The token is unknown or revoked'],
  scope_insufficient: [403, 'The token lacks the scope'],
  token_limited: [403, 'The token is limited to some services or owners'],
  evidence_unavailable: [409, 'The evidence cannot be made into a bundle here'],
  proof_pending: [409, 'No checkpoint covers the journal yet', 'waits'],
  seal_broken: [409, 'The journal differs from what was sealed'],
  case_refused: [409, 'The mismatch does not accept this'],
  signature_needed: [409, 'People must sign this'],
  idempotency_key_reused: [422, 'The Idempotency-Key is of another call'],
  unavailable: [503, 'The database does not answer in time', 'waits'],
} as const

export type ReadProblemCode = keyof typeof table

export const problems = createProblems<ReadProblemCode>(table)
export const { refusal } = problems

export function notFound(what: string, id: string | bigint): Fault<'request_refused'> {
  return refusal(
    'not_found',
    `${what} ${String(id).slice(0, 200)} does not exist, or the token may not see it`,
  )
}
