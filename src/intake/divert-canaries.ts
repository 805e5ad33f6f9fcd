import { canaryToken } from '../core/canary.ts'
import type { InboxOutcome, InboxWriter, ReceivedWebhook } from './inbox-writer.ts'

/** Stores what was taken in, and says what it was. */
export type Write = (row: ReceivedWebhook) => Promise<InboxOutcome | 'overloaded' | 'canary'>

/**
 * Keeps webhooks that this program sent to itself out of the inbox: they are no evidence of anything but the way here.
 * Only one whose token was given out is one; whatever else has that form goes where all webhooks go.
 * @param receive notes the token. False where it is none of ours; may throw, as storing may
 */
export function divertCanaries(
  write: InboxWriter['write'],
  receive: (token: string) => Promise<boolean>,
): Write {
  return async (row) => {
    const token = canaryToken(row.body)
    return token !== null && (await receive(token)) ? 'canary' : write(row)
  }
}
