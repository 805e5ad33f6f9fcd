import type { Fault } from '../../core/errors.ts'
import { bodyProblems, createProblems, httpProblems } from '../../http/problem.ts'

const table = {
  ...httpProblems,
  ...bodyProblems,
  key_missing: [401, 'The X-API-KEY header is missing'],
  key_unknown: [401, 'The API key is unknown or revoked'],
  scope_insufficient: [403, 'The scope of the API key is insufficient'],
  caller_refused: [403, 'This port only accepts requests from its own machine'],
  id_conflict: [409, 'The id is already used'],
  url_taken: [409, 'An endpoint with this URL exists'],
  limit_reached: [409, 'The maximum number is reached'],
  endpoint_inactive: [409, 'The endpoint is disabled or deleted'],
  endpoint_configured: [409, 'The endpoint comes from the settings of the service'],
  state_conflict: [409, 'The status of the deposit does not allow this'],
  sender_unknown: [409, 'The sender is unknown'],
  price_missing: [409, 'The asset has no price'],
  balance_short: [409, 'The balance is too small'],
  fields_contradict: [400, 'Two spellings of one field contradict each other'],
  network_unknown: [400, 'The network is not supported'],
  asset_unknown: [400, 'The asset does not exist on that network'],
  address_invalid: [400, 'The address is not valid on that network'],
  amount_inexact: [400, 'The network cannot pay this amount exactly'],
  url_refused: [400, 'The service does not send webhooks to this address'],
} as const

export type ProblemCode = keyof typeof table

export const problems = createProblems<ProblemCode>(table)
export const { refusal, reply: problemReply, replyTo } = problems

export function notFound(what: string, id: string): Fault<'request_refused'> {
  return refusal('not_found', `${what} ${id} does not exist`)
}
