import type { Transaction } from 'kysely'
import { z } from 'zod'
import { isFault } from '../core/errors.ts'
import { timeText } from '../http/read-request.ts'
import { workOnce } from '../store/api-tokens.ts'
import type { Visible } from '../store/books/list-deposits.ts'
import {
  type CaseAction,
  lossesOf,
  readCaseEvent,
  type SnoozeEnd,
  workOnCases,
} from '../store/mismatches/cases.ts'
import { listMismatches } from '../store/mismatches/show-mismatches.ts'
import type { Tables } from '../store/tables.ts'
import { notFound, refusal } from './problem.ts'
import { defineRoute, type ReadApi } from './route.ts'
import { caseAct, caseText, numberedPath, wordText } from './schemas.ts'

const refusals = ['not_found', 'case_refused', 'idempotency_key_reused'] as const

const commentBody = z.strictObject({ text: caseText })

export type CommentBody = z.input<typeof commentBody>

const commentRoute = defineRoute({
  method: 'post',
  path: '/v1/mismatches/{id}/comments',
  scope: 'write_cases',
  summary: 'Comment on a mismatch',
  description: 'Also on one that is resolved or cleared. `@name` mentions a person of the register.',
  parameters: numberedPath,
  body: commentBody,
  status: 201,
  answer: caseAct,
  refusals,
  run: (api, { parameters: { id }, body: { text } }) => {
    const wanted = { action: 'commented', text } as const
    return actOnce(api, { id, wanted }, async (tx) => ({
      ...wanted,
      mentions: await api.mentionsIn(tx, text),
    }))
  },
})

const assignBody = z.strictObject({ to: wordText.nullable() })

export type AssignBody = z.input<typeof assignBody>

const assignRoute = defineRoute({
  method: 'post',
  path: '/v1/mismatches/{id}/assign',
  scope: 'write_cases',
  summary: 'Assign a mismatch',
  description: 'To a person of the register. Null removes the assignment.',
  parameters: numberedPath,
  body: assignBody,
  status: 201,
  answer: caseAct,
  refusals,
  run: (api, { parameters: { id }, body: { to } }) =>
    actOnce(api, { id, wanted: { action: 'assigned', to } }, async (tx) => {
      const person = to === null ? null : await api.personNamed(tx, to)
      if (to === null || person !== null) return { action: 'assigned', to: person }
      throw invalid('/to', `${to} is not in the register of people`)
    }),
})

const snoozeBody = z.strictObject({ until: z.enum(['changed', 'loss_grows']).or(timeText).nullable() })

export type SnoozeBody = z.input<typeof snoozeBody>

const snoozeRoute = defineRoute({
  method: 'post',
  path: '/v1/mismatches/{id}/snooze',
  scope: 'write_cases',
  summary: 'Snooze a mismatch',
  description:
    'Until a time, until its evidence has `changed`, or until its `loss_grows`. Null ends the snooze.',
  parameters: numberedPath,
  body: snoozeBody,
  status: 201,
  answer: caseAct,
  refusals,
  run: (api, { parameters: { id }, body }) => {
    const until = snoozeOf(body.until)
    const wanted = { action: 'snoozed', until } as const
    return actOnce(api, { id, wanted }, async () => {
      if (!(until instanceof Date) || until > new Date()) return wanted
      throw invalid('/until', 'is not a future time')
    })
  },
})

function snoozeOf(until: string | null): Date | SnoozeEnd | null {
  if (until === 'changed') return 'new evidence'
  if (until === 'loss_grows') return 'a larger loss'
  return until === null ? null : new Date(until)
}

const resolveBody = z.strictObject({ reason: caseText })

export type ResolveBody = z.input<typeof resolveBody>

const resolveRoute = defineRoute({
  method: 'post',
  path: '/v1/mismatches/{id}/resolve',
  scope: 'write_cases',
  summary: 'Resolve a mismatch',
  description:
    'Nothing is left to do. Refused if it may be a loss: people sign that, and a token signs nothing.',
  parameters: numberedPath,
  body: resolveBody,
  status: 201,
  answer: caseAct,
  refusals: [...refusals, 'signature_needed'],
  run: (api, { parameters: { id }, body: { reason: text } }) => {
    const wanted = { action: 'resolved', text } as const
    return actOnce(api, { id, wanted }, async (tx) => {
      const losses = await lossesOf(tx, [BigInt(id)])
      if (losses.length === 0) return wanted
      throw refusal(
        'signature_needed',
        `mismatch ${id} may be a loss, so that people sign its resolution: use "bin/depositd mismatches resolve ${id} --reason TEXT", or the form of the mismatch in the console`,
      )
    })
  },
})

type TokenAction = Exclude<CaseAction, { action: 'reopened' }>

type ActionCheck = (tx: Transaction<Tables>) => Promise<TokenAction>

/**
 * @param wanted as the caller sent it, so that a repeated call is known as such
 * @param check gives what is done
 */
function actOnce(
  api: ReadApi,
  { id, wanted }: { id: string; wanted: TokenAction },
  check: ActionCheck,
): Promise<z.output<typeof caseAct>> {
  const { token, idempotencyKey: key } = api
  return api.write(async (tx) => {
    const work = async () => {
      await refuseUnseen(tx, id, token)
      const act = { ...(await check(tx)), actor: `token:${token.name}` }
      return workOnCases(tx, [BigInt(id)], act).catch(explainCase)
    }
    const call = JSON.stringify([id, wanted])
    const event = key === null ? await work() : await workOnce(tx, { token: token.id, key, call }, work)
    if (event === null)
      throw refusal('idempotency_key_reused', 'this Idempotency-Key was sent with another call')
    const { at, actor, text } = await readCaseEvent(tx, event)
    const links = { mismatch: `/v1/mismatches/${id}` }
    return {
      id: event.toString(),
      mismatch_id: id,
      at: at.toISOString(),
      actor,
      action: wanted.action,
      text,
      links,
    }
  })
}

async function refuseUnseen(
  tx: Transaction<Tables>,
  id: string,
  { services, owners }: Visible,
): Promise<void> {
  const filter = { ids: [BigInt(id)], services, owners, also: 'all', limit: 1 } as const
  const [seen] = await listMismatches(tx, filter)
  if (seen === undefined) throw notFound('mismatch', id)
}

function explainCase(error: unknown): never {
  if (!isFault(error, 'usage_bad')) throw error
  throw refusal('case_refused', `${error.details.problem}; ${error.details.fix}`)
}

function invalid(pointer: string, detail: string) {
  return refusal('request_invalid', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
}

export const caseRoutes = [commentRoute, assignRoute, snoozeRoute, resolveRoute]
