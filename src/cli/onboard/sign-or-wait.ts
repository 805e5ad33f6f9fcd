import { findWaiting, requestDecision } from '../../jobs/people/decide.ts'
import type { JsonValue } from '../../people/decision.ts'
import type { DecisionKind } from '../../people/roles.ts'
import { wrongUse } from '../options.ts'
import { ownSigner, withDecisions } from '../people/signing.ts'
import type { Session } from './session.ts'

/** @throws Fault `usage_bad` if a second person has to sign */
export async function signOrWait(
  { context }: Session,
  request: { kind: DecisionKind; change: JsonValue },
): Promise<void> {
  const signer = ownSigner(context)
  const waiting = await withDecisions(context, async (deps) => {
    const requested = await findWaiting(deps, request)
    if (requested !== null) return requested
    const { id, content } = await requestDecision(deps, request, signer)
    return content.people === 1 ? null : id
  })
  if (waiting === null) return
  throw wrongUse(
    `decision ${waiting} waits for a second person`,
    `let them run "bin/depositd decisions approve ${waiting}", and run this command again`,
  )
}
