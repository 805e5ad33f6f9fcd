import { inTransaction } from '../../store/database.ts'
import type { ServiceDatabase, ServiceTransaction } from '../tables.ts'
import type { DeliveryStep } from './decide-delivery.ts'
import { endEndpoint } from './endpoints.ts'
import type { EndpointAnswer } from './post-webhook.ts'
import type { DueDelivery } from './take-due.ts'

export type DeliveryAttemptRecord = {
  answer: EndpointAnswer
  durationMs: number
  step: DeliveryStep
  now: Date
}

/** Ends the entry in the delivery log and moves the delivery on. */
export function saveAttempt(
  db: ServiceDatabase,
  due: DueDelivery,
  attempt: DeliveryAttemptRecord,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await logAnswer(tx, due, attempt)
    const { step } = attempt
    if (step.kind === 'gone') {
      await endEndpoint(tx, due.endpoint_id, { status: 'disabled', disabled_because: 'gone' })
    } else await moveOn(tx, due, { step, now: attempt.now })
  })
}

async function logAnswer(
  tx: ServiceTransaction,
  due: DueDelivery,
  { answer, durationMs }: DeliveryAttemptRecord,
): Promise<void> {
  const answered = answer.kind === 'answered'
  await tx
    .updateTable('service.delivery_attempt')
    .set({
      duration_ms: durationMs,
      status_code: answered ? answer.status : null,
      problem: answered ? null : answer.problem,
      answer: answered && answer.text !== '' ? answer.text : null,
    })
    .where('event_id', '=', due.event_id)
    .where('endpoint_id', '=', due.endpoint_id)
    .where('number', '=', due.attempts)
    .execute()
}

type DatedDeliveryStep = { step: Exclude<DeliveryStep, { kind: 'gone' }>; now: Date }

/**
 * Only as long as the delivery stands as this attempt took it: whoever asked for it again meanwhile, took it after
 * the lease or cancelled it has the last word.
 */
async function moveOn(
  tx: ServiceTransaction,
  due: DueDelivery,
  { step, now }: DatedDeliveryStep,
): Promise<void> {
  if (step.kind === 'retry' && step.restUntil !== null) {
    await tx
      .updateTable('service.webhook_endpoint')
      .set({ resume_at: step.restUntil })
      .where('id', '=', due.endpoint_id)
      .execute()
  }
  await tx
    .updateTable('service.delivery')
    .set(step.kind === 'retry' ? { next_at: step.at } : { status: step.kind, next_at: null, ended_at: now })
    .where('event_id', '=', due.event_id)
    .where('endpoint_id', '=', due.endpoint_id)
    .where('status', '=', 'pending')
    .where('attempts', '=', due.attempts)
    .where('tries', '=', due.tries)
    .execute()
}
